"""Claims and leases. A claim is one conditional UPDATE: a row changed, and the task is yours."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime

from recall.domain.globs import overlapping
from recall.domain.run import Claim, Refused, Run, RunResult, RunState
from recall.domain.task import TaskRef, TaskState
from recall.store import agents, events, reading, runs
from recall.store.transaction import Rows, Transaction

_CLAIM = """
UPDATE tasks SET status = 'in_progress', status_reason = '', status_changed_at = :wall, status_changed_mono = :now,
  lease_owner = :owner, lease_version = lease_version + 1, lease_boot = :boot, lease_expires = :expires,
  lease_expires_wall = :expires_wall, sent_to = NULL
WHERE region = :region AND id = :id AND status = 'todo' AND unmet = 0 AND is_group = 0
  AND (retry_at IS NULL OR retry_at <= :wall) AND (kept_for IS NULL OR kept_for = :agent OR kept_until <= :wall)
RETURNING lease_version
"""
_INSERT_RUN = """
INSERT INTO runs (region, task, agent, owner, version, number, state, claimed_at, why, continues)
VALUES (:region, :id, :agent, :owner, :version,
  (SELECT count(*) + 1 FROM runs WHERE region = :region AND task = :id), :state, :wall, :why,
  (SELECT kept_run FROM tasks WHERE region = :region AND id = :id AND kept_for = :agent))
RETURNING id, number
"""
_CANDIDATES = """
SELECT region, id, touches FROM tasks
WHERE status = 'todo' AND unmet = 0 AND is_group = 0 AND (retry_at IS NULL OR retry_at <= :wall)
  AND (kept_for IS NULL OR kept_for = :agent OR kept_until <= :wall)
  AND ifnull(sent_to = :agent,
    agents = '[]' OR EXISTS (SELECT 1 FROM json_each(tasks.agents) WHERE value = :agent))
  AND (:types = '[]' OR EXISTS (SELECT 1 FROM json_each(:types) WHERE value = tasks.type))
ORDER BY priority DESC, behind DESC, position, region, id LIMIT :limit
"""
_RENEW = """
UPDATE tasks SET lease_expires = :expires, lease_expires_wall = :expires_wall
WHERE region = :region AND id = :id AND status = 'in_progress' AND lease_owner = :owner
  AND lease_version = :version AND lease_boot = :boot AND lease_expires > :now
"""
# three ranges of one index: `<>` and OR would look at every lease there is
_EXPIRED = """
SELECT region, id, lease_owner, lease_version, lease_expires_wall FROM tasks
WHERE status = 'in_progress' AND lease_boot = :boot AND lease_expires <= :now
UNION ALL SELECT region, id, lease_owner, lease_version, lease_expires_wall FROM tasks
WHERE status = 'in_progress' AND lease_boot < :boot
UNION ALL SELECT region, id, lease_owner, lease_version, lease_expires_wall FROM tasks
WHERE status = 'in_progress' AND lease_boot > :boot
"""
_RUN_OF_LEASE = "SELECT id FROM runs WHERE region = :region AND task = :id AND owner = :owner AND version = :version"
_UNMET = """
SELECT d.region, d.id FROM task_prerequisites p JOIN tasks d ON d.region = p.needs_region AND d.id = p.needs_task
WHERE p.region = :region AND p.task = :id AND d.status <> 'done' ORDER BY d.region, d.position
"""
_FIRST_LOOK = 20
_EVERYTHING = -1


def claim(
    tx: Transaction, ref: TaskRef, agent: str, owner: str, ttl: float, why: str, *, pulled: bool
) -> Claim | Refused:
    row = agents.row_of(tx, agent)
    if row is None and pulled:
        row = agents.introduce(tx, agent)
    refusal = _may_not(tx, ref, agent, row)
    if refusal:
        return Refused(refusal)
    return _take(tx, ref, agent, owner, ttl, why, pulled=pulled) or Refused(_why_not_claimable(tx, ref, agent))


def claim_next(tx: Transaction, agent: str, owner: str, ttl: float, why: str, *, pulled: bool) -> Claim | None:
    row = agents.row_of(tx, agent)
    if row is None and pulled:
        row = agents.introduce(tx, agent)
    if row is None or agents.why_not(row, agent, tx.now.wall):
        return None
    ref = _first_candidate(tx, agent, row["types"])
    return _take(tx, ref, agent, owner, ttl, why, pulled=pulled) if ref else None


def renew(tx: Transaction, ref: TaskRef, owner: str, version: int, ttl: float) -> Claim | Refused:
    """No event: nothing changed but the lease's end."""
    run = runs.fenced(tx, _run_of_lease(tx, ref, owner, version), owner, version, "renew", runs.LEASED)
    if isinstance(run, Refused):
        return run
    renewed = tx.change(_RENEW, _lease(tx, ttl) | {**ref._asdict(), "owner": owner, "version": version})
    assert renewed == 1, "the lease was checked in this transaction"
    return _claim_of(tx, run.id, run.number, run.ref, run.agent, owner, version, ttl)


def release(tx: Transaction, ref: TaskRef, owner: str, version: int, actor: str, reason: str) -> Refused | None:
    from recall.domain.outcome import Settlement

    allowed = runs.LEASED | {RunState.ENDED}
    run = runs.fenced(tx, _run_of_lease(tx, ref, owner, version), owner, version, "release", allowed)
    if isinstance(run, Refused):
        return run
    runs.finish(tx, run, Settlement(RunResult.CANCELLED, reason, TaskState.TODO, reason), actor)
    return None


def recycle(tx: Transaction) -> list[TaskRef]:
    """Take back every lease that has run out, each with one event at this transaction's moment."""
    expired = tx.all(_EXPIRED, {"boot": tx.now.boot, "now": tx.now.mono})
    for row in expired:
        _recycle_one(tx, row)
    return [TaskRef(row["region"], row["id"]) for row in expired]


def _recycle_one(tx: Transaction, row: sqlite3.Row) -> None:
    ref = TaskRef(row["region"], row["id"])
    run = _run_of_lease(tx, ref, row["lease_owner"], row["lease_version"])
    assert run is not None, f"a lease on {ref} without its run"
    reason = f"the lease of {run.agent} ran out, at the latest at {_moment(row['lease_expires_wall'])}"
    settlement = runs.interruption(tx, run, RunResult.LEASE_LOST, reason)
    before = runs.close(tx, run, settlement)
    events.append(
        tx,
        "task.lease_expired",
        actor="store",
        ref=ref,
        agent=run.agent,
        run_id=run.id,
        before=before,
        after=settlement.task_state,
        reason=settlement.task_reason,
    )


def _take(
    tx: Transaction, ref: TaskRef, agent: str, owner: str, ttl: float, why: str, *, pulled: bool
) -> Claim | None:
    values = {**ref._asdict(), "agent": agent, "owner": owner, "wall": tx.now.wall}
    won = tx.one(_CLAIM, _lease(tx, ttl) | values)
    if won is None:
        return None
    if pulled:
        runs.keep_no_more(tx, ref)
    state = RunState.PULLED if pulled else RunState.PREPARING
    run = tx.one(_INSERT_RUN, values | {"version": won["lease_version"], "why": why, "state": state})
    assert run is not None
    events.append(
        tx,
        "task.claimed",
        actor=f"agent {agent}" if pulled else "dispatcher",
        ref=ref,
        agent=agent,
        run_id=run["id"],
        before=TaskState.TODO,
        after=TaskState.IN_PROGRESS,
        reason=why,
    )
    return _claim_of(tx, run["id"], run["number"], ref, agent, owner, won["lease_version"], ttl)


def _claim_of(
    tx: Transaction, run_id: int, number: int, ref: TaskRef, agent: str, owner: str, version: int, ttl: float
) -> Claim:
    return Claim(
        run_id=run_id,
        ref=ref,
        agent=agent,
        owner=owner,
        version=version,
        number=number,
        boot=tx.now.boot,
        expires=tx.now.mono + ttl,
        expires_wall=tx.now.wall + ttl,
    )


def _lease(tx: Transaction, ttl: float) -> dict[str, str | float]:
    return {
        "boot": tx.now.boot,
        "now": tx.now.mono,
        "expires": tx.now.mono + ttl,
        "expires_wall": tx.now.wall + ttl,
    }


def _run_of_lease(rows: Rows, ref: TaskRef, owner: str, version: int) -> Run | None:
    row = rows.one(_RUN_OF_LEASE, {**ref._asdict(), "owner": owner, "version": version})
    return reading.run(rows, row["id"]) if row else None


def _first_candidate(tx: Transaction, agent: str, types: str) -> TaskRef | None:
    """Give the first claimable task that this agent may take and that touches nothing a running one touches."""
    running = [
        tuple(json.loads(row["touches"]))
        for row in tx.all("SELECT touches FROM tasks WHERE status = 'in_progress' AND touches <> '[]'")
    ]
    for limit in (_FIRST_LOOK if running else 1, _EVERYTHING):
        values = {"agent": agent, "types": types, "wall": tx.now.wall, "limit": limit}
        candidates = tx.all(_CANDIDATES, values)
        for row in candidates:
            if not _overlaps(tuple(json.loads(row["touches"])), running):
                return TaskRef(row["region"], row["id"])
        if len(candidates) < limit:
            return None
    return None


def _overlaps(touches: tuple[str, ...], running: Iterable[tuple[str, ...]]) -> bool:
    return any(overlapping(touches, other) for other in running) if touches else False


def _may_not(tx: Transaction, ref: TaskRef, agent: str, row: sqlite3.Row | None) -> str:
    held = agents.why_not(row, agent, tx.now.wall)
    if row is None or held:
        return held
    task = tx.one("SELECT agents, sent_to, type FROM tasks WHERE region = :region AND id = :id", ref._asdict())
    if task is None:
        return f"there is no task {ref}"
    allowed = [task["sent_to"]] if task["sent_to"] else json.loads(task["agents"])
    types = json.loads(row["types"])
    if allowed and agent not in allowed:
        return f"{ref} is for {', '.join(allowed)} only"
    if types and task["type"] not in types:
        return f"{agent} takes {', '.join(types)} only, {ref} is {task['type']}"
    return ""


def _why_not_claimable(tx: Transaction, ref: TaskRef, agent: str) -> str:
    task = reading.task(tx, ref)
    assert task is not None
    if task.is_group:
        return f"{ref} is a group: done when its sub-tasks are"
    if task.state is not TaskState.TODO:
        return f"{ref} is {task.state}" + (f", held by {task.lease_owner}" if task.lease_owner else "")
    if task.unmet:
        unmet = [str(TaskRef(row["region"], row["id"])) for row in tx.all(_UNMET, ref._asdict())]
        return f"{ref} waits for {', '.join(unmet)}"
    if task.is_kept_from(agent, tx.now.wall):
        return f"{ref} waits for {task.kept_for}, whose work on it is kept, until {_moment(task.kept_until)}"
    return f"{ref} is held back until {_moment(task.retry_at)}" + (f": {task.reason}" if task.reason else "")


def _moment(wall: float | None) -> str:
    return f"{datetime.fromtimestamp(wall or 0.0, UTC):%Y-%m-%d %H:%M:%S} UTC"
