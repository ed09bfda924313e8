"""A list of ready-made lines: facts, choices, entries of a log."""

from __future__ import annotations

import re
from collections.abc import Sequence

from recall.domain.frozen import frozen
from recall_widgets.line_list import LineList
from recall_widgets.row_source import KeyedRows
from recall_widgets.spans import Line, Span, highlighted


@frozen
class ListRow:
    """`left` gives way where there is no room for both. `opens` names what enter opens, "" nothing; such a line is
    marked."""

    key: str
    left: tuple[Span, ...]
    right: tuple[Span, ...] = ()
    opens: str = ""
    is_heading: bool = False


class Listing(LineList[ListRow]):
    """Rows say themselves how they look; rows that are made when they are looked at may all open something."""

    _needle: re.Pattern[str] | None = None
    _marks: bool = False

    def set_rows(self, rows: Sequence[ListRow]) -> None:
        marks = isinstance(rows, KeyedRows) or any(row.opens for row in rows)
        if marks != self._marks:
            self._marks = marks
            self.redraw()
        at_first = not self.rows
        super().set_rows(rows)
        if at_first:
            self._pass_headings()

    def _pass_headings(self) -> None:
        """Begin at the first line that says something, not at the heading above it."""
        first = next((row.key for row in self.rows if not row.is_heading and row.left), None)
        if first is not None:
            self.select(first)
            self.scroll_to(y=0, animate=False, force=True)

    def mark(self, needle: str) -> None:
        """Mark every occurrence of a text, whatever its case; empty: none."""
        pattern = re.compile(re.escape(needle), re.IGNORECASE) if needle else None
        if pattern != self._needle:
            self._needle = pattern
            self.redraw()

    def left_of(self, row: ListRow) -> Line:
        mark = [Span(f"{self.symbols.folded} " if row.opens else "  ", "muted")] if self._marks else []
        return [*mark, *self._marked(row.left)]

    def right_of(self, row: ListRow) -> Line:
        return self._marked(row.right)

    def _marked(self, spans: Line) -> Line:
        return spans if self._needle is None else highlighted(spans, self._needle)
