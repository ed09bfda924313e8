"""The agents: what each is doing since when, or when it may start again and how that is known."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from recall_widgets.glyphs import GLYPHS
from recall_widgets.line_list import LineList
from recall_widgets.rows import AgentRow
from recall_widgets.spans import Span, clip, shown

_WIDEST_NAME = 12
_TIME_WIDTH = 7
_COST_WIDTH = 6


class AgentList(LineList[AgentRow]):
    _name_width: int = 0
    _costs: bool = False

    def set_rows(self, rows: Sequence[AgentRow]) -> None:
        widest = max((cell_len(shown(row.name)) for row in rows), default=0)
        columns = min(widest, _WIDEST_NAME), any(row.cost for row in rows)
        if columns != (self._name_width, self._costs):
            self._name_width, self._costs = columns
            self.redraw()
        super().set_rows(rows)

    def left_of(self, row: AgentRow) -> Sequence[Span]:
        glyph = GLYPHS[row.state]
        name = clip(shown(row.name), _WIDEST_NAME, self.symbols.ellipsis)
        spans = [
            Span(f"{self.symbols.glyph(row.state)} ", glyph.tone),
            Span(name, "strong"),
            Span(" " * (self._name_width - cell_len(name)) + f"  {row.what}"),
        ]
        return [*spans, Span(f'  "{row.quote}"', "muted")] if row.quote else spans

    def right_of(self, row: AgentRow) -> Sequence[Span]:
        spans = [Span(f"{row.time:>{_TIME_WIDTH}}")]
        if row.weights:
            spans.append(Span(f"  {self.symbols.sparkline(row.weights)}", "muted"))
        if row.weight is not None:
            spans.append(Span(f"{' ' if row.weights else '  '}{row.weight:.2f}"))
        if self._costs:
            spans.append(Span(f"  {row.cost:>{_COST_WIDTH}}", "muted"))
        return spans
