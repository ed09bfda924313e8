"""Acts on this process and its screen."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from textual.message import Message

from recall.engine.trust import confirm_commands, to_confirm
from recall.ui.acts.kind import OwnAct
from recall.ui.bridge import Done, Unconfirmed
from recall.ui.context import Context
from recall.ui.front import Front
from recall.ui.screens.main import MainScreen
from recall.ui.screens.prompts import Confirm
from recall.ui.screens.themes import ChooseTheme
from recall.ui.wishes import ACTOR
from recall_styles import THEMES


def _trust(front: Front, _: Context) -> None:
    session = front.session

    def look() -> Message:
        verifies = session.store.verifies()
        commands = to_confirm(session.settings, session.store, verifies)
        return Unconfirmed(commands, verifies) if commands else Done("every command is confirmed already")

    front.ask(look)


def ask_to_confirm(front: Front, commands: Sequence[tuple[str, str]], verifies: Collection[str]) -> None:
    """Show the commands that would be confirmed; a yes holds for what was shown."""
    session = front.session

    def confirm() -> str:
        confirm_commands(session.settings, session.store, actor=ACTOR, verifies=verifies)
        return "the commands are confirmed"

    def answered(yes: bool | None) -> None:
        if yes:
            front.wish(confirm)

    front.over(Confirm("Let Recall run these commands?", [f"{name}: {text}" for name, text in commands]), answered)


def _take_over(front: Front, _: Context) -> None:
    if front.host.hosting:
        front.say("this screen is the dispatcher already", "warning")
    front.host.start()


def _theme(front: Front, _: Context) -> None:
    app, ours = front.app, [theme.name for theme in THEMES]

    def chosen(name: str | None) -> None:
        if name:
            front.theme = name
            front.main.post_message(MainScreen.LayoutChanged())

    front.over(ChooseTheme([*ours, *sorted(set(app.available_themes) - set(ours))], app.theme), chosen)


def _palette(front: Front, _: Context) -> None:
    front.app.action_command_palette()


def _quit(front: Front, _: Context) -> None:
    front.leaving.begin()


ACTS: dict[str, OwnAct] = {
    "trust": _trust,
    "engine": _take_over,
    "theme": _theme,
    "palette": _palette,
    "quit": _quit,
}
