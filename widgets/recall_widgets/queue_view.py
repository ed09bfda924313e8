"""The merge queue: in which order what lands, and what each entry is doing or waiting for."""

from __future__ import annotations

from collections.abc import Sequence

from recall_widgets.glyphs import GLYPHS
from recall_widgets.line_list import LineList
from recall_widgets.rows import QueueRow
from recall_widgets.spans import Span

_BAR_WIDTH = 8
_TIME_WIDTH = 6
_ROOMY = 84


class QueueView(LineList[QueueRow]):
    """Without a known duration there is no bar: only the time that has passed."""

    empty = "nothing waits to land"

    def left_of(self, row: QueueRow) -> Sequence[Span]:
        glyph = GLYPHS[row.state]
        return [
            Span(f"{row.place:>{len(str(len(self.rows)))}} ", "muted"),
            Span(f"{self.symbols.glyph(row.state)} ", glyph.tone),
            Span(row.id, "strong"),
            Span(f" {row.agent}  ", "muted"),
            Span(row.doing),
        ]

    def right_of(self, row: QueueRow) -> Sequence[Span]:
        roomy = self.scrollable_content_region.width >= _ROOMY
        spans = [Span(f"{row.branch} ", "muted")] if roomy and row.branch else []
        spans += [Span(f"{row.time:>{_TIME_WIDTH}}")] if row.time else []
        if row.share is not None:
            bar = self.symbols.bar(row.share, _BAR_WIDTH)
            spans += [Span(f" {bar}", "land"), Span(f" {int(row.share * 100):>3}%")]
        return spans
