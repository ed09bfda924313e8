"""Tabs over a pane that has the screen to itself: which one it is, and the keys of the others."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.message import Message

from recall_widgets.glyphs import UNICODE, Symbols
from recall_widgets.one_line import OneLine
from recall_widgets.spans import Line, Span, fit, shown

_GAP = 3


class PaneTabs(OneLine[tuple[int, tuple[str, ...]]]):
    """One of the tabs is the chosen one; a click asks for another."""

    class Chosen(Message):
        """A tab was clicked."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, tabs: Sequence[str], *, symbols: Symbols = UNICODE, id: str | None = None) -> None:
        super().__init__((0, tuple(map(shown, tabs))), symbols=symbols, id=id)

    def choose(self, index: int) -> None:
        self.show((index, self._value[1]))

    def line_of(self, value: tuple[int, tuple[str, ...]], width: int) -> Line:
        chosen, tabs = value
        spans = [Span(" ")]
        for index, tab in enumerate(tabs):
            spans += [Span(tab, "tab" if index == chosen else "muted"), Span(" " * _GAP)]
        return fit(spans[:-1], width, self.symbols.ellipsis)

    def on_click(self, event: events.Click) -> None:
        start = 1
        for index, tab in enumerate(self._value[1]):
            if start <= event.x < start + len(tab):
                self.post_message(self.Chosen(index))
            start += len(tab) + _GAP
