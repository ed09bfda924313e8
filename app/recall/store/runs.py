"""A run's life after its claim. Every write made for a run is checked here against owner, version and lease,
and a refused one is recorded."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict
from typing import TYPE_CHECKING

from recall.domain.errors import RecallError
from recall.domain.run import Refused, Run, RunResult, RunState
from recall.domain.task import DoneBy, TaskRef, TaskState
from recall.domain.text import clean
from recall.store import agents, events, moves, reading, settings
from recall.store.transaction import Rows, Transaction

if TYPE_CHECKING:
    from recall.domain.outcome import Settlement
    from recall.domain.stream.spending import Spending

#: The states in which a run's lease can run out.
LEASED = frozenset({RunState.PREPARING, RunState.RUNNING, RunState.PULLED})
_SETTLABLE = LEASED | {RunState.ENDED}

_HELD = """
SELECT 1 FROM tasks WHERE region = :region AND id = :id AND lease_owner = :owner AND lease_version = :version
"""
_LEASED = """
SELECT 1 FROM tasks WHERE region = :region AND id = :id AND lease_owner = :owner AND lease_version = :version
  AND lease_boot = :boot AND lease_expires > :now
"""
_START = """
UPDATE runs SET branch = :branch, base = :base, slot = :slot, started_at = :wall WHERE id = :id
"""
_END = "UPDATE runs SET state = 'ended', ended_at = :wall WHERE id = :id AND state = 'running'"
_SPEND = """
UPDATE runs SET session = :session, input_tokens = :input_tokens, output_tokens = :output_tokens,
  cached_tokens = :cached_tokens, cost_usd = :cost_usd
WHERE id = :id AND owner = :owner AND version = :version
"""
_KEEP = "UPDATE tasks SET kept_run = :run, kept_for = :agent, kept_until = :until WHERE region = :region AND id = :id"
_INSERT_MERGE = """
INSERT INTO merges (region, task, run_id, position, state, reason, tip, base, created_at, changed_at)
VALUES (:region, :task, :run_id, (SELECT ifnull(max(position), 0) + 1 FROM merges), 'queued', :reason,
  :tip, :base, :wall, :wall)
"""
_COUNT = """
UPDATE tasks SET attempts = attempts + :attempt, interruptions = interruptions + :interruption,
  retry_at = :retry_at
WHERE region = :region AND id = :id
"""
_LET_GO = """
UPDATE tasks SET lease_owner = NULL, lease_boot = NULL, lease_expires = NULL, lease_expires_wall = NULL
WHERE region = :region AND id = :id AND lease_owner = :owner AND lease_version = :version
"""
_INSERT_OUTCOME = """
INSERT INTO outcomes (at, run_id, owner, version, wish, result, reason, refusal)
VALUES (:at, :run_id, :owner, :version, :wish, :result, :reason, :refusal)
"""


def start(
    tx: Transaction, run_id: int, owner: str, version: int, branch: str, base: str, slot: str
) -> Refused | None:
    run = fenced(tx, reading.run(tx, run_id), owner, version, "start", frozenset({RunState.PREPARING}))
    if isinstance(run, Refused):
        return run
    moves.move_run(tx, run, RunState.RUNNING)
    tx.change(_START, {"id": run.id, "branch": branch, "base": base, "slot": slot, "wall": tx.now.wall})
    keep_no_more(tx, run.ref)
    events.append(
        tx,
        "run.started",
        actor="dispatcher",
        ref=run.ref,
        agent=run.agent,
        run_id=run.id,
        before=run.state,
        after=RunState.RUNNING,
        reason=branch,
    )
    return None


def end(tx: Transaction, run_id: int, owner: str, version: int) -> Refused | None:
    """Mark a run ended as its shim does. The trigger `run_ended` takes the lease's end away and tells of it."""
    run = fenced(tx, reading.run(tx, run_id), owner, version, "end", frozenset({RunState.RUNNING}))
    if isinstance(run, Refused):
        return run
    tx.change(_END, {"id": run.id, "wall": tx.now.wall})
    return None


def keep_spending(tx: Transaction, run_id: int, owner: str, version: int, spending: Spending) -> None:
    tx.change(_SPEND, {**asdict(spending), "id": run_id, "owner": owner, "version": version})


def settle_run(
    tx: Transaction, run_id: int, owner: str, version: int, settlement: Settlement, actor: str
) -> Refused | None:
    run = fenced(tx, reading.run(tx, run_id), owner, version, "settle", _SETTLABLE, settlement)
    if isinstance(run, Refused):
        return run
    if settlement.task_state is TaskState.DONE:
        raise RecallError(f"run {run.id} cannot make {run.ref} done without a landing; please report this")
    finish(tx, run, settlement, actor)
    return None


def enqueue(
    tx: Transaction, run_id: int, owner: str, version: int, tip: str, base: str, actor: str, reason: str
) -> int | Refused:
    allowed = frozenset({RunState.ENDED, RunState.PULLED})
    run = fenced(tx, reading.run(tx, run_id), owner, version, "enqueue", allowed)
    if isinstance(run, Refused):
        return run
    moves.move_run(tx, run, RunState.LANDING, reason=reason)
    moves.move_task(tx, run.ref, TaskState.IN_PROGRESS, TaskState.LANDING)
    values = {"region": run.region, "task": run.task, "run_id": run.id, "reason": clean(reason), "tip": tip}
    merge_id = tx.insert(_INSERT_MERGE, {**values, "base": base, "wall": tx.now.wall})
    _record(tx, run.id, owner, version, "enqueue", reason=reason)
    events.append(
        tx,
        "merge.queued",
        actor=actor,
        ref=run.ref,
        agent=run.agent,
        run_id=run.id,
        merge_id=merge_id,
        before=TaskState.IN_PROGRESS,
        after=TaskState.LANDING,
        reason=reason,
    )
    return merge_id


def end_lost(tx: Transaction, run_id: int, reason: str, actor: str) -> None:
    run = reading.run(tx, run_id)
    if run is None:
        raise RecallError(f"there is no run {run_id}")
    if run.state in _SETTLABLE:
        finish(tx, run, interruption(tx, run, RunResult.ORPHANED, reason), actor)


def fenced(
    tx: Transaction,
    run: Run | None,
    owner: str,
    version: int,
    wish: str,
    allowed: frozenset[RunState],
    settlement: Settlement | None = None,
) -> Run | Refused:
    """Let a write through only for the holder of this very version. A refusal is recorded with its wish."""
    refused = _refusal(tx, run, owner, version, allowed)
    if refused is None:
        assert run is not None
        return run
    _record(tx, run.id if run else None, owner, version, wish, settlement, refusal=refused.reason)
    events.append(
        tx,
        "run.refused",
        actor="store",
        ref=run.ref if run else None,
        agent=run.agent if run else None,
        run_id=run.id if run else None,
        before=run.state if run else None,
        after=settlement.result if settlement else wish,
        reason=refused.reason,
    )
    return refused


def finish(
    tx: Transaction,
    run: Run,
    settlement: Settlement,
    actor: str,
    *,
    landed: str | None = None,
    merge_id: int | None = None,
) -> None:
    """Settle a run and carry out what that means, for a caller that has checked who asks."""
    from recall.store import suspects

    settlement = suspects.weigh(tx, run, settlement)
    task = _task_row(tx, run.ref)
    before = TaskState(task["status"])
    _record(tx, run.id, run.owner, run.version, "settle", settlement)
    told = {"actor": actor, "agent": run.agent}
    events.append(
        tx,
        "run.settled",
        **told,
        ref=run.ref,
        run_id=run.id,
        merge_id=merge_id,
        before=run.state,
        after=settlement.result,
        reason=settlement.reason,
    )
    if before is not settlement.task_state:
        events.append(
            tx,
            f"task.{settlement.task_state}",
            **told,
            ref=run.ref,
            run_id=run.id,
            merge_id=merge_id,
            before=before,
            after=settlement.task_state,
            reason=settlement.task_reason or settlement.reason,
        )
    close(tx, run, settlement, landed=landed)
    agents.take_settlement(tx, run.agent, task["type"], run.id, settlement)


def close(tx: Transaction, run: Run, settlement: Settlement, *, landed: str | None = None) -> TaskState:
    """Settle run and task without telling of it. Gives the state that the task was in."""
    before = TaskState(_task_row(tx, run.ref)["status"])
    moves.move_run(tx, run, RunState.SETTLED, settlement.result, settlement.reason)
    if before is not settlement.task_state:
        moves.move_task(
            tx,
            run.ref,
            before,
            settlement.task_state,
            settlement.task_reason,
            done_by=DoneBy.LANDED if landed else None,
            done_commit=landed,
            done_agent=run.agent if landed else None,
        )
    values = {"region": run.region, "id": run.task, "retry_at": settlement.retry_at}
    tx.change(_COUNT, {**values, "attempt": int(settlement.attempt), "interruption": int(settlement.interruption)})
    if settlement.kept_until is not None and run.slot is not None:
        tx.change(_KEEP, {**run.ref._asdict(), "run": run.id, "agent": run.agent, "until": settlement.kept_until})
    let_go(tx, run)
    return before


def keep_no_more(tx: Transaction, ref: TaskRef) -> None:
    """Give up whatever workspace waits for this task's agent; the dispatcher parks what nobody took over."""
    tx.change(_KEEP, {**ref._asdict(), "run": None, "agent": None, "until": None})


def let_go(tx: Transaction, run: Run) -> None:
    """Take the lease away from a run that is over."""
    tx.change(_LET_GO, {"region": run.region, "id": run.task, "owner": run.owner, "version": run.version})


def interruption(rows: Rows, run: Run, result: RunResult, reason: str) -> Settlement:
    """What the loss of a run means: an interruption of its task, a person when there were too many."""
    from recall.domain.outcome import Budget, CooldownRule, settle

    budget = Budget(
        attempts=0,
        max_attempts=1,
        interruptions=_task_row(rows, run.ref)["interruptions"],
        max_interruptions=settings.max_interruptions(rows),
        backoff=0.0,
    )
    return settle(result, reason, budget=budget, cooldown=CooldownRule(0.0, 0.0, 0.0), now=0.0)


def _refusal(
    tx: Transaction, run: Run | None, owner: str, version: int, allowed: frozenset[RunState]
) -> Refused | None:
    if run is None:
        return Refused("there is no such run", lease_lost=True)
    if run.owner != owner or run.version != version:
        return Refused(f"run {run.id} of {run.ref} belongs to {run.owner}, version {run.version}", lease_lost=True)
    if run.state is RunState.SETTLED:
        return Refused(f"run {run.id} of {run.ref} is over: {run.result}; {run.reason}", lease_lost=True)
    if run.state not in allowed:
        return Refused(f"run {run.id} of {run.ref} is {run.state}, not {' or '.join(sorted(allowed))}")
    held = {"region": run.region, "id": run.task, "owner": owner, "version": version}
    leased = {**held, "boot": tx.now.boot, "now": tx.now.mono}
    if not (tx.one(_LEASED, leased) if run.state in LEASED else tx.one(_HELD, held)):
        return Refused(f"the lease of run {run.id} on {run.ref} is lost", lease_lost=True)
    return None


def _record(
    tx: Transaction,
    run_id: int | None,
    owner: str,
    version: int,
    wish: str,
    settlement: Settlement | None = None,
    *,
    reason: str = "",
    refusal: str | None = None,
) -> None:
    tx.change(
        _INSERT_OUTCOME,
        {
            "at": tx.now.wall,
            "run_id": run_id,
            "owner": owner,
            "version": version,
            "wish": wish,
            "result": settlement.result if settlement else None,
            "reason": clean(settlement.reason if settlement else reason),
            "refusal": refusal,
        },
    )


def _task_row(rows: Rows, ref: TaskRef) -> sqlite3.Row:
    row = rows.one("SELECT * FROM tasks WHERE region = :region AND id = :id", ref._asdict())
    assert row is not None, f"run without its task {ref}"
    return row
