"""What a person may do to a task, and in which words it is refused."""

from __future__ import annotations

from enum import StrEnum

from recall.domain.merge import MergeState
from recall.domain.run import Run, RunResult
from recall.domain.task import TASK_MOVES, Task, TaskState


class Wish(StrEnum):
    """The words that people use, and that events carry."""

    REQUEUE = "requeue"
    HOLD = "hold"
    UNHOLD = "unhold"
    CANCEL = "cancel"
    FINISH = "finish"


#: Where each wish brings a task.
TARGETS: dict[Wish, TaskState] = {
    Wish.REQUEUE: TaskState.TODO,
    Wish.HOLD: TaskState.ON_HOLD,
    Wish.UNHOLD: TaskState.TODO,
    Wish.CANCEL: TaskState.CANCELLED,
    Wish.FINISH: TaskState.DONE,
}

_SAID: dict[TaskState, str] = {
    TaskState.TODO: "waits for its turn",
    TaskState.IN_PROGRESS: "is running",
    TaskState.LANDING: "is on its way to main",
    TaskState.DONE: "is done",
    TaskState.NEEDS_PERSON: "needs a person",
    TaskState.ON_HOLD: "is on hold",
    TaskState.CANCELLED: "is cancelled",
}

_WAY_OUT: dict[tuple[Wish, TaskState], str] = {
    (Wish.REQUEUE, TaskState.IN_PROGRESS): "cancel it first",
    (Wish.HOLD, TaskState.LANDING): "cancel it, or wait",
    (Wish.HOLD, TaskState.DONE): "requeue reopens it",
    (Wish.HOLD, TaskState.CANCELLED): "requeue brings it back",
    (Wish.CANCEL, TaskState.DONE): "requeue reopens it",
    (Wish.UNHOLD, TaskState.NEEDS_PERSON): "requeue sends it out again",
    (Wish.UNHOLD, TaskState.CANCELLED): "requeue brings it back",
    (Wish.FINISH, TaskState.LANDING): "cancel it first, or wait",
    (Wish.FINISH, TaskState.CANCELLED): "requeue it first",
}


def why_not(wish: Wish, task: Task, merge: MergeState | None) -> str:
    """Say why this wish cannot be granted; empty: it can. `merge` is the state of the task's open entry."""
    if merge is MergeState.LANDING:
        return f"{task.ref} is being landed this moment: wait for it"
    if task.is_group and wish is Wish.HOLD:
        return f"{task.ref} is a group, nothing runs it: hold its sub-tasks"
    if task.is_group and wish is Wish.REQUEUE and task.state is TaskState.DONE:
        return f"{task.ref} is a group, done when its sub-tasks are: requeue one of them"
    if _is_possible(wish, task):
        return ""
    way_out = _WAY_OUT.get((wish, task.state), "")
    return f"{task.ref} {_SAID[task.state]}" + (
        f": {way_out}" if way_out else " already" if _is_there(wish, task) else ""
    )


def why_no_answer(task: Task, last: Run | None) -> str:
    """Say why there is nothing to answer; empty: its newest run, `last`, asked and waits for it."""
    asked = last is not None and last.result is RunResult.QUESTION
    if task.state is TaskState.NEEDS_PERSON:
        return "" if asked else f"{task.ref} asks nothing, it needs a person because: {task.reason}"
    if asked and task.state is TaskState.TODO:
        return f"{task.ref} {_SAID[task.state]}: its question is settled already"
    return f"{task.ref} {_SAID[task.state]}, it asks nothing"


def _is_possible(wish: Wish, task: Task) -> bool:
    if wish is Wish.UNHOLD:
        return task.state is TaskState.ON_HOLD
    if wish is Wish.REQUEUE and task.state is TaskState.TODO:
        return bool(task.attempts or task.interruptions or task.retry_at is not None or task.kept_run is not None)
    if wish is Wish.REQUEUE and task.state is TaskState.IN_PROGRESS:
        return False
    return (task.state, TARGETS[wish]) in TASK_MOVES and (wish, task.state) not in _WAY_OUT


def _is_there(wish: Wish, task: Task) -> bool:
    return task.state is TARGETS[wish]
