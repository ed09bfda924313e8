"""The tasks: grouped by state, or as a tree of prerequisites; which of them is up to the rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.message import Message

from recall_widgets.glyphs import GLYPHS, Shown
from recall_widgets.line_list import LineList
from recall_widgets.rows import BoardRow
from recall_widgets.spans import Line, Span, clip, highlighted, shown

_TIME_WIDTH = 6
#: From so many cells on there are columns for priority, type, attempts and age.
_ROOMY = 84
#: With fewer cells, as in one column of several, the title has them all.
_SCANT = 32
_PRIORITY_WIDTH, _TYPE_WIDTH, _TRIES_WIDTH = 4, 10, 6
_COLUMNS_WIDTH = 2 + _PRIORITY_WIDTH + 2 + _TYPE_WIDTH + 2 + _TRIES_WIDTH + 2 + _TIME_WIDTH


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
            Span(self._tree_lines(row.branch), "muted"),
            Span(f"{self.symbols.glyph(row.state)} ", glyph.tone),
            *self._marked([Span(row.id, "strong"), Span(f" {row.title}")]),
        ]

    def _tree_lines(self, branch: tuple[bool, ...]) -> str:
        if not branch:
            return ""
        symbols = self.symbols
        trunks = "".join(symbols.trunk if more else "  " for more in branch[:-1])
        return trunks + (symbols.branch if branch[-1] else symbols.last_branch)

    def _marked(self, spans: Line) -> Line:
        return highlighted(spans, re.compile(re.escape(self._needle), re.IGNORECASE)) if self._needle else spans

    def right_of(self, row: BoardRow) -> Sequence[Span]:
        if row.kind == "group":
            return [Span(str(row.count), "muted")]
        width = self.scrollable_content_region.width
        roomy = width >= _ROOMY
        if width < _SCANT:
            return [Span(f" {self.symbols.glyph(Shown.NEEDS_YOU)}", "needs-you")] if row.needs_you else []
        spans = [Span(f"{row.priority}  ", "strong")] if row.priority and not roomy else []
        if row.detail:
            room = (width - (_COLUMNS_WIDTH if roomy else _TIME_WIDTH)) // 2
            spans.append(Span(clip(shown(row.detail), room, self.symbols.ellipsis), "muted"))
        if row.needs_you:
            spans.append(Span(f" {self.symbols.glyph(Shown.NEEDS_YOU)}", GLYPHS[Shown.NEEDS_YOU].tone))
        if row.time or roomy:
            spans.append(Span(f"  {row.time:>{_TIME_WIDTH}}"))
        return [*spans, *self._columns(row)] if roomy else spans

    def _columns(self, row: BoardRow) -> Sequence[Span]:
        type_ = clip(shown(row.type), _TYPE_WIDTH, self.symbols.ellipsis)
        return [
            Span(f"  {row.priority:>{_PRIORITY_WIDTH}}", "strong"),
            Span(f"  {type_}{' ' * (_TYPE_WIDTH - cell_len(type_))}", "muted"),
            Span(f"  {row.tries:<{_TRIES_WIDTH}}  {row.age:>{_TIME_WIDTH}}", "muted"),
        ]

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
