"""Counts the quick failures of an agent, and gives back what they cost once it is the agent that is suspected."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from recall.domain.outcome import WEIGHT_FAILED, Settlement
from recall.domain.run import Run, RunResult
from recall.domain.suspicion import Suspicion, suspect
from recall.domain.task import TaskState
from recall.domain.text import clean
from recall.store import events, moves, reading
from recall.store.transaction import Rows, Transaction

_REMEMBER = "UPDATE agents SET quick_failures = :runs WHERE name = :name"
_CLEAR = "UPDATE agents SET quick_failures = '[]', suspicions = 0 WHERE name = :name"
_HOLD = """
UPDATE agents SET quick_failures = '[]', suspicions = suspicions + 1,
  cooling_until = max(ifnull(cooling_until, 0), :until),
  cooling_reason = :reason, cooling_line = ''
WHERE name = :name
"""
_GIVE_BACK = """
UPDATE tasks SET attempts = max(0, attempts - 1), retry_at = NULL WHERE region = :region AND id = :id
"""
_WEIGH_BACK = """
UPDATE agent_weights SET value = round(min(1, value - :cost), 4), failed = max(0, failed - 1)
WHERE agent = :agent AND type = (SELECT type FROM tasks WHERE region = :region AND id = :id)
"""


def weigh(tx: Transaction, run: Run, settlement: Settlement) -> Settlement:
    """Take a run's end into account for the suspicion against its agent. Gives what the end means then: a failure
    that raises a suspicion costs nothing."""
    row = tx.one("SELECT quick_failures, suspicions FROM agents WHERE name = :name", {"name": run.agent})
    if row is None or not settlement.quick_failure:
        if row is not None and (settlement.attempt or settlement.result is RunResult.LANDED) and _is_marked(row):
            tx.change(_CLEAR, {"name": run.agent})
        return settlement
    failures = [*_earlier(tx, row), run]
    suspicion = suspect(run.agent, failures, settlement.reason, earlier=row["suspicions"])
    if suspicion is None:
        tx.change(_REMEMBER, {"name": run.agent, "runs": json.dumps([one.id for one in failures])})
        return settlement
    _hold(tx, run, suspicion)
    for one in failures[:-1]:
        _give_back(tx, one)
    return replace(
        settlement, attempt=False, weight=0.0, retry_at=None, task_state=TaskState.TODO, task_reason=settlement.reason
    )


def clear(tx: Transaction, name: str) -> None:
    """Forget what is held against an agent: a person looked at it."""
    tx.change(_CLEAR, {"name": name})


def _is_marked(row: sqlite3.Row) -> bool:
    return row["quick_failures"] != "[]" or row["suspicions"] > 0


def _earlier(rows: Rows, row: sqlite3.Row) -> list[Run]:
    found = (reading.run(rows, run_id) for run_id in json.loads(row["quick_failures"]))
    return [one for one in found if one is not None]


def _hold(tx: Transaction, run: Run, suspicion: Suspicion) -> None:
    until, reason = tx.now.wall + suspicion.pause, clean(suspicion.reason)
    tx.change(_HOLD, {"name": run.agent, "until": until, "reason": reason})
    after = datetime.fromtimestamp(until, UTC).isoformat(timespec="seconds")
    events.append(
        tx, "agent.suspected", actor="dispatcher", agent=run.agent, run_id=run.id, after=after, reason=reason
    )


def _give_back(tx: Transaction, run: Run) -> None:
    """Take back what a failure cost, and call its task from the person whom it called for that."""
    task = reading.task(tx, run.ref)
    tx.change(_GIVE_BACK, run.ref._asdict())
    tx.change(_WEIGH_BACK, {**run.ref._asdict(), "agent": run.agent, "cost": WEIGHT_FAILED})
    if task is not None and task.state is TaskState.NEEDS_PERSON and _is_last(tx, run):
        reason = f"the attempt of {run.agent} does not count: the agent is suspected"
        moves.move_task(tx, run.ref, task.state, TaskState.TODO, reason)
        events.append(
            tx, "task.requeued", actor="dispatcher", ref=run.ref, agent=run.agent, run_id=run.id,
            before=task.state, after=TaskState.TODO, reason=reason,
        )  # fmt: skip


def _is_last(rows: Rows, run: Run) -> bool:
    runs: Sequence[Run] = reading.runs(rows, run.ref)
    return bool(runs) and runs[-1].id == run.id
