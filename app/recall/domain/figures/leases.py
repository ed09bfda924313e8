"""How leases fared: what their length should be chosen from."""

from __future__ import annotations

from collections.abc import Iterable

from recall.domain.event import Event
from recall.domain.figures.past import Past
from recall.domain.figures.spread import Spread, spread
from recall.domain.frozen import frozen

#: Wall and monotonic clock may drift apart by so many seconds between two renewals without anybody having set one.
_DRIFT = 1.0


@frozen
class LeaseFigures:
    """`gaps` spreads each run's longest time between two renewals, `late` how much that was beyond the heartbeat;
    both in seconds, on a clock that stands still while the machine sleeps. `renewals` counts them all. Runs that a
    person drives renew when they like and are left out of both.

    `ran_out` leases ended without a sign of life, and `taken_over` of these tasks were claimed again since.
    `refused` counts what was written too late or by another and so was turned down. `steps` are the runs in which
    the wall clock moved otherwise than the monotonic one, and `largest_step` the largest of those, signed: it was
    set, or the machine slept.
    """

    ttl: float
    heartbeat: float
    renewals: int
    gaps: Spread
    late: Spread
    ran_out: int
    taken_over: int
    refused: int
    steps: int
    largest_step: float | None

    @property
    def margin(self) -> float | None:
        """How many times the longest gap fits into the lease; None while no gap was measured."""
        return self.ttl / self.gaps.longest if self.gaps.longest else None


def lease_figures(past: Past) -> LeaseFigures:
    measured = [run for run in past.runs if run.longest_gap is not None and run.slot is not None]
    gaps = [run.longest_gap or 0.0 for run in measured]
    steps = [run.clock_step for run in measured if run.clock_step is not None and abs(run.clock_step) > _DRIFT]
    return LeaseFigures(
        ttl=past.ttl,
        heartbeat=past.heartbeat,
        renewals=sum(run.renewals or 0 for run in measured),
        gaps=spread(gaps),
        late=spread(max(0.0, gap - past.heartbeat) for gap in gaps),
        ran_out=sum(event.kind == "task.lease_expired" for event in past.events),
        taken_over=_taken_over(past.events),
        refused=sum(event.kind == "run.refused" for event in past.events),
        steps=len(steps),
        largest_step=max(steps, key=abs, default=None),
    )


def _taken_over(events: Iterable[Event]) -> int:
    lost: set[tuple[str | None, str | None]] = set()
    taken = 0
    for event in events:
        task = event.region, event.task
        if event.kind == "task.lease_expired":
            lost.add(task)
        elif event.kind == "task.claimed" and task in lost:
            lost.remove(task)
            taken += 1
    return taken
