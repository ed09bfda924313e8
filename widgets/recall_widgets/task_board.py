"""The tasks: grouped by state, or as a tree of prerequisites; which of them is up to the rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from recall_widgets.glyphs import GLYPHS, Shown
from recall_widgets.line_list import LineList
from recall_widgets.rows import BoardRow
from recall_widgets.spans import Line, Span, highlighted

_TIME_WIDTH = 6


class TaskBoard(LineList[BoardRow]):
    """Folding is the owner's to remember: it is asked for with `Folded` and comes back with the next rows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "fold", "Fold", show=False, id="board.fold"),
    ]

    class Folded(Message):
        """A group is to be folded, or to be opened."""

        def __init__(self, sender: TaskBoard, key: str, folded: bool) -> None:
            super().__init__()
            self.sender = sender
            self.key = key
            self.folded = folded

        @property
        def control(self) -> TaskBoard:
            return self.sender

    _needle = ""

    @property
    def needle(self) -> str:
        """The filter text, marked wherever it occurs. Which rows there are is the owner's to say."""
        return self._needle

    @needle.setter
    def needle(self, text: str) -> None:
        if text != self._needle:
            self._needle = text
            self.redraw()

    def left_of(self, row: BoardRow) -> Sequence[Span]:
        if row.kind == "group":
            mark = self.symbols.folded if row.folded else self.symbols.open
            return [Span(f"{'  ' * row.indent}{mark} ", "muted"), Span(row.title, "strong")]
        glyph = GLYPHS[row.state]
        return [
            Span("  " * row.indent),
            Span(row.lines, "muted"),
            Span(f"{self.symbols.glyph(row.state)} ", glyph.tone),
            *self._marked([Span(row.id, "strong"), Span(f" {row.title}")]),
        ]

    def _marked(self, spans: Line) -> Line:
        return highlighted(spans, re.compile(re.escape(self._needle), re.IGNORECASE)) if self._needle else spans

    def right_of(self, row: BoardRow) -> Sequence[Span]:
        if row.kind == "group":
            return [Span(str(row.count), "muted")]
        spans = [Span(row.detail, "muted")] if row.detail else []
        if row.needs_you:
            spans.append(Span(f" {self.symbols.glyph(Shown.NEEDS_YOU)}", GLYPHS[Shown.NEEDS_YOU].tone))
        if row.time:
            spans.append(Span(f"  {row.time:>{_TIME_WIDTH}}"))
        return spans

    def action_fold(self) -> None:
        row = self.cursor_row
        if row is not None and row.kind == "group":
            self.post_message(self.Folded(self, row.key, not row.folded))

    def action_activate(self) -> None:
        if self.cursor_row is not None and self.cursor_row.kind == "group":
            self.action_fold()
        else:
            super().action_activate()

    def clicked(self, times: int) -> None:
        row = self.cursor_row
        if row is not None and row.kind == "group":
            self.action_fold()
        else:
            super().clicked(times)
