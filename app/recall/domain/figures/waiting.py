"""What waits for a person, and the next thing to do about it that can be taken back or loses nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from recall.domain.frozen import frozen
from recall.domain.intervention import why_no_answer
from recall.domain.merge import MergeState
from recall.domain.overview import Overview
from recall.domain.run import Run
from recall.domain.task import Task, TaskRef, TaskState


@frozen
class Waiting:
    """`what` is a task, an agent or a part of Recall, `action` a command to type, or words where there is none."""

    what: str
    why: str
    action: str


def waiting_of(overview: Overview, latest: Mapping[TaskRef, Run]) -> tuple[Waiting, ...]:
    """First what holds everything, then tasks, oldest first, then agents. `latest` is each task's newest run."""
    return (*_held(overview), *_tasks(overview, latest), *_agents(overview))


def _held(overview: Overview) -> Iterator[Waiting]:
    if overview.shortage:
        yield Waiting("disk", overview.shortage, "make room on it; nothing else is needed")
    elif overview.dispatch_held:
        yield Waiting("recall.toml", overview.dispatch_held, "recall config trust")
    if overview.queue_held:
        yield Waiting("merge queue", overview.queue_held, "look at main with `git log`, then `recall resume`")
    for entry in overview.merges:
        if entry.state is MergeState.WAITING_CHECKOUT:
            why = f"waits for your checkout: {entry.reason}"
            yield Waiting(str(entry.ref), why, f"commit or move these files, then `recall queue retry {entry.ref}`")

        elif entry.is_offered:
            yield Waiting(str(entry.ref), entry.reason, "merge it at the remote, or close it")


def _tasks(overview: Overview, latest: Mapping[TaskRef, Run]) -> Iterator[Waiting]:
    conflicts = {entry.ref: entry.reason for entry in overview.merges if entry.state is MergeState.CONFLICT}
    for task in sorted(overview.tasks, key=lambda one: one.changed_at):
        if task.state is TaskState.ON_HOLD:
            yield Waiting(str(task.ref), f"on hold: {task.reason}", f"recall unhold {task.ref}")
        elif task.state is TaskState.NEEDS_PERSON:
            why = conflicts.get(task.ref) or task.reason or "needs a person"
            yield Waiting(str(task.ref), why, _action(task, latest.get(task.ref), conflict=task.ref in conflicts))


def _action(task: Task, last: Run | None, *, conflict: bool) -> str:
    if conflict:
        return f"recall resolve {task.ref}"
    if not why_no_answer(task, last):
        return f'recall answer {task.ref} "your answer"'
    return f"`recall show {task.ref}`, then `recall requeue {task.ref}`"


def _agents(overview: Overview) -> Iterator[Waiting]:
    for agent in overview.agents:
        if agent.stopped_reason:
            yield Waiting(agent.name, agent.stopped_reason, f"mend that, then `recall resume {agent.name}`")
        elif agent.suspicions:
            yield Waiting(agent.name, agent.cooling_reason, f"mend it, then `recall resume {agent.name}`")
