"""The application: wiring only. What it shows comes from the bridge, what it does are commands."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable
from typing import ClassVar

from textual import work
from textual.app import App
from textual.binding import Binding, BindingType

from recall.domain.errors import RecallError
from recall.domain.run import Refused, RunState
from recall.engine import interventions
from recall.engine.dispatcher import Stopping
from recall.engine.trust import confirm_commands
from recall.ui.bridge import Done, EngineHost, EngineSaid, Observed, Shown, Watcher
from recall.ui.commands import ACTOR, BY_ID, Command, Context
from recall.ui.external import run_outside
from recall.ui.screens.main import MainScreen
from recall.ui.screens.prompts import Ask, Choose, Confirm
from recall.ui.screens.reader import Reader
from recall.ui.session import Session
from recall.ui.texts import keys_text, task_text
from recall_styles import CSS_PATHS, THEMES, VARIABLE_DEFAULTS

_REFERENCE = re.compile(r"\$([a-z-]+)")
_QUIT_WAYS = (
    "leave them working; the next start adopts them",
    "finish: nothing new, what runs lands, then quit",
    "stop them; their work is kept",
)


class RecallApp(App[int]):
    """Owns a watcher and, if it can, the engine. `session` is everything that it is handed."""

    CSS_PATH = CSS_PATHS  # pyright: ignore[reportAssignmentType] - Textual takes any list of paths
    TITLE = "Recall"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "command('quit')", "Quit", show=False, priority=True, id="app.quit"),
        Binding("ctrl+c", "command('quit')", "Quit", show=False, id="app.interrupt"),
    ]

    def __init__(self, session: Session, *, host: bool = True) -> None:
        super().__init__()
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = THEMES[0].name
        self.session = session
        self._hosts = host
        self.main = MainScreen(session)
        self.host = EngineHost(self, session.start, session.open_engine, session.state / "engine.log")
        self._watcher = Watcher(
            self, session.store, session.settings, session.clock, session.name, session.dispatcher_runs
        )
        self._leaving = False

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return dict(VARIABLE_DEFAULTS)

    def get_css_variables(self) -> dict[str, str]:
        """Our tokens name Textual's own variables where a theme is not ours; a sheet needs their values."""
        variables = super().get_css_variables()

        def value_of(text: str) -> str:
            return _REFERENCE.sub(lambda found: variables.get(found[1], ""), text)

        return {name: value_of(text) for name, text in variables.items()}

    def on_mount(self) -> None:
        self.push_screen(self.main)
        self._watcher.start()
        if self._hosts:
            self.host.start()
        else:
            self.main.say_mode("viewing")

    # -- from other threads ------------------------------------------------------------------------------------

    def on_observed(self, message: Observed) -> None:
        self.main.show(message.overview)

    def on_engine_said(self, message: EngineSaid) -> None:
        if message.mode:
            self.main.say_mode(message.mode)
        if message.mode == "stopped" and self._leaving:
            self.leave_now()
        elif message.text:
            self.notify(message.text, severity="information" if message.mode == "viewing" else "error", markup=False)

    def on_done(self, message: Done) -> None:
        self.notify(message.text, severity="warning" if message.refused else "information", markup=False)

    # -- commands ----------------------------------------------------------------------------------------------

    def action_command(self, id_: str) -> None:
        context = self.main.context()
        if context is None:
            return
        command = BY_ID[id_]
        reason = command.unavailable(context)
        if reason:
            self.notify(reason, severity="warning", markup=False)
        elif command.confirm:
            question = command.confirm.format(task=context.task.ref if context.task else "")
            self.push_screen(Confirm(question), lambda yes: self._carry_out(command, context) if yes else None)
        else:
            self._carry_out(command, context)

    def _carry_out(self, command: Command, context: Context) -> None:
        act = command.act
        if act is not None:
            self._in_store(lambda: act(self.session.store, context), command.title)
            return
        own: dict[str, Callable[[Context], None]] = {
            "open": self._open,
            "log": self._log,
            "diff": self._diff,
            "answer": self._answer,
            "shell": self._shell,
            "edit": self._edit,
            "trust": self._trust,
            "engine": lambda _: self.host.start(),
            "theme": lambda _: self._next_theme(),
            "help": lambda _: self._read("Keys", keys_text()),
            "quit": lambda _: self._quit(),
            "conflict": self._conflict,
        }
        own[command.id](context)

    @work(thread=True)
    def _in_store(self, act: Callable[[], Refused | None], title: str) -> None:
        """One transaction away from the screen's thread: another process may hold the store for seconds."""
        try:
            refused = act()
        except RecallError as trouble:
            self.post_message(Done(str(trouble), refused=True))
            return
        if refused is not None:
            self.post_message(Done(refused.reason, refused=True))
        else:
            self.post_message(Done(f"{title}: done"))

    def _read(self, title: str, text: str) -> None:
        self.push_screen(Reader(title, text.encode("utf-8", "replace")))

    def _open(self, context: Context) -> None:
        task = context.task
        if task is None:
            self.notify("select a task first", severity="warning", markup=False)
            return
        store = self.session.store
        events = [event for event in store.events_since(0, 1_000_000) if (event.region, event.task) == task.ref]
        self._read(str(task.ref), task_text(task, context.overview, store.runs(task.ref), events))

    def _log(self, context: Context) -> None:
        self.main.query_one("#log").focus()
        self.main.action_pane(3)

    def _diff(self, context: Context) -> None:
        run = context.run
        if run is None or run.base is None:
            self.notify("this run has no workspace to compare", severity="warning", markup=False)
            return
        self._show_diff(run.id, run.base, run.branch or "", str(run.ref))

    @work(thread=True)
    def _show_diff(self, run_id: int, base: str, branch: str, title: str) -> None:
        from recall.ui.diffs import diff_of_run

        text = diff_of_run(self.session.location, run_id, base, branch)
        self.post_message(Shown(f"{title}: what run {run_id} changed", text))

    def on_shown(self, message: Shown) -> None:
        self._read(message.title, message.text)

    def _answer(self, context: Context) -> None:
        task = context.task
        if task is None:
            return

        def answered(text: str | None) -> None:
            if text:
                self._in_store(
                    lambda: interventions.answer(self.session.store, task.ref, text, actor=ACTOR), "answer"
                )

        self.push_screen(Ask(f"{task.ref} {task.reason}"), answered)

    def _conflict(self, context: Context) -> None:
        if context.task is not None:
            ref = context.task.ref
            self.notify(f"`recall resolve {ref}` shows and settles this conflict", markup=False)

    def _shell(self, context: Context) -> None:
        run = context.run
        if run is not None and run.slot is not None:
            folder = self.session.workspaces / run.slot / "tree"
            run_outside(self, [os.environ.get("SHELL", "/bin/sh")], folder)

    def _edit(self, _: Context) -> None:
        checkout = self.session.location.checkout
        if checkout is None:
            self.notify("a bare repository has no task list to edit", severity="warning", markup=False)
            return
        editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
        run_outside(self, [*editor, self.session.settings.tasks[0].path], checkout)

    def _trust(self, _: Context) -> None:
        session = self.session

        def confirm() -> None:
            confirm_commands(session.settings, session.store, actor=ACTOR)

        self._in_store(confirm, "commands confirmed")

    def _next_theme(self) -> None:
        names = [theme.name for theme in THEMES] + sorted(set(self.available_themes) - {one.name for one in THEMES})
        self.theme = names[(names.index(self.theme) + 1) % len(names)] if self.theme in names else names[0]

    # -- leaving -----------------------------------------------------------------------------------------------

    def _quit(self) -> None:
        working = {RunState.PREPARING, RunState.RUNNING, RunState.ENDED}
        context = self.main.context()
        runs = [run for run in context.overview.runs if run.state in working] if context is not None else []
        if not self.host.hosting or not runs:
            self._leave(Stopping.DRAIN)
            return
        names = ", ".join(f"{run.ref} ({run.agent})" for run in runs)
        self.push_screen(Choose(f"Still at work: {names}", _QUIT_WAYS), self._quit_chosen)

    def _quit_chosen(self, way: int | None) -> None:
        if way == 0:
            self.leave_now()
        elif way == 1:
            self._leave(Stopping.DRAIN)
        elif way == 2:
            self._leave(Stopping.HALT)

    def _leave(self, stopping: Stopping) -> None:
        """Ask the engine to stop; its end, posted by its thread, ends the app. Asked twice, leave at once."""
        if not self.host.hosting or self._leaving:
            self.leave_now()
            return
        self._leaving = True
        self.main.say_mode("draining")
        self.host.request(stopping)

    def leave_now(self) -> None:
        self._watcher.stop()
        self.exit(0)


def run_app(session: Session) -> int:
    """Show the screen until the person leaves; gives the exit code."""
    return RecallApp(session).run() or 0
