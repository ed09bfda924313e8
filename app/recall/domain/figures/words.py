"""Figures as every front end writes them."""

from __future__ import annotations

from datetime import datetime

from recall.domain.figures.leases import LeaseFigures
from recall.domain.figures.report import DiffSize
from recall.domain.figures.spend import Spent
from recall.domain.run import RunResult
from recall.domain.stream.spending import dollars, in_short
from recall.domain.words import elapsed

NOT_KNOWN = "not known"

#: From so many longest gaps in a lease on, nobody loses one by a busy machine.
SAFE_MARGIN = 3.0


def length(seconds: float | None) -> str:
    """Write a measured time: `0.42 s`, `12.3 s`, `3:20`."""
    if seconds is None:
        return NOT_KNOWN
    if seconds < 60:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.1f} s"
    return elapsed(seconds)


def step(seconds: float | None) -> str:
    """Write a step of a clock with its sign."""
    return NOT_KNOWN if seconds is None else f"{'−' if seconds < 0 else '+'}{length(abs(seconds))}"


def percent(share: float | None) -> str:
    return NOT_KNOWN if share is None else f"{share:.0%}".replace("%", " %")


def day(wall: float) -> str:
    """Name the local day of a wall second, `2026-11-30`."""
    return datetime.fromtimestamp(wall).astimezone().date().isoformat()


def result_words(result: RunResult) -> str:
    return result.replace("_", " ")


def size_words(size: DiffSize | None) -> str:
    if size is None:
        return NOT_KNOWN
    return f"{size.files} {'file' if size.files == 1 else 'files'} +{size.added} −{size.removed}"


def tokens(count: int | None) -> str:
    return NOT_KNOWN if count is None else in_short(count)


def cost_words(spent: Spent) -> str:
    """What it cost, and of how many runs that is known where it is not of all."""
    if spent.cost_usd is None:
        return NOT_KNOWN
    of_all = "" if spent.told == spent.runs else f" (told by {spent.told} of {spent.runs} runs)"
    return f"{dollars(spent.cost_usd)}{of_all}"


def margin_words(leases: LeaseFigures) -> str:
    """Whether the lease is long enough for the gaps that were measured."""
    if leases.margin is None or leases.gaps.longest is None:
        return "no renewal was measured yet: nothing to choose the lease's length from"
    said = f"lease.ttl {length(leases.ttl)} is {leases.margin:.1f} times the longest gap"
    if leases.margin >= SAFE_MARGIN:
        return said
    wanted = SAFE_MARGIN * leases.gaps.longest
    return f"{said}; {length(wanted)} or more would be safe on this machine"
