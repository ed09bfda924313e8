"""The application: wiring only. What it shows comes from the bridge; `wishes` and `acts` carry commands out.

What is laid over the main screen is imported behind its first painting, and by the functions that use it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from textual import events, on
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.message import Message
from textual.notifications import SeverityLevel
from textual.screen import Screen

from recall.domain.signals import SignalKind
from recall.ui.absence import greeting
from recall.ui.bridge import Called, Done, EngineSaid, Found, Met, NoTasks, Observed, Unconfirmed, Watcher
from recall.ui.commands import BY_ID, COMMANDS, Command
from recall.ui.context import Context
from recall.ui.external import end_process
from recall.ui.front import Front
from recall.ui.garbage import leave_alone
from recall.ui.layout import load_layout, save_layout
from recall.ui.leaving import named
from recall.ui.ledger import Ledger, Seen
from recall.ui.screens.detail import DetailScreen, OpenRun, OpenTask
from recall.ui.screens.main import MainScreen
from recall.ui.session import Session
from recall.ui.signals import leave_on_signals
from recall.ui.terminal import kept_terminal
from recall_styles import CSS_PATHS, THEMES, variable_defaults

_PATIENCE = 2.0
_MOST_EVENTS = 100_000
_CRASHED = """
recall-tui: the screen failed, as written above. Nothing is lost: agents at work go on, and the next start of
recall-tui or recall-tui --no-ui adopts them.
"""
_GOES_ON = "still at work: {runs}\nthe next start of recall-tui adopts them; `recall status` shows where they are\n"


class RecallApp(App[int]):
    """Owns a watcher and, if it can, the engine. `session` is everything that it is handed; `leave_working` offers
    to leave agents at work, for the next start to adopt; `when_shown` is called when the tasks are there."""

    CSS_PATH = CSS_PATHS  # pyright: ignore[reportAssignmentType] - Textual takes any list of paths
    TITLE = "Recall"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "command('quit')", "Quit", show=False, priority=True, id="app.quit"),
        Binding("ctrl+c", "command('quit')", "Quit", show=False, id="app.interrupt"),
    ]

    def __init__(
        self,
        session: Session,
        *,
        host: bool = True,
        leave_working: bool = True,
        when_shown: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__()
        self.session = session
        layout = load_layout(session.state)
        for theme in THEMES:
            self.register_theme(theme)
        self.set_keymap(session.keys.by_binding())
        names = (layout.theme, session.settings.ui.theme, THEMES[0].name)
        self._put_on(next(name for name in names if name in self.available_themes))
        self.set_class(session.symbols.plain, "-ascii")
        self._hosts = host
        self._when_shown = when_shown
        self._error_stands_until = 0.0
        self.main = MainScreen(session, layout)
        self.front = Front(self, session, self.main, leave_working=leave_working)
        self.front.theme = layout.theme
        self.host = self.front.host
        ledger = Ledger(session.store, session.settings, session.clock, session.name, session.shortage)
        self._watcher = Watcher(self, ledger, session.store, session.clock, session.dispatcher_runs)

    def _put_on(self, theme: str) -> None:
        """What setting the theme does, before any sheet is read: set later, all of them would be read twice."""
        self.set_reactive(App.theme, theme)
        dark = self.current_theme.dark
        for name, holds in ((f"-theme-{theme}", True), ("-dark-mode", dark), ("-light-mode", not dark)):
            self.set_class(holds, name, update=False)
        self._refresh_truecolor_filter(self.ansi_theme)
        self.stylesheet.set_variables(self.get_css_variables())

    def get_driver_class(self) -> type[Driver]:
        from textual.drivers.linux_driver import LinuxDriver

        from recall.ui.keyboard import PromptDriver

        usual = super().get_driver_class()
        return PromptDriver if usual is LinuxDriver else usual

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return variable_defaults(self.current_theme)

    def get_default_screen(self) -> Screen[Any]:
        """Not a blank one first, with the main one pushed on it: that would be laid out and styled as well."""
        return self.main

    def on_mount(self) -> None:
        if clashes := self.session.keys.clashes:
            self.front.say("\n".join(clashes), "warning")
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        """Read and import once the frame is painted: it would have to wait for that."""
        self._watcher.start()
        if self._hosts:
            self.host.start()
        else:
            self.main.say_mode("viewing")
        self.front.questions.send(_import_acts)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Show a notice in place of the one before: answers to a few keys would cover what they are about. An error
        keeps its time."""
        now = self.session.clock.now().mono
        if now >= self._error_stands_until:
            self.clear_notifications()
        if severity == "error":
            self._error_stands_until = now + (self.NOTIFICATION_TIMEOUT if timeout is None else timeout)
        super().notify(message, title=title, severity=severity, timeout=timeout, markup=markup)

    # -- from other threads ------------------------------------------------------------------------------------

    def on_observed(self, message: Observed) -> None:
        if self.return_value is not None:
            return  # the person leaves: the screens are being taken apart
        if self.front.seen is None:
            self.call_after_refresh(self._when_shown)
            self._guide(message.seen)
        self.front.seen = message.seen
        self.main.show(message.seen)
        if self.screen is not self.main:
            self._show_above(message.seen)

    def _guide(self, seen: Seen) -> None:
        """Lead to a first task instead of showing an empty board."""
        checkout = self.session.location.checkout
        if not seen.overview.tasks and checkout is not None:
            self.front.questions.send(lambda: _look_for_tasks(self.session, checkout))

    def on_no_tasks(self, message: NoTasks) -> None:
        from recall.ui.screens.set_up import FirstListScreen

        session, checkout = self.session, self.session.location.checkout
        if checkout is not None and self.screen is self.main and not _has_tasks(self.front.seen):
            self.push_screen(FirstListScreen(checkout, message.name, [], session.symbols), self._list_was_seen)

    def _list_was_seen(self, _: bool | None) -> None:
        """What was written there counts also where no dispatcher reads it."""
        from recall.ui.lists import reread

        session, checkout = self.session, self.session.location.checkout
        if checkout is not None and (checkout / session.settings.tasks[0].path).is_file():
            self.front.wishes.send(lambda: reread(session, checkout, session.settings.tasks[0]))

    def _show_above(self, seen: Seen) -> None:
        """Bring what lies over the main screen in line with the store."""
        from recall.ui.acts.conflicts import heed

        heed(self.screen_stack, seen)
        for screen in self.screen_stack:
            if isinstance(screen, DetailScreen) and screen.is_mounted:
                screen.see(seen)

    def on_engine_said(self, message: EngineSaid) -> None:
        if message.mode:
            self.main.say_mode(message.mode, message.text if message.mode == "stopped" else "")
        if message.mode == "stopped" and self.front.leaving.asked:
            self.front.leaving.now()
        elif message.text:
            self.front.say(message.text, "information" if message.mode == "viewing" else "error")

    def on_called(self, message: Called) -> None:
        """What needs the person, and who is at a limit, stands on the screen already; the bell was rung for it."""
        signal = message.signal
        if signal.kind in (SignalKind.NEEDS_YOU, SignalKind.LIMIT):
            return
        self.front.say(f"{signal.title}: {signal.text}" if signal.text else signal.title, "warning")

    def on_rang(self) -> None:
        self.bell()

    def on_done(self, message: Done) -> None:
        self.front.say(message.text, "warning" if message.refused else "information")

    def on_found(self, message: Found) -> None:
        from recall.ui.acts.reading import show_run

        show_run(self.front, message.run, message.pane)

    def on_met(self, message: Met) -> None:
        from recall.ui.acts.conflicts import open_workbench

        open_workbench(self.front, message.view)

    def on_unconfirmed(self, message: Unconfirmed) -> None:
        from recall.ui.acts.screen import ask_to_confirm

        ask_to_confirm(self.front, message.commands, message.verifies)

    def on_left(self) -> None:
        self._watcher.stop()
        self.exit(self.front.leaving.code)

    # -- from screens ------------------------------------------------------------------------------------------

    @on(OpenTask)
    def _open_task(self, message: OpenTask) -> None:
        from recall.ui.acts.reading import open_task

        open_task(self.front, message.ref)

    @on(OpenRun)
    def _open_run(self, message: OpenRun) -> None:
        from recall.ui.acts.reading import open_run

        open_run(self.front, message.run_id, message.pane)

    @on(MainScreen.LayoutChanged)
    def _keep_layout(self) -> None:
        layout, state = self.main.layout_now(self.front.theme), self.session.state
        self.front.wishes.send(lambda: save_layout(state, layout))

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, (events.Key, events.MouseDown)) and not event.is_forwarded:
            self._note_presence()
        await super().on_event(event)

    def _note_presence(self) -> None:
        """Say what happened to somebody who was away for long."""
        seen, store = self.front.seen, self.session.store
        if seen is None:
            return
        away = self.front.absence.touched(self.session.clock.now().wall, seen.seq)
        if away is None:
            return
        key = self.session.keys.name("report")

        def look() -> Message | None:
            said = greeting(away, store.events_since(away.seq, _MOST_EVENTS), key)
            return Done(said) if said else None

        self.front.ask(look)

    # -- commands ----------------------------------------------------------------------------------------------

    def action_command(self, id_: str) -> None:
        context = self._selected()
        if context is None:
            if id_ == "quit":
                self.front.leaving.begin()
            return
        command = BY_ID[id_]
        reason = command.unavailable(context)
        if reason:
            self.front.say(reason, "warning")
        elif question := command.confirm(context):
            from recall.ui.screens.prompts import Confirm

            self.front.over(Confirm(question), lambda yes: self._carry_out(command, context) if yes else None)
        else:
            self._carry_out(command, context)

    def _selected(self) -> Context | None:
        """What commands act on: what the topmost screen is about, else what is selected on the main one."""
        shown = next((screen for screen in reversed(self.screen_stack) if isinstance(screen, DetailScreen)), None)
        return shown.context() if shown is not None else self.main.context()

    def _carry_out(self, command: Command, context: Context) -> None:
        act = command.act
        if act is not None:
            self.front.wish(lambda: act(self.session.store, context))
        else:
            from recall.ui.acts import ACTS

            ACTS[command.id](self.front, context)

    def action_command_palette(self) -> None:
        """Textual's own, with words that every terminal can draw."""
        from textual.command import CommandPalette

        if not isinstance(self.screen, CommandPalette):
            self.push_screen(CommandPalette(placeholder="Search for commands", id="--command-palette"))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The palette offers every command; one that makes no sense now says why instead of what it does."""
        context, act = self._selected(), screen.action_command if isinstance(screen, DetailScreen) else None
        for command in COMMANDS:
            reason = command.unavailable(context) if context is not None else ""
            words = f"{self.session.keys.name(command.id)}  {reason or command.help}"
            yield SystemCommand(
                command.title, words, partial(self.call_later, act or self.main.action_command, command.id)
            )

    # -- the end -----------------------------------------------------------------------------------------------

    def threads_are_over(self, patience: float = _PATIENCE) -> bool:
        """Once the screen is gone: wait for the threads that use the session's store, so many seconds for all."""
        threads = (self._watcher, self.front.wishes, self.front.questions)
        for each in threads:
            each.stop()
        deadline = time.monotonic() + patience
        return all(each.is_over(max(0.0, deadline - time.monotonic())) for each in threads)


def _has_tasks(seen: Seen | None) -> bool:
    return seen is not None and bool(seen.overview.tasks)


def _look_for_tasks(session: Session, checkout: Path) -> Message | None:
    from recall.ui.lists import look_for_tasks

    return look_for_tasks(session, checkout)


def _import_acts() -> None:
    """Have at hand what the first keys need."""
    import_module("recall.ui.acts")


async def _run(app: RecallApp) -> int | None:
    leave_on_signals(app.front.leaving.told)
    return await app.run_async()


def run_app(session: Session, *, host: bool = True, leave_working: bool = True) -> int:
    """Show the screen until the person leaves; gives the exit code. Without `host` nobody dispatches here before the
    person takes that over. Where an engine was left working, or something
    hangs, the process ends here: such threads would keep it, and whatever they do may be cut off at any moment."""
    app = RecallApp(session, host=host, leave_working=leave_working, when_shown=leave_alone)
    with kept_terminal():
        left = asyncio.run(_run(app))
    code = app.return_code or 0 if left is None else left
    if left is None:
        sys.stderr.write(_CRASHED)
    elif app.host.hosting and (runs := app.front.leaving.at_work()):
        with contextlib.suppress(OSError):  # the terminal may be what was closed
            os.write(1, _GOES_ON.format(runs=named(runs)).encode())
    if not app.threads_are_over() or app.host.hosting:
        end_process(code)
    return code
