"""What is selected: the pane with the keys decides whether that is a task, an agent, an entry or a need."""

from __future__ import annotations

from recall.domain.frozen import frozen
from recall.domain.task import TaskRef
from recall.ui.context import Context
from recall.ui.ledger import Seen
from recall.ui.roll import Roll, task_of


@frozen
class Cursors:
    """The keys of the rows that the cursors are on, and the pane in focus: `tasks`, `agents`, `queue`, `log` or
    `needs`, or "" for none."""

    pane: str = ""
    tasks: str = ""
    agents: str = ""
    queue: str = ""
    needs: str = ""


def context_of(seen: Seen, roll: Roll, cursors: Cursors) -> Context:
    """Give what a command acts on."""
    ref, overview = _ref(seen, cursors), seen.overview
    agent_key = cursors.needs if cursors.pane == "needs" else cursors.agents
    return Context(
        overview,
        roll.find(ref),
        next((one for one in overview.agents if f"agent:{one.name}" == agent_key), None),
        next((one for one in overview.merges if one.ref == ref), None),
        seen.latest.get(ref) if ref is not None else None,
    )


def ref_of(seen: Seen, key: str) -> TaskRef | None:
    """Read the key of a task's row, or of a merge entry's."""
    return task_of(key) or next((one.ref for one in seen.overview.merges if f"merge:{one.id}" == key), None)


def _ref(seen: Seen, cursors: Cursors) -> TaskRef | None:
    if cursors.pane == "queue":
        return ref_of(seen, cursors.queue)
    if cursors.pane == "needs":
        return ref_of(seen, cursors.needs)
    if cursors.pane == "agents":
        return next((run.ref for run in seen.overview.runs if f"agent:{run.agent}" == cursors.agents), None)
    return task_of(cursors.tasks)
