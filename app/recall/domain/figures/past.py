"""What figures are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from recall.domain.event import Event
from recall.domain.frozen import frozen
from recall.domain.run import Run, RunResult
from recall.domain.task import Task, TaskRef

#: What the events are called that tell when an agent cooled.
COOLING = ("agent.cooling", "agent.cooldown_lifted", "agent.resumed")


@frozen
class Past:
    """What the store keeps of the time from `since` to `now`, both wall seconds UTC.

    `runs` are those that were open at any moment of it, `events` those that were told in it, oldest first. `cooling`
    are all events of the kinds in `COOLING`, earlier ones too: a cooldown may have begun before. `ttl` and
    `heartbeat` are the lease's settings as they are now, in seconds.
    """

    since: float
    now: float
    runs: tuple[Run, ...] = ()
    events: tuple[Event, ...] = ()
    cooling: tuple[Event, ...] = ()
    tasks: Mapping[TaskRef, Task] = field(default_factory=dict[TaskRef, Task])
    ttl: float = 0.0
    heartbeat: float = 0.0

    @property
    def settled(self) -> tuple[Run, ...]:
        """The runs that came to their end in this time."""
        return tuple(run for run in self.runs if run.settled_at is not None and run.settled_at >= self.since)

    @property
    def landed(self) -> tuple[Run, ...]:
        return tuple(run for run in self.settled if run.result is RunResult.LANDED)

    def type_of(self, run: Run) -> str:
        """The type of a run's task as it is now."""
        task = self.tasks.get(run.ref)
        return task.type if task is not None else "general"
