"""How much landed in each hour, under the lanes of a timeline and in their time."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from math import floor
from typing import Final

from textual.strip import Strip
from textual.widget import Widget

from recall_widgets.glyphs import UNICODE, Symbols
from recall_widgets.spans import Span, strip_of
from recall_widgets.time_window import TimeWindow
from recall_widgets.timeline import MARGIN
from recall_widgets.tones import Palette

_HOUR: Final = 3600.0
_EIGHTHS: Final = " ▁▂▃▄▅▆▇█"
_PLAIN: Final = "  ..::###"


@dataclass(frozen=True, slots=True)
class Landings:
    """`moments` are wall seconds, in order."""

    window: TimeWindow
    moments: tuple[float, ...]


def per_hour(landings: Landings, width: int) -> list[float]:
    """Landings an hour for each cell: those of the clock's hour that it lies in, or of its own longer time."""
    size = max(_HOUR, float(landings.window.step))
    counts: list[float] = []
    for cell in range(width):
        at = landings.window.begin + (cell + 0.5) * landings.window.step
        begin = floor(at / size) * size
        found = bisect_left(landings.moments, begin + size) - bisect_left(landings.moments, begin)
        counts.append(found * _HOUR / size)
    return counts


class LandedChart(Widget):
    """Drawn again only when the value is another one."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    LandedChart { height: 4; }
    """

    def __init__(self, *, symbols: Symbols = UNICODE, id: str | None = None) -> None:
        super().__init__(id=id)
        self.symbols = symbols
        self.palette = Palette(self)
        self._value: Landings | None = None

    def show(self, value: Landings | None) -> None:
        if value != self._value:
            self._value = value
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width, height = self.content_size.width, self.content_size.height
        if self._value is None:
            return Strip.blank(width, self.palette.base())
        counts = per_hour(self._value, max(width - MARGIN, 0))
        most = max(counts, default=0.0)
        text = "".join(self._sign(count, most, height - 1 - y, height) for count in counts)
        label = Span(f"{self._label(most, y, height):<{MARGIN}}", "muted")
        blank = len(text) - len(text.lstrip())
        return strip_of([label, Span(text[:blank]), Span(text[blank:], "good")], self.palette, width)

    def _label(self, most: float, y: int, height: int) -> str:
        if y == 0:
            return f"{most:g} an hour" if most else ""
        return "landed" if y == height - 1 else ""

    def _sign(self, count: float, most: float, row: int, height: int) -> str:
        """One cell of a column; `row` counts from the ground."""
        signs = _PLAIN if self.symbols.plain else _EIGHTHS
        eighths = round(count / most * height * 8) if most else 0
        return signs[min(max(max(eighths, 1 if count else 0) - row * 8, 0), 8)]

    def notify_style_update(self) -> None:
        self.palette.forget()
        super().notify_style_update()
