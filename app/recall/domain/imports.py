"""What an import of a task list changes: the difference, as values."""

from __future__ import annotations

from recall.domain.frozen import frozen
from recall.domain.task import TaskRef


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
