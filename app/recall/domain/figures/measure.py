"""Every figure of a time, from what was kept of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator

from recall.domain.agent import Weight
from recall.domain.event import Event
from recall.domain.figures.leases import LeaseFigures, lease_figures
from recall.domain.figures.limits import LimitCost, limit_costs
from recall.domain.figures.past import Past
from recall.domain.figures.spend import Spent, spending_by
from recall.domain.figures.spread import Spread, spread
from recall.domain.figures.verifications import Verifications
from recall.domain.frozen import frozen
from recall.domain.outcome import CONSEQUENCES
from recall.domain.run import Run, RunResult

HOUR = 3600.0


@frozen
class Success:
    """How many of an agent's runs on tasks of a type landed, of those that say something of its ability; `results`
    counts all that came to an end, the most frequent first."""

    agent: str
    type: str
    weight: Weight
    results: tuple[tuple[RunResult, int], ...]

    @property
    def runs(self) -> int:
        return sum(count for _, count in self.results)

    @property
    def share(self) -> float | None:
        """None while nothing was said of its ability."""
        return self.weight.landed / self.weight.runs if self.weight.runs else None


@frozen
class Times:
    """Seconds. `task`: from the claim to main, for what landed. `start`: from the claim until the agent could begin.
    `work`: while the agent ran. `queue`: in the merge queue before it was verified, each time. `verify`: the verify
    command; a remembered verdict took none."""

    task: Spread
    start: Spread
    work: Spread
    queue: Spread
    verify: Spread


@frozen
class Figures:
    """`hours` are those of the clock in which something landed, as wall seconds, with how much."""

    since: float
    now: float
    landed: int
    hours: tuple[tuple[float, int], ...]
    success: tuple[Success, ...]
    results: tuple[tuple[RunResult, int], ...]
    times: Times
    leases: LeaseFigures
    limits: tuple[LimitCost, ...]
    spending: tuple[Spent, ...]

    @property
    def per_hour(self) -> float | None:
        """None for a time too short to say."""
        length = (self.now - self.since) / HOUR
        return self.landed / length if length >= 1 / 60 else None


def figures_of(past: Past, day_of: Callable[[float], str]) -> Figures:
    """`day_of` names the local day of a wall second."""
    settled = past.settled
    return Figures(
        since=past.since,
        now=past.now,
        landed=len(past.landed),
        hours=landed_by_hour(past),
        success=tuple(_successes(past)),
        results=_counted(settled),
        times=_times(past),
        leases=lease_figures(past),
        limits=limit_costs(past),
        spending=spending_by(past, day_of),
    )


def landed_by_hour(past: Past) -> tuple[tuple[float, int], ...]:
    """Count landings by the hour they fell in, oldest first; hours without one are left out."""
    found = Counter((run.settled_at or 0.0) // HOUR * HOUR for run in past.landed)
    return tuple(sorted(found.items()))


def _successes(past: Past) -> Iterator[Success]:
    groups: dict[tuple[str, str], list[Run]] = defaultdict(list)
    for run in past.settled:
        groups[run.agent, past.type_of(run)].append(run)
    for (agent, type_), runs in sorted(groups.items()):
        landed = sum(run.result is RunResult.LANDED for run in runs)
        judged = sum(run.result is not None and CONSEQUENCES[run.result].weight != 0 for run in runs)
        yield Success(agent, type_, Weight(landed=landed, failed=judged - landed), _counted(runs))


def _counted(runs: Iterable[Run]) -> tuple[tuple[RunResult, int], ...]:
    found = Counter(run.result for run in runs if run.result is not None)
    return tuple(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _times(past: Past) -> Times:
    landed, settled = past.landed, past.settled
    return Times(
        task=spread(_between(run.claimed_at, run.settled_at) for run in landed),
        start=spread(_between(run.claimed_at, run.started_at) for run in settled if run.started_at is not None),
        work=spread(
            _between(run.started_at, run.ended_at)
            for run in settled
            if run.started_at is not None and run.ended_at is not None
        ),
        queue=spread(_queue_waits(past.events)),
        verify=spread(Verifications().see(past.events)),
    )


def _between(begin: float | None, end: float | None) -> float:
    """Never less than nothing, even where the wall clock was set back."""
    return max(0.0, (end or 0.0) - (begin or 0.0))


def _queue_waits(events: Iterable[Event]) -> Iterator[float]:
    """How long entries waited before each verification."""
    queued: dict[int, float] = {}
    for event in events:
        if event.merge_id is None:
            continue
        if event.kind == "merge.queued":
            queued[event.merge_id] = event.at
        elif event.kind == "merge.verifying" and (since := queued.pop(event.merge_id, None)) is not None:
            yield max(0.0, event.at - since)
