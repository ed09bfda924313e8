"""What an import of a task list brings, and what it changes: values."""

from __future__ import annotations

from collections.abc import Mapping

from recall.domain.frozen import frozen
from recall.domain.task import TaskRef, TaskSpec

#: The setting that holds, a line each, why the newest versions of the task lists are not in force.
LIST_PROBLEMS = "list.problems"
Value = str | float | None
#: Region and id of a task, then of a prerequisite.
Edge = tuple[str, str, str, str]


@frozen
class Listing:
    """A list made ready to be compared with the store. `specs` are cleaned and in file order, `rows` what the store
    would keep of each. `outside` are the prerequisites that no task of the list is, each after the task that names
    it; `problems` what the list alone shows to be wrong. `behind` is how long a chain waits for each task where no
    other list exists, None where there is a cycle."""

    region: str
    specs: Mapping[TaskRef, TaskSpec]
    rows: Mapping[TaskRef, tuple[Value, ...]]
    edges: frozenset[Edge]
    behind: Mapping[TaskRef, int] | None
    outside: tuple[tuple[TaskRef, TaskRef], ...] = ()
    problems: tuple[str, ...] = ()


@frozen
class ImportDiff:
    """What one import did, or would do. `returned` are tasks that had vanished and are back. `warnings` are
    full sentences (`T-09 can never run: T-07 was cancelled`). `refused` holds the errors that only the store
    can see (an unknown prerequisite in another region, a cycle across regions); then nothing was written."""

    new: tuple[TaskRef, ...] = ()
    changed: tuple[TaskRef, ...] = ()
    vanished: tuple[TaskRef, ...] = ()
    returned: tuple[TaskRef, ...] = ()
    unchanged: int = 0
    warnings: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
