"""What the deciders see: the store at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from recall.domain.agent import Agent
from recall.domain.frozen import frozen
from recall.domain.task import Task, TaskRef


@frozen
class Snapshot:
    """`ready`: tasks in `todo` with nothing unmet, no groups. `running`: tasks in progress.
    `behind`: how long the longest chain of work behind a task is (a task nobody waits for has 0).
    `done_by_agent`: who did each prerequisite of a ready task. `over_budget`: ready tasks on which nothing more may
    be spent, and why. `now` is wall seconds UTC."""

    now: float
    ready: tuple[Task, ...] = ()
    running: tuple[Task, ...] = ()
    agents: tuple[Agent, ...] = ()
    behind: Mapping[TaskRef, int] = field(default_factory=dict[TaskRef, int])
    done_by_agent: Mapping[TaskRef, str] = field(default_factory=dict[TaskRef, str])
    dispatching: bool = True
    paused_reason: str = ""
    over_budget: Mapping[TaskRef, str] = field(default_factory=dict[TaskRef, str])


@frozen
class Assign:
    """One decision: this agent takes this task, for this reason."""

    ref: TaskRef
    agent: str
    reason: str
