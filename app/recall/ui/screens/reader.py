"""A full screen of text: a run's log, a diff, a task with everything known of it, the keys."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static

from recall.domain.text import clean_line
from recall_widgets.glyphs import UNICODE, Symbols
from recall_widgets.log_view import LogView


class _Piece(NamedTuple):
    start: int
    data: bytes


class Reader(Screen[None]):
    """Shows one text from its beginning."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Back", id="reader.leave"),
        Binding("slash", "search", "Search", id="reader.search"),
    ]

    def __init__(self, title: str, data: bytes, symbols: Symbols = UNICODE) -> None:
        super().__init__()
        self._heading = clean_line(title)
        self._data = data
        self._symbols = symbols

    def compose(self) -> ComposeResult:
        yield Static(Content(self._heading), id="heading")
        yield LogView(symbols=self._symbols, id="text", classes="pane")
        needle = Input(placeholder="search", id="needle")
        needle.display = False
        yield needle
        yield Static(Content("/ search · n next · N previous · escape back"), classes="hint")

    def on_mount(self) -> None:
        view = self.query_one(LogView)
        view.show(lambda offset, limit: _Piece(offset, self._data[offset : offset + limit]), len(self._data))
        view.action_first()
        view.focus()

    def action_search(self) -> None:
        needle = self.query_one("#needle", Input)
        needle.display = True
        needle.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.input.display = False
        view = self.query_one(LogView)
        view.search(event.value)
        view.focus()

    def action_leave(self) -> None:
        self.dismiss()
