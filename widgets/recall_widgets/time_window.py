"""A stretch of time as cells of a line. Nothing here needs an app."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import floor
from typing import Final

from recall_widgets.spans import Span

#: Seconds that one cell may stand for.
STEPS: Final = (
    1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 420, 600, 900, 1200, 1800, 3600, 7200, 21_600, 86_400,
)  # fmt: skip
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
#: Seconds between two marks of the axis, the first that leaves them room.
_MARKS: Final = (
    5, 10, 15, 30, _MINUTE, 2 * _MINUTE, 5 * _MINUTE, 10 * _MINUTE, 15 * _MINUTE, 30 * _MINUTE,
    _HOUR, 2 * _HOUR, 3 * _HOUR, 6 * _HOUR, 12 * _HOUR, _DAY, 2 * _DAY, 7 * _DAY, 30 * _DAY, 365 * _DAY,
)  # fmt: skip
_ROOM = 12


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """`begin` is the wall second at the left end, `step` how many seconds a cell stands for."""

    begin: float
    step: int

    @classmethod
    def up_to(cls, now: float, width: int, step: int) -> TimeWindow:
        """The window whose last cells are now. It moves by whole cells, so that time passing redraws little."""
        return cls((floor(now / step) + 2 - width) * float(step), step)

    def cell(self, at: float) -> int:
        """The cell that a moment falls in; there may be none such in sight."""
        return floor((at - self.begin) / self.step)

    def moved(self, cells: int) -> TimeWindow:
        return replace(self, begin=self.begin + cells * self.step)

    def zoomed(self, by: int, around: float) -> TimeWindow:
        """Take another step, `by` places finer or coarser; the moment `around` stays where it is."""
        at = min(max(STEPS.index(self.step) - by, 0), len(STEPS) - 1)
        cells = (around - self.begin) / self.step
        return TimeWindow(around - cells * STEPS[at], STEPS[at])


def step_for(seconds: float, width: int) -> int:
    """The finest step in which so many seconds fit."""
    return next((step for step in STEPS if step * max(width - 2, 1) >= seconds), STEPS[-1])


def axis(window: TimeWindow, width: int) -> list[Span]:
    """The moments of a window, in local time, each above the cell that it names."""
    spans: list[Span] = []
    end = 0
    for cell, text in _marks(window, width):
        if cell >= end and cell + len(text) <= width:
            spans += [Span(" " * (cell - end)), Span(text, "muted")]
            end = cell + len(text)
    return spans


def _marks(window: TimeWindow, width: int) -> Iterator[tuple[int, str]]:
    every = next((mark for mark in _MARKS if mark >= _ROOM * window.step), _MARKS[-1])
    local = datetime.fromtimestamp(window.begin).astimezone()
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    passed = floor((local - midnight).total_seconds() / every) * every
    moment = midnight + timedelta(seconds=passed)
    last = window.begin + width * window.step
    while moment.timestamp() < last:
        if (cell := window.cell(moment.timestamp())) >= 0:
            yield cell, _label(moment, every)
        moment += timedelta(seconds=every)


def _label(moment: datetime, every: int) -> str:
    if every >= _DAY or (moment.hour == moment.minute == 0 and moment.second == 0):
        return f"{moment.day} {moment:%b}"
    return f"{moment:%H:%M}" if every >= _MINUTE else f"{moment:%H:%M:%S}"
