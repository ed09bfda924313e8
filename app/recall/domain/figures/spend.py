"""What runs used up, by agent, task type and day."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from recall.domain.figures.past import Past
from recall.domain.frozen import frozen
from recall.domain.run import Run


@frozen
class Spent:
    """`told` of the `runs` said something of their use; tokens and dollars are sums of what was told, None where none
    of them told it. `input_tokens` includes `cached_tokens`."""

    agent: str
    type: str
    day: str
    runs: int = 0
    told: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None


def spending_by(past: Past, day_of: Callable[[float], str]) -> tuple[Spent, ...]:
    """Runs count on the day they ended; `day_of` names the local day of a wall second."""
    groups: dict[tuple[str, str, str], list[Run]] = {}
    for run in past.settled:
        day = day_of(run.ended_at or run.settled_at or run.claimed_at)
        groups.setdefault((day, run.agent, past.type_of(run)), []).append(run)
    return tuple(
        total_of(runs, agent=agent, type_=type_, day=day) for (day, agent, type_), runs in sorted(groups.items())
    )


def total_of(runs: Iterable[Run], *, agent: str = "", type_: str = "", day: str = "") -> Spent:
    runs = list(runs)
    return Spent(
        agent,
        type_,
        day,
        runs=len(runs),
        told=sum(_told(run) for run in runs),
        input_tokens=_sum(run.input_tokens for run in runs),
        output_tokens=_sum(run.output_tokens for run in runs),
        cached_tokens=_sum(run.cached_tokens for run in runs),
        cost_usd=_cost(run.cost_usd for run in runs),
    )


def _told(run: Run) -> bool:
    return any(each is not None for each in (run.input_tokens, run.output_tokens, run.cached_tokens, run.cost_usd))


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _cost(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(sum(known), 6) if known else None
