"""Chooses a theme, and shows each while it is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from recall.ui.screens.prompts import Hint, move


class ChooseTheme(ModalScreen[str]):
    """Gives the name that was chosen. Escape gives None, and the theme is as before."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Leave", id="themes.leave"),
        Binding("j", "move(1)", show=False, id="themes.next"),
        Binding("k", "move(-1)", show=False, id="themes.previous"),
    ]

    def __init__(self, names: Sequence[str], current: str) -> None:
        super().__init__()
        self._names = list(names)
        self._before = current

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Content("Theme"))
            yield OptionList(*(Option(Content(name), id=name) for name in self._names))
            yield Hint("enter keeps it · esc leaves")

    def on_mount(self) -> None:
        options = self.query_one(OptionList)
        options.highlighted = self._names.index(self._before) if self._before in self._names else 0
        options.focus()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        self._show(event.option.id or self._before)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id)

    def action_move(self, by: int) -> None:
        move(self.query_one(OptionList), by)

    def action_leave(self) -> None:
        self._show(self._before)
        self.dismiss(None)

    def _show(self, name: str) -> None:
        app: App[Any] = self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - Textual leaves the app's type open
        if app.theme != name:
            app.theme = name
