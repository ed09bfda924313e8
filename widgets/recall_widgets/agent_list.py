"""The agents: what each is doing since when, or when it may start again and how that is known."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from recall_widgets.glyphs import GLYPHS
from recall_widgets.line_list import LineList
from recall_widgets.rows import AgentRow
from recall_widgets.spans import Span, clip, shown

_WIDEST_NAME = 12
_TIME_WIDTH = 8
#: How many weights of the past there is room for; from so many cells on, more of them and how runs came out.
_FEW, _MANY, _ROOMY = 3, 10, 84
_RECORD_WIDTH, _NOTE_WIDTH = 20, 10
_COST_WIDTH = 6


class AgentList(LineList[AgentRow]):
    empty = "no agents yet: add [agents.NAME] to recall.toml"
    _name_width: int = 0
    _costs: bool = False
    _weighed: bool = False

    def set_rows(self, rows: Sequence[AgentRow]) -> None:
        widest = max((cell_len(shown(row.name)) for row in rows), default=0)
        columns = (
            min(widest, _WIDEST_NAME),
            any(row.cost for row in rows),
            any(row.weight is not None for row in rows),
        )
        if columns != (self._name_width, self._costs, self._weighed):
            self._name_width, self._costs, self._weighed = columns
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
        roomy = self.scrollable_content_region.width >= _ROOMY
        spans = [Span(f"{row.note:>{_NOTE_WIDTH}} " if roomy else "", "muted"), Span(f"{row.time:>{_TIME_WIDTH}}")]
        if row.quote:
            return spans
        room = _MANY if roomy else _FEW
        if self._weighed or roomy:
            past = self.symbols.sparkline(row.weights[-room:])
            now = f"{row.weight:.2f}" if row.weight is not None else ""
            spans += [Span(f"  {past:>{room}}", "muted"), Span(f" {now:>4}")]
        if roomy:
            spans.append(Span(f"  {row.record:>{_RECORD_WIDTH}}", "muted"))
        if self._costs:
            spans.append(Span(f"  {row.cost:>{_COST_WIDTH}}", "muted"))
        return spans
