"""Where the whole list stands: can anything still move by itself, and what waits for a person?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from recall.domain.agent import Agent
from recall.domain.frozen import frozen
from recall.domain.merge import MergeEntry, MergeState
from recall.domain.receipts import Receipt, needs_person, waiting_words
from recall.domain.run import Run, RunState
from recall.domain.task import Task, TaskRef, TaskState

_MOVING_MERGES = frozenset({MergeState.QUEUED, MergeState.VERIFYING, MergeState.LANDING})


@frozen
class Standing:
    """`moving`: something runs, or will start by itself. `waits`: one sentence for each thing that only a
    person can move. `finished` counts done and cancelled tasks."""

    total: int
    finished: int
    moving: bool
    waits: tuple[str, ...]

    @property
    def complete(self) -> bool:
        return self.finished == self.total


def standing(
    tasks: Sequence[Task],
    agents: Sequence[Agent],
    runs: Sequence[Run],
    merges: Sequence[MergeEntry],
    *,
    queue_held: str = "",
    dispatch_held: str = "",
    problems: Sequence[str] = (),
    over_budget: Mapping[TaskRef, str] = MappingProxyType({}),
    receipts: Sequence[Receipt] = (),
) -> Standing:
    """Sum everything up. `queue_held` says why nothing lands, `dispatch_held` why nothing new starts, when only a
    person can change that; `problems` are errors in a task list, whose last good version is in force;
    `over_budget` are tasks on which nothing more may be spent, `receipts` outside actions that are not done."""
    in_conflict = {entry.ref for entry in merges if entry.state is MergeState.CONFLICT}
    waits = [
        f"{task.ref}: {task.reason or 'needs a person'}"
        for task in tasks
        if task.state is TaskState.NEEDS_PERSON and task.ref not in in_conflict
    ]
    waits += [f"{task.ref}: on hold, {task.reason}" for task in tasks if task.state is TaskState.ON_HOLD]
    waits += [f"{entry.ref}: {entry.reason}" for entry in merges if entry.state is MergeState.WAITING_CHECKOUT]
    waits += [f"{entry.ref}: {entry.reason}" for entry in merges if entry.is_offered]
    waits += [
        f"{entry.ref}: {entry.reason}; `recall resolve {entry.ref}` shows what you can do"
        for entry in merges
        if entry.state is MergeState.CONFLICT
    ]
    waits += dict.fromkeys(waiting_words(receipt) for receipt in receipts if needs_person(receipt))
    waits += problems
    waits += [f"the merge queue is held: {queue_held}"] if queue_held else []
    waits += [f"nothing new starts: {dispatch_held}"] if dispatch_held else []
    waits += [f"{agent.name}: {agent.over_budget}" for agent in agents if agent.over_budget]
    startable = [task for task in _startable(tasks) if task.ref not in over_budget]
    waits += [f"{ref}: {words}" for ref, words in over_budget.items()]
    stuck = [] if dispatch_held else [task for task in startable if not _somebody(task, agents)]
    waits += [f"{task.ref}: no agent may take it (paused, stopped, disabled, spent or not allowed)" for task in stuck]
    busy = any(run.state is not RunState.LANDING for run in runs)
    landing = not queue_held and any(map(_moves, merges))
    ready = not dispatch_held and any(_somebody(task, agents) for task in startable)
    finished = sum(task.state in (TaskState.DONE, TaskState.CANCELLED) for task in tasks)
    if finished < len(tasks):
        waits += [f"{agent.name}: {agent.cooling_reason}" for agent in agents if agent.suspicions]
    return Standing(len(tasks), finished, busy or landing or ready, tuple(waits))


def _moves(entry: MergeEntry) -> bool:
    return entry.state in _MOVING_MERGES or (entry.state is MergeState.PULL_REQUEST and not entry.is_offered)


def _startable(tasks: Sequence[Task]) -> list[Task]:
    return [task for task in tasks if task.state is TaskState.TODO and not task.unmet and not task.is_group]


def _somebody(task: Task, agents: Sequence[Agent]) -> bool:
    free = [one for one in agents if not (one.paused or one.stopped_reason or one.over_budget)]
    return any(may_take(agent, task) for agent in free)


def may_take(agent: Agent, task: Task) -> bool:
    """Tell whether configuration and task list allow Recall to start the agent on the task, whatever it does now."""
    allowed = not task.takers or agent.name in task.takers
    return agent.enabled and not agent.driven and allowed and (not agent.types or task.type in agent.types)
