"""Writes an import's plan: rows are added and changed, never deleted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from recall.domain.imports import ImportDiff, Listing
from recall.domain.task import DoneBy, TaskRef, TaskState
from recall.store import events, moves
from recall.store.import_plan import ImportPlan, Kept, Known, plan
from recall.store.listing import COLUMNS
from recall.store.transaction import Rows, Transaction, Values

_REGION = """
INSERT INTO regions (name, imported_at) VALUES (:region, :wall)
ON CONFLICT (name) DO UPDATE SET imported_at = :wall
"""
_INSERT = """
INSERT INTO tasks (region, id, title, body, type, priority, listed_priority, position, agents, touches, verify,
  timeout_s, max_attempts, is_group, parent, status, status_changed_at, status_changed_mono, done_by)
VALUES (:region, :id, :title, :body, :type, :listed_priority, :listed_priority, :position, :agents, :touches, :verify,
  :timeout_s, :max_attempts, :is_group, :parent, :state, :wall, :mono, :done_by)
"""
_UPDATE = """
UPDATE tasks SET title = :title, body = :body, type = :type,
  priority = CASE WHEN listed_priority = :listed_priority THEN priority ELSE :listed_priority END,
  listed_priority = :listed_priority,
  agents = :agents, touches = :touches, verify = :verify, timeout_s = :timeout_s, max_attempts = :max_attempts,
  is_group = :is_group, parent = :parent
WHERE region = :region AND id = :id
"""
# the columns behind the sixth are those of listing.COLUMNS
_KNOWN = """
SELECT region, id, status, position, vanished, cancelled_by_list, title, body, type, listed_priority, agents, verify,
  touches, timeout_s, max_attempts, is_group, parent
FROM tasks ORDER BY region, position, id
"""
_COUNT_UNMET = """
UPDATE tasks SET unmet = (SELECT count(*) FROM task_prerequisites p
  JOIN tasks d ON d.region = p.needs_region AND d.id = p.needs_task
  WHERE p.region = tasks.region AND p.task = tasks.id AND d.status <> 'done')
WHERE region = :region AND id = :id
"""
_MOVE = "UPDATE tasks SET position = :position WHERE region = :region AND id = :id"
_NEED = "INSERT INTO task_prerequisites VALUES (:region, :id, :needs_region, :needs_task)"
_NEED_NOTHING = "DELETE FROM task_prerequisites WHERE region = :region AND task = :id"
_BEHIND = "UPDATE tasks SET behind = :behind WHERE region = :region AND id = :id"
_MARK_VANISHED = "UPDATE tasks SET vanished = 1 WHERE region = :region AND id = :id"
_MARK_CANCELLED_BY_LIST = "UPDATE tasks SET cancelled_by_list = 1 WHERE region = :region AND id = :id"
_UNMARK_VANISHED = "UPDATE tasks SET vanished = 0 WHERE region = :region AND id = :id"
_REVIVE = """
UPDATE tasks SET lease_version = lease_version + 1, attempts = 0, interruptions = 0, retry_at = NULL
WHERE region = :region AND id = :id
"""


def import_listing(tx: Transaction, listing: Listing, actor: str, *, cancel_vanished: bool) -> ImportDiff:
    planned = plan(listing, known(tx), cancel_vanished=cancel_vanished)
    if planned.writes:
        _write(tx, listing, planned, actor)
    return planned.diff


def known(rows: Rows) -> Known:
    return Known(
        tasks={
            TaskRef(row[0], row[1]): Kept(row[2], row[3], bool(row[4]), bool(row[5]), row[6:])
            for row in rows.all(_KNOWN)
        },
        edges=frozenset(map(tuple, rows.all("SELECT * FROM task_prerequisites"))),
    )


def _write(tx: Transaction, listing: Listing, planned: ImportPlan, actor: str) -> None:
    tx.change(_REGION, {"region": listing.region, "wall": tx.now.wall})
    tx.change_each(_INSERT, _new_rows(tx, listing, planned))
    tx.change_each(_UPDATE, (_columns(listing, ref) for ref, _ in planned.changed))
    _set_prerequisites(tx, listing, planned)
    tx.change_each(_MOVE, ({**ref._asdict(), "position": position} for ref, position in planned.moved.items()))
    _tell(tx, listing.region, planned, actor)
    _let_vanish(tx, planned, actor)
    _bring_back(tx, planned, actor)
    _set_behind(tx, planned)
    for ref, spec in listing.specs.items():
        if spec.is_group:
            moves.reopen_group(tx, ref)
            moves.complete_group(tx, ref)


def _new_rows(tx: Transaction, listing: Listing, planned: ImportPlan) -> Iterator[Values]:
    positions = {ref: position for position, ref in enumerate(listing.rows)}
    for ref, state in planned.new:
        yield {
            **_columns(listing, ref),
            "position": positions[ref],
            "state": state,
            "wall": tx.now.wall,
            "mono": tx.now.mono,
            "done_by": DoneBy.IMPORTED if state is TaskState.DONE else None,
        }


def _columns(listing: Listing, ref: TaskRef) -> dict[str, str | float | None]:
    return {**ref._asdict(), **dict(zip(COLUMNS, listing.rows[ref], strict=True))}


def _set_prerequisites(tx: Transaction, listing: Listing, planned: ImportPlan) -> None:
    changed = [ref for ref, _ in planned.changed]
    written = [*(ref for ref, _ in planned.new), *changed]
    tx.change_each(_NEED_NOTHING, (ref._asdict() for ref in changed))
    tx.change_each(_NEED, (need for ref in written for need in _needs(ref, listing.specs[ref].after)))
    tx.change_each(_COUNT_UNMET, (ref._asdict() for ref in written))


def _needs(ref: TaskRef, after: Iterable[TaskRef]) -> Iterator[Values]:
    for need in dict.fromkeys(after):
        yield {**ref._asdict(), "needs_region": need.region, "needs_task": need.id}


def _tell(tx: Transaction, region: str, planned: ImportPlan, actor: str) -> None:
    for ref, state in planned.new:
        events.append(tx, "task.imported", actor=actor, ref=ref, after=state)
    returned = set(planned.diff.returned)
    for ref, fields in planned.changed:
        if ref not in returned:
            events.append(tx, "task.changed", actor=actor, ref=ref, reason=fields)
    diff = planned.diff
    counts = (
        f"{region}: {len(diff.new)} new, {len(diff.changed)} changed, {len(diff.vanished)} vanished, "
        f"{len(diff.returned)} returned, {diff.unchanged} unchanged"
    )
    events.append(tx, "list.imported", actor=actor, reason=counts)


def _let_vanish(tx: Transaction, planned: ImportPlan, actor: str) -> None:
    reason = "gone from the list"
    for ref in planned.cancelled:
        before = _state(tx, ref)
        moves.move_task(tx, ref, before, TaskState.CANCELLED, reason)
        tx.change(_MARK_CANCELLED_BY_LIST, ref._asdict())
        tx.change(_MARK_VANISHED, ref._asdict())
        events.append(
            tx, "task.vanished", actor=actor, ref=ref, before=before, after=TaskState.CANCELLED, reason=reason
        )
    for ref in planned.gone:
        tx.change(_MARK_VANISHED, ref._asdict())
        events.append(tx, "task.vanished", actor=actor, ref=ref, reason=reason)


def _bring_back(tx: Transaction, planned: ImportPlan, actor: str) -> None:
    reason = "back in the list"
    for ref in planned.revived:
        before = _state(tx, ref)
        moves.move_task(tx, ref, before, TaskState.TODO)
        tx.change(_REVIVE, ref._asdict())
        tx.change(_UNMARK_VANISHED, ref._asdict())
        events.append(tx, "task.returned", actor=actor, ref=ref, before=before, after=TaskState.TODO, reason=reason)
    for ref in planned.back:
        tx.change(_UNMARK_VANISHED, ref._asdict())
        events.append(tx, "task.returned", actor=actor, ref=ref, reason=reason)


def _set_behind(tx: Transaction, planned: ImportPlan) -> None:
    if not planned.behind:
        return
    stored = tx.all("SELECT region, id, behind FROM tasks")
    tx.change_each(
        _BEHIND,
        [
            {"region": region, "id": id_, "behind": behind}
            for region, id_, before in stored
            if (behind := planned.behind[TaskRef(region, id_)]) != before
        ],
    )


def _state(rows: Rows, ref: TaskRef) -> TaskState:
    row = rows.one("SELECT status FROM tasks WHERE region = :region AND id = :id", ref._asdict())
    assert row is not None
    return TaskState(row["status"])
