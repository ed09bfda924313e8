"""What waits for a person: three lines at most while the keys are elsewhere, and nothing at all when nothing does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.cells import cell_len
from textual import events

from recall_widgets.glyphs import GLYPHS, UNICODE, Shown, Symbols
from recall_widgets.hints import Pressed, asked_at, hints
from recall_widgets.line_list import LineList
from recall_widgets.rows import NeedRow
from recall_widgets.spans import Span, beside, clip, shown

LINES: Final = 3
_AGE_WIDTH: Final = 7
_WIDEST_ID: Final = 12


class NeedsYou(LineList[NeedRow]):
    """Rows come oldest first. The line that counts the rest stands for the first of them; in focus all are there."""

    DEFAULT_CSS: ClassVar[str] = """
    NeedsYou { height: auto; max-height: 4; scrollbar-size-vertical: 0; }
    NeedsYou:focus { max-height: 40%; }
    """

    def __init__(
        self,
        rows: Sequence[NeedRow] = (),
        *,
        symbols: Symbols = UNICODE,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(_short(rows, symbols), symbols=symbols, id=id, classes=classes)
        self.all_rows: Sequence[NeedRow] = rows
        self._id_width = 0
        self.display = bool(rows)

    def set_rows(self, rows: Sequence[NeedRow]) -> None:
        self.all_rows = rows
        self.display = bool(rows)
        width = min(max((cell_len(shown(row.id)) for row in rows), default=0), _WIDEST_ID)
        if width != self._id_width:
            self._id_width = width
            self.redraw()
        super().set_rows(rows if self.has_focus else _short(rows, self.symbols))

    def watch_has_focus(self, _has_focus: bool) -> None:
        super().watch_has_focus(_has_focus)
        self.set_rows(self.all_rows)

    def on_click(self, event: events.Click) -> None:
        super().on_click(event)
        event.prevent_default()
        row, width = self.cursor_row, self.content_size.width
        line = beside(self.left_of(row), self.right_of(row), width, self.symbols.ellipsis) if row is not None else ()
        asks = asked_at(line, row.keys, event.x) if row is not None else ""
        if asks:
            self.post_message(Pressed(asks))

    def left_of(self, row: NeedRow) -> Sequence[Span]:
        if not row.id:
            return [Span(f" {row.why}", "muted")]
        glyph = GLYPHS[Shown.NEEDS_YOU]
        name = clip(shown(row.id), _WIDEST_ID, self.symbols.ellipsis)
        return [
            Span(f" {self.symbols.glyph(Shown.NEEDS_YOU)} ", glyph.tone),
            Span(name, "strong"),
            Span(" " * (self._id_width - cell_len(name)) + f"  {row.why}"),
        ]

    def right_of(self, row: NeedRow) -> Sequence[Span]:
        if not row.id:
            return ()
        age = [Span(f" {row.age:>{_AGE_WIDTH}} ", "muted")] if row.age else []
        return [*hints(row.keys, self.content_size.width // 2 - _AGE_WIDTH), *age]


def _short(rows: Sequence[NeedRow], symbols: Symbols) -> Sequence[NeedRow]:
    if len(rows) <= LINES:
        return rows
    return [*rows[:LINES], NeedRow(rows[LINES].key, "", f"{symbols.ellipsis} and {len(rows) - LINES} more")]
