"""The event log: written in the same transaction as what it tells of, read by number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recall.domain.task import TaskRef
from recall.domain.text import clean
from recall.store.transaction import Rows, Transaction

if TYPE_CHECKING:
    from recall.domain.event import Event

_INSERT = """
INSERT INTO events (at, actor, kind, region, task, agent, run_id, merge_id, before, after, reason)
VALUES (:at, :actor, :kind, :region, :task, :agent, :run_id, :merge_id, :before, :after, :reason)
"""
_SINCE = """
SELECT seq, at, actor, kind, region, task, agent, run_id, merge_id, before, after, reason
FROM events WHERE seq > :seq ORDER BY seq LIMIT :limit
"""

_BACK = """
SELECT seq, at, actor, kind, region, task, agent, run_id, merge_id, before, after, reason
FROM events WHERE seq < :before AND (:agent IS NULL OR agent = :agent) AND (:kind IS NULL OR kind = :kind)
  AND (:task IS NULL OR (task = :task AND region = :region)) ORDER BY seq DESC LIMIT :limit
"""


def append(
    tx: Transaction,
    kind: str,
    *,
    actor: str,
    ref: TaskRef | None = None,
    agent: str | None = None,
    run_id: int | None = None,
    merge_id: int | None = None,
    before: str | None = None,
    after: str | None = None,
    reason: str = "",
) -> None:
    tx.change(
        _INSERT,
        {
            "at": tx.now.wall,
            "actor": clean(actor),
            "kind": kind,
            "region": ref.region if ref else None,
            "task": ref.id if ref else None,
            "agent": agent,
            "run_id": run_id,
            "merge_id": merge_id,
            "before": before,
            "after": after,
            "reason": clean(reason) if reason else "",
        },
    )


def since(rows: Rows, seq: int, limit: int) -> list[Event]:
    from recall.domain.event import Event

    return [Event(*row) for row in rows.all(_SINCE, {"seq": seq, "limit": limit})]


def back(
    rows: Rows, before: int | None, limit: int, ref: TaskRef | None, agent: str | None, kind: str | None
) -> list[Event]:
    values = {
        "before": 1 << 62 if before is None else before,
        "limit": limit,
        "region": ref.region if ref else None,
        "task": ref.id if ref else None,
        "agent": agent,
        "kind": kind,
    }
    from recall.domain.event import Event

    return [Event(*row) for row in rows.all(_BACK, values)]


def last_seq(rows: Rows) -> int:
    row = rows.one("SELECT max(seq) FROM events")
    return int(row[0] or 0) if row else 0
