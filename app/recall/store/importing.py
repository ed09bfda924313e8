"""Writes an import's plan: rows are added and changed, never deleted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from recall.domain.imports import ImportDiff
from recall.domain.task import DoneBy, TaskRef, TaskSpec, TaskState
from recall.store import events, moves, reading
from recall.store.import_plan import ImportPlan, Known, plan
from recall.store.transaction import Rows, Transaction, Values

_REGION = """
INSERT INTO regions (name, imported_at) VALUES (:region, :wall)
ON CONFLICT (name) DO UPDATE SET imported_at = :wall
"""
_INSERT = """
INSERT INTO tasks (region, id, title, body, type, priority, listed_priority, position, agents, touches, verify,
  timeout_s, max_attempts, is_group, parent, status, status_changed_at, status_changed_mono, done_by)
VALUES (:region, :id, :title, :body, :type, :priority, :priority, :position, :agents, :touches, :verify,
  :timeout_s, :max_attempts, :is_group, :parent, :state, :wall, :mono, :done_by)
"""
_UPDATE = """
UPDATE tasks SET title = :title, body = :body, type = :type,
  priority = CASE WHEN listed_priority = :priority THEN priority ELSE :priority END, listed_priority = :priority,
  agents = :agents, touches = :touches, verify = :verify, timeout_s = :timeout_s, max_attempts = :max_attempts,
  is_group = :is_group, parent = :parent
WHERE region = :region AND id = :id
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


def import_tasks(
    tx: Transaction, region: str, specs: Sequence[TaskSpec], actor: str, *, cancel_vanished: bool
) -> ImportDiff:
    planned = plan(region, specs, known(tx), cancel_vanished=cancel_vanished)
    if planned.writes:
        _write(tx, region, planned, specs, actor)
    return planned.diff


def known(rows: Rows) -> Known:
    marks = rows.all("SELECT region, id, listed_priority, cancelled_by_list FROM tasks")
    return Known(
        tasks={task.ref: task for task in reading.tasks(rows)},
        listed_priority={TaskRef(region, id_): priority for region, id_, priority, _ in marks},
        cancelled_by_list=frozenset(TaskRef(region, id_) for region, id_, _, by_list in marks if by_list),
    )


def _write(tx: Transaction, region: str, planned: ImportPlan, specs: Sequence[TaskSpec], actor: str) -> None:
    tx.change(_REGION, {"region": region, "wall": tx.now.wall})
    positions = {spec.id: position for position, spec in enumerate(specs)}
    tx.change_each(_INSERT, (_row(tx, region, spec, state, positions[spec.id]) for spec, state in planned.new))
    tx.change_each(_UPDATE, (_columns(region, spec) for spec, _ in planned.changed))
    _set_prerequisites(tx, region, planned)
    tx.change_each(_MOVE, ({**ref._asdict(), "position": position} for ref, position in planned.moved.items()))
    _tell(tx, region, planned, actor)
    _let_vanish(tx, planned, actor)
    _bring_back(tx, planned, actor)
    _set_behind(tx, planned)
    for spec in specs:
        if spec.is_group:
            moves.reopen_group(tx, TaskRef(region, spec.id))
            moves.complete_group(tx, TaskRef(region, spec.id))


def _row(tx: Transaction, region: str, spec: TaskSpec, state: TaskState, position: int) -> Values:
    return {
        **_columns(region, spec),
        "position": position,
        "state": state,
        "wall": tx.now.wall,
        "mono": tx.now.mono,
        "done_by": DoneBy.IMPORTED if state is TaskState.DONE else None,
    }


def _columns(region: str, spec: TaskSpec) -> dict[str, str | float | None]:
    return {
        "region": region,
        "id": spec.id,
        "title": spec.title,
        "body": spec.body,
        "type": spec.type,
        "priority": spec.priority,
        "agents": json.dumps(spec.agents) if spec.agents else "[]",
        "touches": json.dumps(spec.touches) if spec.touches else "[]",
        "verify": spec.verify,
        "timeout_s": spec.timeout_s,
        "max_attempts": spec.attempts,
        "is_group": int(spec.is_group),
        "parent": spec.parent,
    }


def _set_prerequisites(tx: Transaction, region: str, planned: ImportPlan) -> None:
    changed = [spec for spec, _ in planned.changed]
    written = [*(spec for spec, _ in planned.new), *changed]
    tx.change_each(_NEED_NOTHING, ({"region": region, "id": spec.id} for spec in changed))
    tx.change_each(_NEED, (need for spec in written for need in _needs(region, spec)))
    tx.change_each(_COUNT_UNMET, ({"region": region, "id": spec.id} for spec in written))


def _needs(region: str, spec: TaskSpec) -> Iterator[Values]:
    for need in dict.fromkeys(spec.after):
        yield {"region": region, "id": spec.id, "needs_region": need.region, "needs_task": need.id}


def _tell(tx: Transaction, region: str, planned: ImportPlan, actor: str) -> None:
    for spec, state in planned.new:
        events.append(tx, "task.imported", actor=actor, ref=TaskRef(region, spec.id), after=state)
    returned = set(planned.diff.returned)
    for spec, fields in planned.changed:
        ref = TaskRef(region, spec.id)
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
