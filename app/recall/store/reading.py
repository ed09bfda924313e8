"""Rows as the domain's values."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recall.domain.agent import Agent, Weight
from recall.domain.run import Run, RunResult, RunState
from recall.domain.task import DoneBy, Task, TaskRef, TaskState
from recall.store import agents as agent_rows
from recall.store import settings
from recall.store.transaction import Rows

if TYPE_CHECKING:
    from recall.domain.budget import Outlay
    from recall.domain.merge import MergeEntry
    from recall.domain.snapshot import Snapshot

_READY = "SELECT * FROM tasks WHERE status = 'todo' AND unmet = 0 AND is_group = 0"
_READY_PREREQUISITES = """
SELECT p.region, p.task, p.needs_region, p.needs_task
FROM tasks t JOIN task_prerequisites p ON p.region = t.region AND p.task = t.id
WHERE t.status = 'todo' AND t.unmet = 0 AND t.is_group = 0
"""
_READY_DOERS = """
SELECT DISTINCT d.region, d.id, d.done_agent
FROM tasks t JOIN task_prerequisites p ON p.region = t.region AND p.task = t.id
JOIN tasks d ON d.region = p.needs_region AND d.id = p.needs_task
WHERE t.status = 'todo' AND t.unmet = 0 AND t.is_group = 0 AND d.done_agent IS NOT NULL
"""
_RUNNING = "SELECT * FROM tasks WHERE status = 'in_progress'"
_RUNNING_PREREQUISITES = """
SELECT p.region, p.task, p.needs_region, p.needs_task
FROM tasks t JOIN task_prerequisites p ON p.region = t.region AND p.task = t.id
WHERE t.status = 'in_progress'
"""
_BUSY = """
SELECT agent, count(*) AS runs FROM runs WHERE state <> 'settled' AND state <> 'landing' GROUP BY agent
"""
# told which index: a list of many settled runs is not gone through at every look
_OPEN_RUNS = "SELECT * FROM runs INDEXED BY runs_open WHERE state <> 'settled' ORDER BY id"
_KEPT_RUNS = """
SELECT runs.* FROM tasks INDEXED BY tasks_kept JOIN runs ON runs.id = tasks.kept_run
WHERE tasks.kept_run IS NOT NULL ORDER BY runs.id
"""
_VERIFIES = """
SELECT DISTINCT verify FROM tasks WHERE coalesce(verify, '') <> '' AND status NOT IN ('done', 'cancelled')
"""

Prerequisites = Mapping[TaskRef, tuple[TaskRef, ...]]


def snapshot(rows: Rows, now: float) -> Snapshot:
    from recall.domain.snapshot import Snapshot

    ready_rows, running_rows = rows.all(_READY), rows.all(_RUNNING)
    ready_needs = _grouped(rows.all(_READY_PREREQUISITES))
    running_needs = _grouped(rows.all(_RUNNING_PREREQUISITES))
    return Snapshot(
        now=now,
        ready=_tasks(ready_rows, ready_needs),
        running=_tasks(running_rows, running_needs),
        agents=tuple(agents(rows)),
        behind={TaskRef(row["region"], row["id"]): row["behind"] for row in (*ready_rows, *running_rows)},
        done_by_agent={TaskRef(region, id_): agent for region, id_, agent in rows.all(_READY_DOERS)},
        dispatching=not settings.is_paused(rows),
        paused_reason=settings.paused_reason(rows),
    )


def task(rows: Rows, ref: TaskRef) -> Task | None:
    row = rows.one("SELECT * FROM tasks WHERE region = :region AND id = :id", ref._asdict())
    if row is None:
        return None
    needs = rows.all("SELECT * FROM task_prerequisites WHERE region = :region AND task = :id", ref._asdict())
    return _tasks([row], _grouped(needs))[0]


def tasks(rows: Rows) -> list[Task]:
    needs = _grouped(rows.all("SELECT * FROM task_prerequisites"))
    return list(_tasks(rows.all("SELECT * FROM tasks ORDER BY region, position, id"), needs))


def verifies(rows: Rows) -> set[str]:
    return {verify for (verify,) in rows.all(_VERIFIES)}


def run(rows: Rows, run_id: int) -> Run | None:
    row = rows.one("SELECT * FROM runs WHERE id = :id", {"id": run_id})
    return _run_of(row) if row else None


def runs(rows: Rows, ref: TaskRef | None) -> list[Run]:
    if ref is None:
        return [_run_of(row) for row in rows.all("SELECT * FROM runs ORDER BY id")]
    found = rows.all("SELECT * FROM runs WHERE region = :region AND task = :id ORDER BY id", ref._asdict())
    return [_run_of(row) for row in found]


def open_runs(rows: Rows) -> list[Run]:
    return [_run_of(row) for row in rows.all(_OPEN_RUNS)]


def kept_runs(rows: Rows) -> list[Run]:
    """Give the settled runs whose workspaces wait for their agents to go on."""
    return [_run_of(row) for row in rows.all(_KEPT_RUNS)]


def open_run(rows: Rows, ref: TaskRef) -> Run | None:
    """Give the one run of this task that is not settled."""
    row = rows.one("SELECT * FROM runs WHERE region = :region AND task = :id AND state <> 'settled'", ref._asdict())
    return _run_of(row) if row else None


def merge(rows: Rows, merge_id: int) -> MergeEntry | None:
    row = rows.one("SELECT * FROM merges WHERE id = :id", {"id": merge_id})
    return _merge_of(row) if row else None


def merges(rows: Rows, *, open_only: bool) -> list[MergeEntry]:
    if open_only:
        found = rows.all("SELECT * FROM merges WHERE state NOT IN ('landed', 'rejected') ORDER BY position")
    else:
        found = rows.all("SELECT * FROM merges ORDER BY position")
    return [_merge_of(row) for row in found]


def open_merge(rows: Rows, ref: TaskRef) -> MergeEntry | None:
    row = rows.one(
        "SELECT * FROM merges WHERE region = :region AND task = :id AND state NOT IN ('landed', 'rejected')",
        ref._asdict(),
    )
    return _merge_of(row) if row else None


def agents(rows: Rows) -> list[Agent]:
    weights: dict[str, dict[str, Weight]] = defaultdict(dict)
    for row in rows.all("SELECT agent, type, value, landed, failed FROM agent_weights"):
        weights[row["agent"]][row["type"]] = Weight(row["value"], row["landed"], row["failed"])
    running = {row["agent"]: row["runs"] for row in rows.all(_BUSY)}
    return [
        agent_rows.agent_of(row, running.get(row["name"], 0), weights.get(row["name"], {}))
        for row in rows.all("SELECT * FROM agents ORDER BY name")
    ]


def _task_of(row: Mapping[str, Any], needs: Prerequisites) -> Task:
    return Task(
        region=row["region"],
        id=row["id"],
        title=row["title"],
        body=row["body"],
        type=row["type"],
        priority=row["priority"],
        position=row["position"],
        state=TaskState(row["status"]),
        reason=row["status_reason"],
        changed_at=row["status_changed_at"],
        prerequisites=needs.get(TaskRef(row["region"], row["id"]), ()),
        unmet=row["unmet"],
        agents=_strings(row["agents"]),
        verify=row["verify"],
        touches=_strings(row["touches"]),
        timeout_s=row["timeout_s"],
        max_attempts=row["max_attempts"],
        attempts=row["attempts"],
        interruptions=row["interruptions"],
        retry_at=row["retry_at"],
        is_group=bool(row["is_group"]),
        parent=row["parent"],
        vanished=bool(row["vanished"]),
        done_by=DoneBy(row["done_by"]) if row["done_by"] else None,
        done_commit=row["done_commit"],
        lease_owner=row["lease_owner"],
        lease_version=row["lease_version"],
        lease_boot=row["lease_boot"],
        lease_expires=row["lease_expires"],
        lease_expires_wall=row["lease_expires_wall"],
        sent_to=row["sent_to"],
        brief=row["brief"],
        kept_run=row["kept_run"],
        kept_for=row["kept_for"],
        kept_until=row["kept_until"],
    )


def _tasks(found: Sequence[sqlite3.Row], needs: Prerequisites) -> tuple[Task, ...]:
    # a Row looks names up one by one; with thousands of rows a dict pays
    names = found[0].keys() if found else []
    return tuple(_task_of(dict(zip(names, row, strict=True)), needs) for row in found)


def _strings(array: str) -> tuple[str, ...]:
    return () if array == "[]" else tuple(json.loads(array))


def _grouped(edges: Iterable[sqlite3.Row]) -> Prerequisites:
    needs: dict[TaskRef, list[TaskRef]] = defaultdict(list)
    for region, id_, needs_region, needs_task in edges:
        needs[TaskRef(region, id_)].append(TaskRef(needs_region, needs_task))
    return {ref: tuple(found) for ref, found in needs.items()}


def _run_of(row: sqlite3.Row) -> Run:
    values = dict(row)
    values["state"] = RunState(row["state"])
    values["result"] = RunResult(row["result"]) if row["result"] else None
    return Run(**values)


def _merge_of(row: sqlite3.Row) -> MergeEntry:
    from recall.domain.merge import MergeEntry, MergeState

    return MergeEntry(
        id=row["id"],
        region=row["region"],
        task=row["task"],
        run_id=row["run_id"],
        position=row["position"],
        state=MergeState(row["state"]),
        reason=row["reason"],
        tip=row["tip"],
        base=row["base"],
        onto=row["onto"],
        candidate=row["candidate"],
        intent_old=row["intent_old"],
        intent_new=row["intent_new"],
        rounds=row["rounds"],
        created_at=row["created_at"],
        changed_at=row["changed_at"],
        conflict_paths=_strings(row["conflict_paths"]),
        offered=row["offered"],
        merged=row["merged"],
    )


_SPENT_TODAY = """
SELECT agent, sum(coalesce(cost_usd, 0)) AS usd, sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0)) AS tokens
FROM runs WHERE settled_at >= :since GROUP BY agent
"""
_SPENT_ON_TASKS = """
SELECT region, task, sum(coalesce(cost_usd, 0)) AS usd,
  sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0)) AS tokens
FROM runs WHERE state = 'settled' GROUP BY region, task
"""


def outlay(rows: Rows, since: float) -> Outlay:
    from recall.domain.budget import Outlay, Spent

    by_agent, by_task = rows.all(_SPENT_TODAY, {"since": since}), rows.all(_SPENT_ON_TASKS)
    return Outlay(
        {row["agent"]: Spent(row["usd"], row["tokens"]) for row in by_agent},
        {TaskRef(row["region"], row["task"]): Spent(row["usd"], row["tokens"]) for row in by_task},
    )
