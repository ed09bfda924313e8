"""What a command acts on."""

from __future__ import annotations

from recall.domain.agent import Agent
from recall.domain.frozen import frozen
from recall.domain.merge import MergeEntry
from recall.domain.overview import Overview
from recall.domain.run import Run
from recall.domain.task import Task, TaskRef


@frozen
class Context:
    """What is selected, and the store as it is now."""

    overview: Overview
    task: Task | None = None
    agent: Agent | None = None
    entry: MergeEntry | None = None
    run: Run | None = None

    @property
    def ref(self) -> TaskRef:
        """The selected task. Raises LookupError without one: a command for a task states that it needs one."""
        if self.task is None:
            raise LookupError("a command for a task was run without one")
        return self.task.ref
