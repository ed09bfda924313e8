"""Keys and what they do over as many lines as there are; a click on one counts as its key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from recall_widgets.rows import KeyHint
from recall_widgets.spans import Span, cleaned, strip_of, width_of
from recall_widgets.tones import Palette

_Row: TypeAlias = list[tuple[KeyHint, list[Span]]]


class KeyBar(Widget):
    """The first hints come first; those that do not fit into `max-height` are left out, but the last one stays."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    KeyBar { height: auto; }
    """

    class Pressed(Message):
        """A hint was clicked; `number` is its place among all of them."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    def __init__(self, *, most_rows: int = 3, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.palette = Palette(self)
        self._most_rows = most_rows
        self._hints: tuple[KeyHint, ...] = ()

    def show(self, hints: Sequence[KeyHint], most_rows: int) -> None:
        if (tuple(hints), most_rows) != (self._hints, self._most_rows):
            self._hints, self._most_rows = tuple(hints), most_rows
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return max(1, len(rows_of(self._hints, width, self._most_rows)))

    def render_line(self, y: int) -> Strip:
        width = self.content_size.width
        rows = rows_of(self._hints, width, self._most_rows)
        if y >= len(rows):
            return Strip.blank(width, self.palette.base())
        return strip_of([span for _, spans in rows[y] for span in spans], self.palette, width)

    def on_click(self, event: Click) -> None:
        place = event.get_content_offset(self)
        rows = rows_of(self._hints, self.content_size.width, self._most_rows)
        if place is None or place.y >= len(rows):
            return
        left = 0
        for hint, spans in rows[place.y]:
            left += width_of(spans)
            if place.x < left:
                self.post_message(self.Pressed(self._hints.index(hint)))
                return

    def notify_style_update(self) -> None:
        self.palette.forget()
        super().notify_style_update()


def rows_of(hints: Sequence[KeyHint], width: int, most: int) -> list[_Row]:
    """Lay hints out in rows of so many cells; with more than `most` rows, the last hint takes the end of the last."""
    rows: list[_Row] = [[]]
    room = width
    for hint in hints:
        spans = _drawn(hint)
        if width_of(spans) > room and rows[-1]:
            rows.append([])
            room = width
        rows[-1].append((hint, spans))
        room -= width_of(spans)
    if len(rows) <= most:
        return rows
    last, kept = (hints[-1], _drawn(hints[-1])), rows[most - 1]
    while kept and sum(width_of(spans) for _, spans in kept) + width_of(last[1]) > width:
        kept = kept[:-1]
    return [*rows[: most - 1], [*kept, last]]


def _drawn(hint: KeyHint) -> list[Span]:
    return cleaned([Span(f" {hint.key}", "run"), Span(f" {hint.does} ", "muted")])
