"""Small named values that outlive a process: main's last known commit, whether dispatching is paused."""

from __future__ import annotations

from recall.domain.run import Refused
from recall.store import events
from recall.store.transaction import Rows, Transaction

_PAUSED = "dispatching_paused"
_PAUSED_REASON = "dispatching_paused_reason"
_DEFAULT_MAX_INTERRUPTIONS = 5


def get(rows: Rows, key: str) -> str | None:
    row = rows.one("SELECT value FROM settings WHERE key = :key", {"key": key})
    return row["value"] if row else None


def put(tx: Transaction, key: str, value: str) -> None:
    tx.change(
        "INSERT INTO settings (key, value) VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = :value",
        {"key": key, "value": value},
    )


def change(tx: Transaction, key: str, value: str, actor: str) -> None:
    """Put a value and tell of it, if it is another one."""
    before = get(tx, key)
    if before == value:
        return
    put(tx, key, value)
    events.append(tx, "setting.changed", actor=actor, before=before, after=value, reason=key)


def max_interruptions(rows: Rows) -> int:
    """How many interruptions a task survives before it needs a person."""
    from recall.domain.outcome import MAX_INTERRUPTIONS

    value = get(rows, MAX_INTERRUPTIONS) or ""
    return int(value) if value.isdecimal() else _DEFAULT_MAX_INTERRUPTIONS


def is_paused(rows: Rows) -> bool:
    return get(rows, _PAUSED) == "yes"


def paused_reason(rows: Rows) -> str:
    return get(rows, _PAUSED_REASON) or ""


def pause(tx: Transaction, actor: str, reason: str) -> Refused | None:
    if is_paused(tx) and paused_reason(tx) == reason:
        return Refused("dispatching is paused already")
    put(tx, _PAUSED, "yes")
    put(tx, _PAUSED_REASON, reason)
    events.append(tx, "dispatching.paused", actor=actor, reason=reason)
    return None


def resume(tx: Transaction, actor: str) -> Refused | None:
    if not is_paused(tx):
        return Refused("dispatching is not paused")
    put(tx, _PAUSED, "no")
    put(tx, _PAUSED_REASON, "")
    events.append(tx, "dispatching.resumed", actor=actor)
    return None
