"""The application: wiring only. What it shows comes from the bridge, what it does are commands."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, ClassVar

from textual import on
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.notifications import SeverityLevel
from textual.screen import Screen

from recall.config.document import read_document
from recall.config.explain import explain_settings
from recall.domain.run import Refused, RunState
from recall.domain.task import TaskRef
from recall.domain.text import clean
from recall.engine import interventions
from recall.engine.dispatcher import Stopping
from recall.engine.resolve import Resolver
from recall.engine.trust import confirm_commands
from recall.ui.bridge import Done, EngineHost, EngineSaid, Left, Met, Observed, Shown, Watcher
from recall.ui.commands import ACTOR, BY_ID, COMMANDS, Command, Context
from recall.ui.diffs import diff_of_run
from recall.ui.errands import Errands
from recall.ui.external import editor, end_process, run_outside
from recall.ui.layout import load_layout, save_layout
from recall.ui.ledger import Ledger
from recall.ui.screens.conflict import ConflictScreen
from recall.ui.screens.main import MainScreen
from recall.ui.screens.prompts import Ask, Choose, Confirm
from recall.ui.screens.reader import Reader
from recall.ui.session import Session
from recall.ui.texts import agents_text, history_text, keys_text, settings_text, task_text
from recall.ui.workbench import resolve
from recall_styles import CSS_PATHS, THEMES, variable_defaults

_ALL = 1_000_000
_PATIENCE = 2.0
_LEAVE, _FINISH, _STOP = (
    "leave them working; the next start adopts them",
    "finish: nothing new, what runs lands, then quit",
    "stop them; their work is kept",
)


class RecallApp(App[int]):
    """Owns a watcher and, if it can, the engine. `session` is everything that it is handed; `leave_working` offers
    to leave agents at work, for the next start to adopt."""

    CSS_PATH = CSS_PATHS  # pyright: ignore[reportAssignmentType] - Textual takes any list of paths
    TITLE = "Recall"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "command('quit')", "Quit", show=False, priority=True, id="app.quit"),
        Binding("ctrl+c", "command('quit')", "Quit", show=False, id="app.interrupt"),
    ]

    def __init__(self, session: Session, *, host: bool = True, leave_working: bool = True) -> None:
        super().__init__()
        self.session = session
        layout = load_layout(session.state)
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = layout.theme if layout.theme in self.available_themes else THEMES[0].name
        self.set_class(session.symbols.plain, "-ascii")
        self._hosts = host
        self._leave_working = leave_working
        self.main = MainScreen(session, layout)
        log = session.state / "ui.log"
        self.host = EngineHost(self, session.start, session.open_engine, log)
        ledger = Ledger(session.store, session.settings, session.clock, session.name)
        self._watcher = Watcher(self, ledger, session.store, session.clock, session.dispatcher_runs)
        self._wishes = Errands(self, "wishes", log)
        self._questions = Errands(self, "questions", log)
        self._stopping = Stopping.NO
        self._going = False

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return variable_defaults(self.current_theme)

    def on_mount(self) -> None:
        self.push_screen(self.main)
        self._watcher.start()
        if self._hosts:
            self.host.start()
        else:
            self.main.say_mode("viewing")

    # -- from other threads ------------------------------------------------------------------------------------

    def on_observed(self, message: Observed) -> None:
        self.main.show(message.seen)

    def on_engine_said(self, message: EngineSaid) -> None:
        if message.mode:
            self.main.say_mode(message.mode)
        if message.mode == "stopped" and self._stopping is not Stopping.NO:
            self.leave_now()
        elif message.text:
            self.say(message.text, "information" if message.mode == "viewing" else "error")

    def on_done(self, message: Done) -> None:
        self.say(message.text, "warning" if message.refused else "information")

    def on_shown(self, message: Shown) -> None:
        self._read(message.title, message.text)

    def on_left(self) -> None:
        self._watcher.stop()
        self.exit(0)

    def say(self, text: str, severity: SeverityLevel = "information") -> None:
        """Show a passing notice; the text may come from anywhere."""
        self.notify(clean(text), severity=severity, markup=False)

    # -- commands ----------------------------------------------------------------------------------------------

    def action_command(self, id_: str) -> None:
        context = self.main.context()
        if context is None:
            if id_ == "quit":
                self._quit()
            return
        command = BY_ID[id_]
        reason = command.unavailable(context)
        if reason:
            self.say(reason, "warning")
        elif command.confirm:
            question = command.confirm.format(task=context.task.ref if context.task else "")
            self.push_screen(Confirm(question), lambda yes: self._carry_out(command, context) if yes else None)
        else:
            self._carry_out(command, context)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The palette offers every command; one that makes no sense now says why."""
        context = self.main.context()
        for command in COMMANDS:
            reason = command.unavailable(context) if context is not None else ""
            run = partial(self.call_later, self.main.action_command, command.id)
            yield SystemCommand(command.title, reason or f"{command.help} ({command.key_name})", run)

    def _carry_out(self, command: Command, context: Context) -> None:
        act = command.act
        if act is not None:
            self._wish(lambda: act(self.session.store, context), command.title)
            return
        own: dict[str, Callable[[Context], None]] = {
            "open": self._open,
            "log": self._log,
            "diff": self._diff,
            "answer": self._answer,
            "history": self._history,
            "agents": self._agents,
            "settings": self._settings,
            "shell": self._shell,
            "edit": self._edit,
            "trust": self._trust,
            "engine": lambda _: self.host.start(),
            "theme": lambda _: self._next_theme(),
            "help": lambda _: self._read("Keys", keys_text()),
            "quit": lambda _: self._quit(),
            "conflict": self._conflict,
            "send-back": lambda context: self._settle(_ref_of(context), lambda desk, ref: desk.send_back(ref)),
            "start-over": lambda context: self._settle(_ref_of(context), lambda desk, ref: desk.restart(ref)),
        }
        own[command.id](context)

    def _wish(self, act: Callable[[], Refused | None], title: str) -> None:
        """Have one transaction done: another process may hold the store for seconds."""

        def done() -> Done:
            refused = act()
            return Done(refused.reason, refused=True) if refused is not None else Done(f"{title}: done")

        self._wishes.send(done)

    def _settle(self, ref: TaskRef, way: Callable[[Resolver, TaskRef], str | Refused]) -> None:
        def done() -> Done:
            said = way(self.session.desk(ACTOR), ref)
            return Done(said.reason, refused=True) if isinstance(said, Refused) else Done(said)

        self._wishes.send(done)

    def _read(self, title: str, text: str) -> None:
        self.push_screen(Reader(title, text.encode("utf-8", "replace"), self.session.symbols))

    def _open(self, context: Context) -> None:
        task = context.task
        if task is None:
            self.say("select a task first", "warning")
            return
        store, overview = self.session.store, context.overview

        def read() -> Shown:
            events = [event for event in store.events_since(0, _ALL) if (event.region, event.task) == task.ref]
            return Shown(str(task.ref), task_text(task, overview, store.runs(task.ref), events))

        self._questions.send(read)

    def _history(self, context: Context) -> None:
        store, now = self.session.store, context.overview.now
        self._questions.send(lambda: Shown("History", history_text(store.events_since(0, _ALL), now)))

    def _agents(self, context: Context) -> None:
        store, overview = self.session.store, context.overview
        self._questions.send(lambda: Shown("Agents", agents_text(overview, store.runs())))

    def _settings(self, _: Context) -> None:
        settings = self.session.settings

        def read() -> Shown:
            explained = list(explain_settings(settings, read_document(settings.file)))
            return Shown(f"Settings of {settings.file}", settings_text(explained))

        self._questions.send(read)

    def _log(self, _: Context) -> None:
        self.main.action_pane(3)

    def _diff(self, context: Context) -> None:
        run = context.run
        if run is None or run.base is None:
            self.say("this run has no workspace to compare", "warning")
            return
        location, base, branch = self.session.location, run.base, run.branch or ""
        title = f"{run.ref}: what run {run.id} changed"
        self._questions.send(lambda: Shown(title, diff_of_run(location, run.id, base, branch)))

    def _answer(self, context: Context) -> None:
        ref = _ref_of(context)

        def answered(text: str | None) -> None:
            if text:
                self._wish(lambda: interventions.answer(self.session.store, ref, text, actor=ACTOR), "answer")

        self.push_screen(Ask(f"{ref} {context.task.reason if context.task else ''}"), answered)

    def _conflict(self, context: Context) -> None:
        ref = _ref_of(context)

        def look() -> Message:
            view = self.session.desk(ACTOR).look(ref)
            return Done(view.reason, refused=True) if isinstance(view, Refused) else Met(view)

        self._questions.send(look)

    def on_met(self, message: Met) -> None:
        self.push_screen(ConflictScreen(message.view, self.session.clock.now().wall, self.session.symbols))

    @on(ConflictScreen.Resolve)
    def _resolve(self, message: ConflictScreen.Resolve) -> None:
        ways: dict[str, Callable[[Resolver, TaskRef], str | Refused]] = {
            "accept": lambda desk, _: resolve(desk, message.bench),
            "send back": lambda desk, ref: desk.send_back(ref),
            "restart": lambda desk, ref: desk.restart(ref),
            "give up": lambda desk, ref: desk.give_up(ref),
        }
        self._settle(message.bench.view.task.ref, ways[message.way])

    def _shell(self, context: Context) -> None:
        run = context.run
        if run is not None and run.slot is not None:
            folder = self.session.workspaces / run.slot / "tree"
            run_outside(self, [os.environ.get("SHELL", "/bin/sh")], folder)

    def _edit(self, _: Context) -> None:
        checkout = self.session.location.checkout
        if checkout is None:
            self.say("a bare repository has no task list to edit", "warning")
            return
        run_outside(self, [*editor(), self.session.settings.tasks[0].path], checkout)

    def _trust(self, _: Context) -> None:
        session = self.session
        self._wish(lambda: confirm_commands(session.settings, session.store, actor=ACTOR), "commands confirmed")

    def _next_theme(self) -> None:
        names = [theme.name for theme in THEMES] + sorted(set(self.available_themes) - {one.name for one in THEMES})
        self.theme = names[(names.index(self.theme) + 1) % len(names)] if self.theme in names else names[0]
        self._keep_layout()

    @on(MainScreen.LayoutChanged)
    def _keep_layout(self) -> None:
        layout, state = self.main.layout_now(self.theme), self.session.state
        self._wishes.send(lambda: save_layout(state, layout))

    # -- leaving -----------------------------------------------------------------------------------------------

    def _quit(self) -> None:
        working = {RunState.PREPARING, RunState.RUNNING, RunState.ENDED}
        context = self.main.context()
        runs = [run for run in context.overview.runs if run.state in working] if context is not None else []
        if not self.host.hosting or not runs:
            self._leave(Stopping.DRAIN)
            return
        names = ", ".join(f"{run.ref} ({run.agent})" for run in runs)
        ways: dict[str, Callable[[], None]] = {_LEAVE: self.leave_now} if self._leave_working else {}
        ways[_FINISH] = lambda: self._leave(Stopping.DRAIN)
        ways[_STOP] = lambda: self._leave(Stopping.HALT)

        def chosen(number: int | None) -> None:
            if number is not None and number >= 0:
                list(ways.values())[number]()

        self.push_screen(Choose(f"Still at work: {names}", list(ways)), chosen)

    def _leave(self, stopping: Stopping) -> None:
        """Ask the engine to stop; its end, posted by its thread, ends the app. Asked for no more than before, leave
        at once."""
        if not self.host.hosting or stopping <= self._stopping:
            self.leave_now()
            return
        self._stopping = stopping
        self.main.say_mode("draining")
        self.host.request(stopping)

    def leave_now(self) -> None:
        """Leave as soon as every wish is carried out; asked again, without waiting for them."""
        if self._going:
            self.on_left()
            return
        self._going = True
        self._wishes.send(Left)

    def threads_are_over(self, patience: float = _PATIENCE) -> bool:
        """Once the screen is gone: wait for the threads that use the session's store, so many seconds each."""
        threads = (self._watcher, self._wishes, self._questions)
        for each in threads:
            each.stop()
        return all(each.is_over(patience) for each in threads)


def _ref_of(context: Context) -> TaskRef:
    if context.task is None:
        raise LookupError("a command for a task was run without one")
    return context.task.ref


def run_app(session: Session, *, leave_working: bool = True) -> int:
    """Show the screen until the person leaves; gives the exit code. Where an engine was left working, or something
    hangs, the process ends here: such threads would keep it, and whatever they do may be cut off at any moment."""
    app = RecallApp(session, leave_working=leave_working)
    code = app.run() or 0
    if not app.threads_are_over() or app.host.hosting:
        end_process(code)
    return code
