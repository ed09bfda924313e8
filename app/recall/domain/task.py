"""A task: what the list says of it, what the store knows of it, and the moves its state may make."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from recall.domain.clock import Deadline, Instant
from recall.domain.frozen import frozen

DEFAULT_REGION = "main"


class TaskRef(NamedTuple):
    """A task's full name. Ids are unique inside a region only."""

    region: str
    id: str

    def __str__(self) -> str:
        return self.id if self.region == DEFAULT_REGION else f"{self.region}:{self.id}"

    @classmethod
    def parse(cls, text: str) -> TaskRef:
        """Read `ID` or `REGION:ID`, as people type it."""
        region, colon, id_ = text.rpartition(":")
        return cls(region if colon and region else DEFAULT_REGION, id_)


class TaskState(StrEnum):
    """Where a task stands. Only `landing` -> `done` needs a commit in main."""

    TODO = "todo"
    IN_PROGRESS = "in_progress"
    LANDING = "landing"
    DONE = "done"
    NEEDS_PERSON = "needs_person"
    ON_HOLD = "on_hold"
    CANCELLED = "cancelled"


class DoneBy(StrEnum):
    """How a task came to be done. Only `landed` means a verified commit of ours in main."""

    LANDED = "landed"
    MANUAL = "manual"
    IMPORTED = "imported"
    GROUP = "group"


#: Every move a task may make, and why. Nothing else may happen to a row: the store refuses it,
#: docs/STATES.md is generated from it.
TASK_MOVES: dict[tuple[TaskState, TaskState], str] = {
    (TaskState.TODO, TaskState.IN_PROGRESS): "claimed by an agent",
    (TaskState.TODO, TaskState.ON_HOLD): "put on hold by a person",
    (TaskState.TODO, TaskState.CANCELLED): "cancelled by a person, or gone from the list",
    (TaskState.TODO, TaskState.NEEDS_PERSON): "something only a person can mend was found before a claim",
    (TaskState.TODO, TaskState.DONE): "said to be done by a person, or every sub-task of this group is done",
    (TaskState.IN_PROGRESS, TaskState.TODO): "run over without a result, given back, or its lease expired",
    (TaskState.IN_PROGRESS, TaskState.LANDING): "result accepted and carried over",
    (TaskState.IN_PROGRESS, TaskState.NEEDS_PERSON): "attempts or interruptions used up, or a question",
    (TaskState.IN_PROGRESS, TaskState.ON_HOLD): "put on hold by a person while it ran; the run is stopped",
    (TaskState.IN_PROGRESS, TaskState.CANCELLED): "cancelled by a person while it ran; the work is kept",
    (TaskState.IN_PROGRESS, TaskState.DONE): "done by hand, without a commit of ours",
    (TaskState.LANDING, TaskState.DONE): "its commit is in main",
    (TaskState.LANDING, TaskState.TODO): "conflict, red verification or nothing new; starts over from main",
    (TaskState.LANDING, TaskState.NEEDS_PERSON): "its landing needs a person",
    (TaskState.LANDING, TaskState.CANCELLED): "cancelled by a person before it landed; the work is kept",
    (TaskState.NEEDS_PERSON, TaskState.TODO): "requeued by a person",
    (TaskState.NEEDS_PERSON, TaskState.LANDING): "resolved by a person; goes through the queue again",
    (TaskState.NEEDS_PERSON, TaskState.ON_HOLD): "put on hold by a person",
    (TaskState.NEEDS_PERSON, TaskState.CANCELLED): "given up by a person",
    (TaskState.NEEDS_PERSON, TaskState.DONE): "said to be done by a person",
    (TaskState.ON_HOLD, TaskState.TODO): "released by a person",
    (TaskState.ON_HOLD, TaskState.CANCELLED): "cancelled by a person, or gone from the list",
    (TaskState.ON_HOLD, TaskState.DONE): "said to be done by a person",
    (TaskState.CANCELLED, TaskState.TODO): "requeued by a person, or back in the list",
    (TaskState.DONE, TaskState.TODO): "reopened by a person",
}

#: States in which nothing more happens without a person.
RESTING = frozenset({TaskState.NEEDS_PERSON, TaskState.ON_HOLD, TaskState.CANCELLED})


@frozen
class TaskSpec:
    """One task as its list says it, after parsing. `status` counts on the first import only."""

    id: str
    title: str
    body: str = ""
    after: tuple[TaskRef, ...] = ()
    type: str = "general"
    priority: int = 0
    agents: tuple[str, ...] = ()
    verify: str | None = None
    touches: tuple[str, ...] = ()
    timeout_s: float | None = None
    attempts: int | None = None
    status: TaskState = TaskState.TODO
    parent: str | None = None
    is_group: bool = False
    line: int = 1


@frozen
class Task:
    """One row of the store.

    `position` is the order in the file. `unmet` counts the prerequisites that are not done. `retry_at` and
    `changed_at` are wall seconds UTC. `lease_expires` is CLOCK_MONOTONIC seconds of boot `lease_boot`; it is
    None while nobody holds a lease that can run out. `attempts` counts used attempts, `interruptions` the
    runs that ended through no fault of the work. `sent_to` and `brief` are set when a person sent it back: the
    only agent that may take it next, and what the next run is told.
    `kept_run` ended at a limit or with a question, and its workspace waits for its agent, `kept_for`, to go on; until
    `kept_until` (wall seconds UTC) nobody else takes it.
    """

    region: str
    id: str
    title: str
    body: str
    type: str
    priority: int
    position: int
    state: TaskState
    reason: str
    changed_at: float
    prerequisites: tuple[TaskRef, ...] = ()
    unmet: int = 0
    agents: tuple[str, ...] = ()
    verify: str | None = None
    touches: tuple[str, ...] = ()
    timeout_s: float | None = None
    max_attempts: int | None = None
    attempts: int = 0
    interruptions: int = 0
    retry_at: float | None = None
    is_group: bool = False
    parent: str | None = None
    vanished: bool = False
    done_by: DoneBy | None = None
    done_commit: str | None = None
    lease_owner: str | None = None
    lease_version: int = 0
    lease_boot: str | None = None
    lease_expires: float | None = None
    lease_expires_wall: float | None = None
    sent_to: str | None = None
    brief: str = ""
    kept_run: int | None = None
    kept_for: str | None = None
    kept_until: float | None = None

    @property
    def ref(self) -> TaskRef:
        return TaskRef(self.region, self.id)

    @property
    def takers(self) -> tuple[str, ...]:
        """The only agents that may take it next; empty: every one."""
        return (self.sent_to,) if self.sent_to else self.agents

    def is_kept_from(self, agent: str, now: float) -> bool:
        """Tell whether another agent's work on it is kept, and still has the first right to go on (`now`: wall)."""
        return self.kept_for not in (None, agent) and self.kept_until is not None and self.kept_until > now

    def lease_ran_out(self, now: Instant) -> bool:
        """Tell whether somebody held a lease on it and may not act for it any more."""
        if self.lease_boot is None or self.lease_expires is None:
            return False
        return Deadline(self.lease_boot, self.lease_expires).passed(now)
