"""A list of ready-made lines: facts, choices, entries of a log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from recall_widgets.line_list import LineList
from recall_widgets.spans import Line, Span, highlighted


@dataclass(frozen=True, slots=True)
class ListRow:
    """`left` gives way where there is no room for both. `opens` names what enter opens, "" nothing; such a line is
    marked."""

    key: str
    left: tuple[Span, ...]
    right: tuple[Span, ...] = ()
    opens: str = ""


class Listing(LineList[ListRow]):
    """Rows say themselves how they look. Whatever matches `needle` is marked."""

    _needle: re.Pattern[str] | None = None
    _marks: bool = False

    def set_rows(self, rows: Sequence[ListRow]) -> None:
        marks = any(row.opens for row in rows)
        if marks != self._marks:
            self._marks = marks
            self.redraw()
        super().set_rows(rows)

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
