"""How a number of measured values lie."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil

from recall.domain.frozen import frozen


@frozen
class Spread:
    """Percentiles are values that were measured: `p95` is the smallest that 95 % of them do not exceed. All but
    `count` and `total` are None where nothing was measured."""

    count: int = 0
    total: float = 0.0
    median: float | None = None
    p95: float | None = None
    longest: float | None = None


def spread(values: Iterable[float]) -> Spread:
    """Sum values up, in whatever unit they are."""
    ordered = sorted(values)
    if not ordered:
        return Spread()
    return Spread(len(ordered), sum(ordered), _rank(ordered, 0.5), _rank(ordered, 0.95), ordered[-1])


def _rank(ordered: list[float], share: float) -> float:
    return ordered[max(ceil(share * len(ordered)), 1) - 1]
