"""What usage limits cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from recall.domain.event import Event
from recall.domain.figures.past import Past
from recall.domain.frozen import frozen
from recall.domain.run import Run, RunResult

_LIMITED = {RunResult.RATE_LIMITED, RunResult.CREDIT_EXHAUSTED, RunResult.AUTH_REQUIRED}


@frozen
class LimitCost:
    """`cooled` is how many seconds the agent could start nothing, `interrupted` how many runs ended at a limit, out
    of credit or signed out, and `lost` how many seconds those had worked; some of them go on later."""

    agent: str
    cooled: float
    interrupted: int
    lost: float
    results: tuple[tuple[RunResult, int], ...]


def limit_costs(past: Past) -> tuple[LimitCost, ...]:
    """One for each agent that met a limit or cooled, by name."""
    met: dict[str, list[Run]] = defaultdict(list)
    for run in past.settled:
        if run.result in _LIMITED:
            met[run.agent].append(run)
    cooled = _cooled(past)
    return tuple(_cost(agent, cooled.get(agent, 0.0), met.get(agent, [])) for agent in sorted({*met, *cooled}))


def _cost(agent: str, cooled: float, runs: Sequence[Run]) -> LimitCost:
    counts = {result: sum(run.result is result for run in runs) for result in sorted(_LIMITED)}
    lost = sum(max(0.0, (run.ended_at or run.settled_at or 0.0) - (run.started_at or run.claimed_at)) for run in runs)
    return LimitCost(agent, cooled, len(runs), lost, tuple((each, n) for each, n in counts.items() if n))


def _cooled(past: Past) -> dict[str, float]:
    told: dict[str, list[Event]] = defaultdict(list)
    for event in past.cooling:
        if event.agent is not None and _matters(event):
            told[event.agent].append(event)
    found = {agent: _seconds(events, past.since, past.now) for agent, events in told.items()}
    return {agent: seconds for agent, seconds in found.items() if seconds > 0}


def _matters(event: Event) -> bool:
    """A resumed agent that was only paused goes on cooling."""
    return event.kind != "agent.resumed" or "cooling" in (event.before or "")


def _seconds(events: Iterable[Event], since: float, now: float) -> float:
    """Each event says until when from now on: the one before holds up to it at most."""
    ordered = sorted(events, key=lambda event: event.seq)
    limits = [*(event.at for event in ordered[1:]), now]
    return sum(
        max(0.0, min(_until(event), now, limit) - max(event.at, since))
        for event, limit in zip(ordered, limits, strict=True)
    )


def _until(event: Event) -> float:
    if event.kind != "agent.cooling" or not event.after:
        return event.at
    try:
        return datetime.fromisoformat(event.after).timestamp()
    except ValueError:
        return event.at
