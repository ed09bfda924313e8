"""A parsed task list, and what follows from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from recall.domain.frozen import frozen
from recall.domain.task import DEFAULT_REGION, TaskRef, TaskSpec, TaskState
from recall.tasklist.problem import Problem, Severity


@frozen
class TaskList:
    """Tasks in file order, also those that problems speak of. `source` is the file's name, for people."""

    tasks: tuple[TaskSpec, ...]
    problems: tuple[Problem, ...]
    region: str = DEFAULT_REGION
    source: str = "TASKS.md"

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity is Severity.ERROR)

    @property
    def ok(self) -> bool:
        """Only a list without errors may be imported: all of it, or nothing."""
        return not self.errors


def counts_as_done(tasks: Sequence[TaskSpec]) -> dict[str, bool]:
    """Say of each id whether its dependants may start, going by the list alone.

    A group is done when each of its sub-tasks is done or cancelled, whatever its own box says; a doubled id
    is done for nobody. Groups stand before their sub-tasks.
    """
    doubled = doubled_ids(tasks)
    open_children = Counter[str]()
    done: dict[str, bool] = {}
    for task in reversed(tasks):
        if task.is_group:
            done[task.id] = not open_children[task.id] and task.status is not TaskState.CANCELLED
        else:
            done[task.id] = task.status is TaskState.DONE
        if task.parent and not done[task.id] and task.status is not TaskState.CANCELLED:
            open_children[task.parent] += 1
    return done | dict.fromkeys(doubled, False)


def doubled_ids(tasks: Sequence[TaskSpec]) -> set[str]:
    return {id for id, count in Counter(task.id for task in tasks).items() if count > 1}


def runnable(tasks: Sequence[TaskSpec], region: str = DEFAULT_REGION) -> set[str]:
    """Give the ids that an agent could start at once: todo, no group, not doubled, every prerequisite done.

    A prerequisite in another region counts as open, since this list cannot know.
    """
    done = counts_as_done(tasks)
    doubled = doubled_ids(tasks)
    return {
        task.id
        for task in tasks
        if task.status is TaskState.TODO
        and not task.is_group
        and task.id not in doubled
        and all(ref.region == region and done.get(ref.id, False) for ref in task.after)
    }


def as_json(task_list: TaskList) -> dict[str, list[dict[str, object]]]:
    """Give the shape that `recall import --dry-run --json` prints."""
    ready = runnable(task_list.tasks, task_list.region)
    return {
        "tasks": [
            {
                "id": task.id,
                "title": task.title,
                "status": task.status.value,
                "prereqs": [_spell(ref, task_list.region) for ref in task.after],
                "type": task.type,
                "priority": task.priority,
                "runnable": task.id in ready,
            }
            for task in task_list.tasks
        ],
        "problems": [
            {
                "type": problem.type,
                "line": problem.line,
                "column": problem.column,
                "id": problem.id,
                "message": problem.message,
            }
            for problem in task_list.problems
        ],
    }


def _spell(ref: TaskRef, region: str) -> str:
    return ref.id if ref.region == region else f"{ref.region}:{ref.id}"
