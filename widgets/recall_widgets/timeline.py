"""Runs in time: a lane for each agent, one below the other, moved and zoomed by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.style import Style
from textual.binding import Binding, BindingType
from textual.message import Message

from recall_widgets.glyphs import GLYPHS, UNICODE, Shown, Symbols
from recall_widgets.line_list import LineList
from recall_widgets.one_line import OneLine
from recall_widgets.spans import Line, Span, clip, shown, width_of
from recall_widgets.time_window import TimeWindow, axis, step_for

#: Cells in front of each lane, for the agent's name.
MARGIN: Final = 13
_PAN = 12
#: At first so much is in sight at least and at most, in seconds.
_LEAST, _MOST = 600.0, 86_400.0


@dataclass(frozen=True, slots=True)
class Bar:
    """From wall second `begin` to `end`; None: it goes on."""

    key: str
    begin: float
    end: float | None
    state: Shown
    label: str


@dataclass(frozen=True, slots=True)
class Lane:
    """Bars that do not overlap, oldest first. `name` stands in front, empty where the lane above has the name."""

    key: str
    name: str
    bars: tuple[Bar, ...]


class TimelineView(LineList[Lane]):
    empty = "no run yet"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "bar(1)", "Next run", show=False, id="timeline.next"),
        Binding("left", "bar(-1)", "Run before", show=False, id="timeline.previous"),
        Binding("l", "pan(1)", "Later", show=False, id="timeline.later"),
        Binding("h", "pan(-1)", "Earlier", show=False, id="timeline.earlier"),
        Binding("plus", "zoom(1)", "Closer", show=False, id="timeline.closer"),
        Binding("minus", "zoom(-1)", "Farther", show=False, id="timeline.farther"),
        Binding("n", "now", "Now", show=False, id="timeline.now"),
    ]

    class Moved(Message):
        """Another time is in sight, or another run is selected."""

    def __init__(self, *, symbols: Symbols = UNICODE, id: str | None = None) -> None:
        super().__init__(symbols=symbols, id=id)
        self._window: TimeWindow | None = None
        self._now = 0.0
        self._follows = True
        self._bar = ""

    @property
    def window(self) -> TimeWindow | None:
        """None until there was something to show."""
        return self._window

    @property
    def bar(self) -> Bar | None:
        """The selected one: that of the selected lane, if it has any."""
        lane = self.cursor_row
        if lane is None or not lane.bars:
            return None
        return next((bar for bar in lane.bars if bar.key == self._bar), lane.bars[-1])

    @property
    def chart_width(self) -> int:
        return max(self.scrollable_content_region.width - MARGIN, 1)

    def show(self, lanes: Sequence[Lane], now: float) -> None:
        """Show other lanes at wall second `now`. As long as nobody moves it, the window ends with now."""
        self._now = now
        before = self._window
        if before is None and lanes:
            first = min((bar.begin for lane in lanes for bar in lane.bars), default=now)
            step = step_for(min(max(now - first, _LEAST), _MOST), self.chart_width)
            self._window = TimeWindow.up_to(now, self.chart_width, step)
        elif before is not None and self._follows:
            self._window = TimeWindow.up_to(now, self.chart_width, before.step)
        self.set_rows(lanes)
        if self._window != before or any(bar.end is None for lane in lanes for bar in lane.bars):
            self._look()

    def left_of(self, row: Lane) -> Line:
        name = clip(shown(row.name), MARGIN - 2, self.symbols.ellipsis)
        head = Span(name + " " * (MARGIN - width_of([Span(name)])), "strong")
        return [head, *self._bars(row)]

    def _bars(self, row: Lane) -> list[Span]:
        window, width = self._window, self.chart_width
        if window is None:
            return []
        spans: list[Span] = []
        at = 0
        now = window.cell(self._now)
        for bar in row.bars:
            begin = max(window.cell(bar.begin), at)
            end = min(max(window.cell(self._now if bar.end is None else bar.end), window.cell(bar.begin) + 1), width)
            if begin >= end:
                continue
            spans += [*self._gap(at, begin, now), self._drawn(bar, end - begin)]
            at = end
        return [*spans, *self._gap(at, width, now)]

    def _gap(self, begin: int, end: int, now: int) -> list[Span]:
        """Nothing, but for the line that stands for now."""
        if not begin <= now < end:
            return [Span(" " * (end - begin))]
        line = Span("|" if self.symbols.plain else "│", "muted")
        return [Span(" " * (now - begin)), line, Span(" " * (end - now - 1))]

    def _drawn(self, bar: Bar, width: int) -> Span:
        text = clip(self.symbols.glyph(bar.state) + shown(bar.label), width, self.symbols.ellipsis)
        if width < 3:
            text = self.symbols.glyph(bar.state)
        fill = ("=" if self.symbols.plain else "━") * (width - width_of([Span(text)]))
        tone = GLYPHS[bar.state].tone
        chosen = bar == self.bar and self.has_focus
        return Span(text + fill, self.palette[tone] + Style(reverse=True) if chosen else tone)

    def on_resize(self) -> None:
        super().on_resize()
        if self._window is not None and self._follows:
            self._window = TimeWindow.up_to(self._now, self.chart_width, self._window.step)
        self._look()

    def action_bar(self, by: int) -> None:
        """Go to the run before or behind in this lane, and bring it in sight."""
        lane, bar = self.cursor_row, self.bar
        if lane is None or bar is None:
            return
        chosen = lane.bars[min(max(lane.bars.index(bar) + by, 0), len(lane.bars) - 1)]
        self._bar = chosen.key
        self._bring(chosen)
        self._look()

    def action_pan(self, by: int) -> None:
        if self._window is not None:
            self._follows = False
            self._window = self._window.moved(by * _PAN)
            self._look()

    def action_zoom(self, by: int) -> None:
        """Around the selected run if it is in sight, else around the middle, or with now at the end as before."""
        window, bar = self._window, self.bar if self._bar else None
        if window is None:
            return
        if bar is not None and 0 <= window.cell(bar.begin) < self.chart_width:
            self._follows = False
            self._window = window.zoomed(by, bar.begin)
        elif self._follows:
            self._window = TimeWindow.up_to(self._now, self.chart_width, window.zoomed(by, self._now).step)
        else:
            self._window = window.zoomed(by, window.begin + self.chart_width * window.step / 2)
        self._look()

    def action_now(self) -> None:
        if self._window is not None:
            self._follows = True
            self._bar = ""
            self._window = TimeWindow.up_to(self._now, self.chart_width, self._window.step)
            self._look()

    def _bring(self, bar: Bar) -> None:
        window, width = self._window, self.chart_width
        if window is not None and not 0 <= window.cell(bar.begin) < width:
            self._follows = False
            self._window = window.moved(window.cell(bar.begin) - width // 3)

    def _look(self) -> None:
        self.redraw()
        self.post_message(self.Moved())


class TimeAxis(OneLine[TimeWindow | None]):
    """The moments above the lanes."""

    def line_of(self, value: TimeWindow | None, width: int) -> Line:
        return [Span(" " * MARGIN), *axis(value, max(width - MARGIN, 0))] if value is not None else []
