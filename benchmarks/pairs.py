"""Two ways of doing the same, measured in turn, so that a busy machine slows both."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Comparison:
    """Seconds of each round. `ratio` is that of the medians."""

    name: str
    subject: tuple[float, ...]
    baseline: tuple[float, ...]

    @property
    def ratio(self) -> float:
        return statistics.median(self.subject) / statistics.median(self.baseline)

    def line(self, goal: float) -> str:
        met = "met" if self.ratio <= goal else "missed"
        return (
            f"{self.name:32} {spread(self.subject)}   against {spread(self.baseline)}   "
            f"ratio {self.ratio:.2f} (goal {goal:g}: {met})"
        )


def spread(seconds: Sequence[float]) -> str:
    """Minimum, median and maximum in milliseconds."""
    return (
        "/".join(f"{1000 * value:.0f}" for value in (min(seconds), statistics.median(seconds), max(seconds))) + " ms"
    )


def timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def interleaved(name: str, subject: Callable[[], float], baseline: Callable[[], float], rounds: int) -> Comparison:
    """Measure both once a round; they give their own seconds, so that what prepares them does not count."""
    pairs = [(subject(), baseline()) for _ in range(rounds)]
    return Comparison(name, tuple(one for one, _ in pairs), tuple(other for _, other in pairs))
