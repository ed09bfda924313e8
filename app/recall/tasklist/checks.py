"""What only shows when all tasks of a list are seen together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recall.domain.task import TaskState
from recall.tasklist.cycles import find_cycles
from recall.tasklist.labels import Field
from recall.tasklist.problem import Problem, error, note, warning
from recall.tasklist.references import Index, read_references
from recall.tasklist.resolve import Resolved

_SETTLED = frozenset({TaskState.DONE, TaskState.CANCELLED})


def check(tasks: Sequence[Resolved], done: dict[str, bool], region: str) -> Iterator[Problem]:
    """Report what the whole list shows; `done` is `listing.counts_as_done`."""
    yield from _doubled(tasks)
    yield from _twins(tasks)
    yield from _cycles(tasks, region)
    yield from _never_done(tasks, region)
    yield from _done_too_early(tasks, done, region)
    yield from _done_groups(tasks, done)
    for task in tasks:
        if task.draft.automatic:
            yield note(
                "automatic_id",
                task.draft.line,
                f"`{task.draft.title}` has no id and is called {task.draft.id}",
                id=task.draft.id,
            )


def check_strays(strays: Sequence[Field], index: Index) -> Iterator[Problem]:
    """Report prerequisites that no task stands above. Without an id in them they are prose."""
    for each in strays:
        named = read_references(each.value, index)
        if any(ref.id in index.ids for ref in named.refs):
            message = (
                f"`{each.label}` names tasks but stands under none, so it holds nothing back; move it under a task"
            )
            yield warning("stray_prereq", each.line, message, column=each.column)


def _doubled(tasks: Sequence[Resolved]) -> Iterator[Problem]:
    places: dict[str, list[Resolved]] = {}
    for task in tasks:
        places.setdefault(task.draft.id, []).append(task)
    for id, same in places.items():
        for task in same if len(same) > 1 else ():
            other = same[1] if task is same[0] else same[0]
            message = f"{id} is also the id of the task on line {other.draft.line + 1}; rename one of them"
            yield error("duplicate_id", task.draft.line, message, id=id, column=task.draft.column)


def _twins(tasks: Sequence[Resolved]) -> Iterator[Problem]:
    spelled: dict[str, Resolved] = {}
    for task in tasks:
        first = spelled.setdefault(task.draft.id.casefold(), task)
        if first.draft.id != task.draft.id:
            message = (
                f"{task.draft.id} differs from {first.draft.id} on line {first.draft.line + 1} in case only, which "
                "some file systems cannot tell apart; rename one of them"
            )
            yield error("case_twin", task.draft.line, message, id=task.draft.id, column=task.draft.column)


def _cycles(tasks: Sequence[Resolved], region: str) -> Iterator[Problem]:
    by_id = {task.draft.id: task for task in reversed(tasks)}
    graph: dict[str, list[str]] = {task.draft.id: [] for task in tasks}
    for task in tasks:
        graph[task.draft.id] += [ref.id for ref in task.after if ref.region == region and ref.id in graph]
        if task.draft.parent and task.draft.parent.id != task.draft.id:
            graph[task.draft.parent.id].append(task.draft.id)
    for cycle in find_cycles(graph):
        path = " → ".join((*cycle, cycle[0]))
        first = by_id[cycle[0]].draft
        message = (
            f"these tasks wait for one another: {path}{_groups_in(cycle, by_id)}; take one of these prerequisites out"
        )
        yield error("cycle", first.line, message, id=first.id, column=first.column)


def _groups_in(cycle: list[str], by_id: dict[str, Resolved]) -> str:
    inside = [
        f"{target} is a sub-task of {id}"
        for id, target in zip(cycle, (*cycle[1:], cycle[0]), strict=True)
        if (parent := by_id[target].draft.parent) and parent.id == id
    ]
    return f" ({', '.join(inside)})" if inside else ""


def _never_done(tasks: Sequence[Resolved], region: str) -> Iterator[Problem]:
    cancelled = {task.draft.id for task in tasks if task.state is TaskState.CANCELLED}
    for task in tasks:
        for ref in task.after if task.state not in _SETTLED else ():
            if ref.region == region and ref.id in cancelled:
                message = (
                    f"{task.draft.id} can never run: its prerequisite {ref.id} is cancelled; take it out or reopen it"
                )
                yield warning("prereq_never_done", task.draft.line, message, id=task.draft.id)


def _done_too_early(tasks: Sequence[Resolved], done: dict[str, bool], region: str) -> Iterator[Problem]:
    for task in tasks:
        if task.state is not TaskState.DONE:
            continue
        missing = [ref.id for ref in task.own_after if ref.region == region and not done.get(ref.id, True)]
        if missing:
            names = ", ".join(dict.fromkeys(missing))
            message = (
                f"{task.draft.id} is marked done, but its prerequisites are not: {names}; correct one of the marks"
            )
            yield warning("done_before_prereqs", task.draft.line, message, id=task.draft.id)


def _done_groups(tasks: Sequence[Resolved], done: dict[str, bool]) -> Iterator[Problem]:
    for task in tasks:
        if task.draft.is_group and task.state is TaskState.DONE and not done[task.draft.id]:
            message = (
                f"{task.draft.id} is marked done, but some of its sub-tasks are open; it counts as done when they are"
            )
            yield warning("parent_done_child_open", task.draft.line, message, id=task.draft.id)
