"""An entry of the append-only event log: who did what, why, from what to what."""

from __future__ import annotations

from recall.domain.frozen import frozen


@frozen
class Event:
    """`seq` only grows. `at` is wall seconds UTC. `actor` is `dispatcher`, `shim`, `cli`, `agent NAME`,
    `person` or `store`; `kind` a dotted word such as `task.claimed`."""

    seq: int
    at: float
    actor: str
    kind: str
    region: str | None = None
    task: str | None = None
    agent: str | None = None
    run_id: int | None = None
    merge_id: int | None = None
    before: str | None = None
    after: str | None = None
    reason: str = ""
