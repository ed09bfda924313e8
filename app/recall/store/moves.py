"""The one place where a task, a run or a merge entry changes its state. What follows from it, the counters of
unmet prerequisites and the groups, changes in the same transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recall.domain.errors import RecallError
from recall.domain.run import RUN_MOVES, Run, RunResult, RunState
from recall.domain.task import TASK_MOVES, DoneBy, TaskRef, TaskState
from recall.domain.text import clean
from recall.store import events
from recall.store.transaction import Rows, Transaction

if TYPE_CHECKING:
    from recall.domain.merge import MergeEntry, MergeState

_MOVE_TASK = """
UPDATE tasks SET status = :after, status_reason = :reason, status_changed_at = :wall, status_changed_mono = :mono,
  done_by = :done_by, done_commit = :done_commit, done_agent = :done_agent, cancelled_by_list = 0,
  lease_boot = NULL, lease_expires = NULL, lease_expires_wall = NULL,
  kept_run = iif(:after IN ('landing', 'done', 'cancelled'), NULL, kept_run),
  kept_for = iif(:after IN ('landing', 'done', 'cancelled'), NULL, kept_for)
WHERE region = :region AND id = :id AND status = :before
"""
_MOVE_RUN = """
UPDATE runs SET state = :after, result = :result, reason = :reason,
  settled_at = CASE WHEN :after = 'settled' THEN :wall END
WHERE id = :id AND state = :before
"""
_MOVE_MERGE = """
UPDATE merges SET state = :after, reason = :reason, changed_at = :wall WHERE id = :id AND state = :before
"""
_DEPENDANTS = """
UPDATE tasks SET unmet = unmet + :by
WHERE (region, id) IN
  (SELECT region, task FROM task_prerequisites WHERE needs_region = :region AND needs_task = :id)
RETURNING region, id, unmet
"""
_GROUP_OF = """
SELECT g.id, g.status, g.done_by FROM tasks t JOIN tasks g ON g.region = t.region AND g.id = t.parent
WHERE t.region = :region AND t.id = :id
"""
_SUB_TASKS = """
SELECT count(*) AS sub_tasks, count(*) FILTER (WHERE status IN ('done', 'cancelled')) AS closed FROM tasks
WHERE region = :region AND parent = :id
"""
#: A sub-task in one of these states does not keep its group open.
_CLOSED = frozenset({TaskState.DONE, TaskState.CANCELLED})


class IllegalMove(RecallError):
    """A state machine was asked for a move that its table does not list. A fault in Recall: please report it."""


def move_task(
    tx: Transaction,
    ref: TaskRef,
    before: TaskState,
    after: TaskState,
    reason: str = "",
    *,
    done_by: DoneBy | None = None,
    done_commit: str | None = None,
    done_agent: str | None = None,
) -> None:
    """Move a task's row, with everything that being done, or not any more, means for others. The lease's end
    goes; its owner stays until the run is settled."""
    _set_task(tx, ref, before, after, reason, done_by, done_commit, done_agent)
    if after is TaskState.DONE:
        _count_for_dependants(tx, ref, -1)
    elif before is TaskState.DONE:
        _count_for_dependants(tx, ref, +1)
    if after in _CLOSED:
        _close_groups_above(tx, ref)
    elif before in _CLOSED:
        _reopen_groups_above(tx, ref)


def move_run(tx: Transaction, run: Run, after: RunState, result: RunResult | None = None, reason: str = "") -> None:
    if (run.state, after) not in RUN_MOVES:
        raise IllegalMove(f"run {run.id} of {run.ref} cannot go from {run.state} to {after}; please report this")
    _exactly_one(
        tx.change(
            _MOVE_RUN,
            {
                "id": run.id,
                "before": run.state,
                "after": after,
                "result": result,
                "reason": clean(reason),
                "wall": tx.now.wall,
            },
        ),
        f"run {run.id}",
    )


def move_merge(tx: Transaction, entry: MergeEntry, after: MergeState, reason: str = "") -> None:
    from recall.domain.merge import MERGE_MOVES

    if (entry.state, after) not in MERGE_MOVES:
        raise IllegalMove(
            f"merge entry {entry.id} of {entry.ref} cannot go from {entry.state} to {after}; please report this"
        )
    values = {
        "id": entry.id,
        "before": entry.state,
        "after": after,
        "reason": clean(reason),
        "wall": tx.now.wall,
    }
    _exactly_one(tx.change(_MOVE_MERGE, values), f"merge entry {entry.id}")


def complete_group(tx: Transaction, ref: TaskRef) -> None:
    """Make this group done if every sub-task of it is done or cancelled."""
    row = tx.one("SELECT status FROM tasks WHERE region = :region AND id = :id AND is_group = 1", ref._asdict())
    if row and _may_finish(tx, ref, TaskState(row["status"])):
        _finish_group(tx, ref, TaskState(row["status"]))
        _close_groups_above(tx, ref)


def reopen_group(tx: Transaction, ref: TaskRef) -> None:
    """Take back that a group is done when it is so by its sub-tasks and one of them is open."""
    row = tx.one("SELECT done_by FROM tasks WHERE region = :region AND id = :id AND is_group = 1", ref._asdict())
    if row and row["done_by"] == DoneBy.GROUP and not _all_sub_tasks_closed(tx, ref):
        _reopen_group(tx, ref)
        _reopen_groups_above(tx, ref)


def _set_task(
    tx: Transaction,
    ref: TaskRef,
    before: TaskState,
    after: TaskState,
    reason: str,
    done_by: DoneBy | None = None,
    done_commit: str | None = None,
    done_agent: str | None = None,
) -> None:
    if (before, after) not in TASK_MOVES:
        raise IllegalMove(f"task {ref} cannot go from {before} to {after}; please report this")
    values = {
        "region": ref.region,
        "id": ref.id,
        "before": before,
        "after": after,
        "reason": clean(reason),
        "wall": tx.now.wall,
        "mono": tx.now.mono,
        "done_by": done_by,
        "done_commit": done_commit,
        "done_agent": done_agent,
    }
    _exactly_one(tx.change(_MOVE_TASK, values), f"task {ref}")


def _close_groups_above(tx: Transaction, ref: TaskRef) -> None:
    group = _group_of(tx, ref)
    while group is not None and _may_finish(tx, group[0], group[1]):
        _finish_group(tx, group[0], group[1])
        group = _group_of(tx, group[0])


def _reopen_groups_above(tx: Transaction, ref: TaskRef) -> None:
    group = _group_of(tx, ref)
    while group is not None and group[2] is DoneBy.GROUP:
        _reopen_group(tx, group[0])
        group = _group_of(tx, group[0])


def _count_for_dependants(tx: Transaction, ref: TaskRef, by: int) -> None:
    for row in tx.all(_DEPENDANTS, {"region": ref.region, "id": ref.id, "by": by}):
        dependant = TaskRef(row["region"], row["id"])
        if by < 0 and row["unmet"] == 0:
            events.append(tx, "task.unlocked", actor="store", ref=dependant, reason=f"{ref} is done")
        elif by > 0 and row["unmet"] == by:
            events.append(tx, "task.locked", actor="store", ref=dependant, reason=f"{ref} is not done any more")


def _group_of(rows: Rows, ref: TaskRef) -> tuple[TaskRef, TaskState, DoneBy | None] | None:
    row = rows.one(_GROUP_OF, ref._asdict())
    if row is None:
        return None
    done_by = DoneBy(row["done_by"]) if row["done_by"] else None
    return TaskRef(ref.region, row["id"]), TaskState(row["status"]), done_by


def _may_finish(rows: Rows, group: TaskRef, state: TaskState) -> bool:
    return (state, TaskState.DONE) in TASK_MOVES and _all_sub_tasks_closed(rows, group)


def _all_sub_tasks_closed(rows: Rows, group: TaskRef) -> bool:
    row = rows.one(_SUB_TASKS, group._asdict())
    return row is not None and 0 < row["sub_tasks"] == row["closed"]


def _finish_group(tx: Transaction, group: TaskRef, state: TaskState) -> None:
    reason = "every sub-task is done or cancelled"
    _set_task(tx, group, state, TaskState.DONE, reason, DoneBy.GROUP)
    events.append(tx, "task.done", actor="store", ref=group, before=state, after=TaskState.DONE, reason=reason)
    _count_for_dependants(tx, group, -1)


def _reopen_group(tx: Transaction, group: TaskRef) -> None:
    reason = "a sub-task is open again"
    _set_task(tx, group, TaskState.DONE, TaskState.TODO, reason)
    events.append(
        tx, "task.reopened", actor="store", ref=group, before=TaskState.DONE, after=TaskState.TODO, reason=reason
    )
    _count_for_dependants(tx, group, +1)


def _exactly_one(changed: int, what: str) -> None:
    if changed != 1:
        raise IllegalMove(f"{what} was not in the state it was read in; please report this")
