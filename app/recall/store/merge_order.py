"""What a person does to the merge queue's order, and when it is tried again."""

from __future__ import annotations

from collections.abc import Sequence

from recall.domain.merge import (
    BUSY_MERGE_STATES,
    FINAL_MERGE_STATES,
    MAIN_OID,
    QUEUE_HELD,
    QUEUE_RETRIED,
    MergeEntry,
    MergeState,
    Shift,
    rearranged,
)
from recall.domain.run import Refused
from recall.store import events, reading, settings
from recall.store.transaction import Transaction

_PLACE = "UPDATE merges SET position = :position WHERE id = :id"


def move(tx: Transaction, merge_id: int, to: Shift | int, actor: str) -> Refused | None:
    entry = _open_entry(tx, merge_id, "move", actor)
    if isinstance(entry, Refused):
        return entry
    entries = reading.merges(tx, open_only=True)
    order = rearranged(entries, merge_id, to)
    if isinstance(order, str):
        return _refused(tx, entry, "move", actor, order)
    before = [each.id for each in entries].index(merge_id) + 1
    _put_in_order(tx, entries, order)
    kind = "merge.skipped" if to is Shift.LAST else "merge.moved"
    _tell(tx, entry, kind, actor, before=str(before), after=str(order.index(merge_id) + 1))
    return None


def retry(tx: Transaction, merge_id: int, actor: str) -> Refused | None:
    """Ask the queue, wherever it runs, to forget what it holds against entries and main, and to try again."""
    entry = _open_entry(tx, merge_id, "retry", actor)
    if isinstance(entry, Refused):
        return entry
    refusal = _why_not_again(tx, entry)
    if refusal:
        return _refused(tx, entry, "retry", actor, refusal)
    settings.put(tx, QUEUE_RETRIED, str(int(settings.get(tx, QUEUE_RETRIED) or "0") + 1))
    _tell(tx, entry, "merge.retried", actor, before=entry.state)
    return None


def release(tx: Transaction, actor: str) -> Refused | None:
    """Let a queue that was held because main was rewritten go on from main as it is now."""
    reason = settings.get(tx, QUEUE_HELD)
    if not reason:
        return Refused("nothing holds the merge queue")
    settings.put(tx, QUEUE_HELD, "")
    settings.put(tx, MAIN_OID, "")
    events.append(tx, "queue.released", actor=actor, before=reason)
    return None


def _why_not_again(tx: Transaction, entry: MergeEntry) -> str:
    held = settings.get(tx, QUEUE_HELD)
    if held:
        return f"the merge queue is held: {held}"
    if entry.state is MergeState.CONFLICT:
        return f"{entry.ref} is in conflict with main, which trying again does not change: resolve or requeue it"
    return f"{entry.ref} is {entry.state} this moment: wait for it" if entry.state in BUSY_MERGE_STATES else ""


def _put_in_order(tx: Transaction, entries: Sequence[MergeEntry], order: Sequence[int]) -> None:
    """Deal the same places out anew. Positions are unique at every moment, so the way leads over negative ones."""
    places = [entry.position for entry in entries]
    moved = [(id_, place) for entry, id_, place in zip(entries, order, places, strict=True) if entry.id != id_]
    for id_, place in moved:
        tx.change(_PLACE, {"id": id_, "position": -place})
    for id_, place in moved:
        tx.change(_PLACE, {"id": id_, "position": place})


def _open_entry(tx: Transaction, merge_id: int, wish: str, actor: str) -> MergeEntry | Refused:
    entry = reading.merge(tx, merge_id)
    if entry is None:
        return Refused(f"there is no merge entry {merge_id}")
    if entry.state in FINAL_MERGE_STATES:
        return _refused(tx, entry, wish, actor, f"{entry.ref} is {entry.state} already, it waits in no queue")
    return entry


def _refused(tx: Transaction, entry: MergeEntry, wish: str, actor: str, refusal: str) -> Refused:
    _tell(tx, entry, "merge.refused", actor, before=entry.state, after=wish, reason=refusal)
    return Refused(refusal)


def _tell(
    tx: Transaction,
    entry: MergeEntry,
    kind: str,
    actor: str,
    *,
    before: str | None = None,
    after: str | None = None,
    reason: str = "",
) -> None:
    events.append(
        tx,
        kind,
        actor=actor,
        ref=entry.ref,
        run_id=entry.run_id,
        merge_id=entry.id,
        before=before,
        after=after,
        reason=reason,
    )
