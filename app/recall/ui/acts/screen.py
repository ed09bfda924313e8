"""Acts on this process and its screen."""

from __future__ import annotations

from recall.engine.trust import confirm_commands
from recall.ui.acts.kind import OwnAct
from recall.ui.context import Context
from recall.ui.front import Front
from recall.ui.screens.main import MainScreen
from recall.ui.screens.themes import ChooseTheme
from recall.ui.wishes import ACTOR
from recall_styles import THEMES


def _trust(front: Front, _: Context) -> None:
    session = front.session
    front.wish(lambda: confirm_commands(session.settings, session.store, actor=ACTOR), "commands confirmed")


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
