"""Receipts of outside actions: begun before anything happens outside, answered afterwards."""

from __future__ import annotations

import sqlite3

from recall.domain.clock import Deadline
from recall.domain.receipts import RECEIPT_MOVES, Begun, Receipt, ReceiptState, Step, Terms, Wish, decide
from recall.domain.run import Refused
from recall.domain.task import TaskRef
from recall.domain.text import clean
from recall.domain.work import LandedCommit
from recall.store import events, reading
from recall.store.runs import LEASED
from recall.store.transaction import Rows, Transaction, Values

_INSERT = """
INSERT INTO receipts (key, intent, state, actor, region, task, run_id, began_at, changed_at, until_boot, until_mono,
  idempotent, retention)
VALUES (:key, :intent, 'begun', :actor, :region, :task, :run_id, :wall, :wall, :until_boot, :until_mono,
  :idempotent, :retention)
"""
_BEGIN_AGAIN = """
UPDATE receipts SET state = 'begun', attempt = attempt + 1, actor = :actor, run_id = :run_id, began_at = :wall,
  changed_at = :wall, until_boot = :until_boot, until_mono = :until_mono, idempotent = :idempotent,
  retention = :retention, answer = '', reason = ''
WHERE key = :key
"""
# What was stated of the service when it began stays what counts.
_REPEAT = """
UPDATE receipts SET state = 'begun', attempt = attempt + 1, actor = :actor, run_id = :run_id, changed_at = :wall,
  until_boot = :until_boot, until_mono = :until_mono, reason = ''
WHERE key = :key
"""
_ANSWER = """
UPDATE receipts SET state = :after, changed_at = :wall, until_boot = NULL, until_mono = NULL, answer = :answer,
  reason = :reason
WHERE key = :key
"""
_ALL = "SELECT * FROM receipts ORDER BY changed_at, key"
_OPEN = "SELECT * FROM receipts WHERE state <> 'done' ORDER BY changed_at, key"
_NEWEST_LANDING = """
SELECT region, task, landed_commit FROM landings ORDER BY landed_at DESC, merge_id DESC LIMIT 1
"""


def one(rows: Rows, key: str) -> Receipt | None:
    row = rows.one("SELECT * FROM receipts WHERE key = :key", {"key": key})
    return _receipt(row) if row is not None else None


def every(rows: Rows, *, open_only: bool) -> list[Receipt]:
    return [_receipt(row) for row in rows.all(_OPEN if open_only else _ALL)]


def newest_landing(rows: Rows) -> LandedCommit | None:
    row = rows.one(_NEWEST_LANDING)
    return LandedCommit(TaskRef(row["region"], row["task"]), row["landed_commit"]) if row is not None else None


def begin(tx: Transaction, wish: Wish) -> Begun | Refused:
    """Decide for somebody who holds the key's lock, and write a beginning, or doubt, down."""
    known = one(tx, wish.key)
    step = decide(known, wish.intent, alone=True, now=tx.now)
    if step in (Step.BEGIN, Step.REPEAT):
        if (refused := _without_lease(tx, wish)) is not None:
            return refused
        _begin(tx, wish, known, step)
    elif step is Step.RECONCILE and known is not None and known.state is ReceiptState.BEGUN:
        _move(tx, known, ReceiptState.IN_DOUBT, wish.actor, reason="whoever began it ended without an answer")
    elif step is Step.REFUSE:
        _tell(tx, wish, "effect.refused", known, "the key stands for another action")
    receipt = one(tx, wish.key)
    assert receipt is not None
    return Begun(step, receipt)


def answer(
    tx: Transaction, key: str, attempt: int | None, after: ReceiptState, actor: str, text: str, reason: str
) -> Refused | None:
    """Say how an attempt came out; None: whichever was the last."""
    known = one(tx, key)
    if known is None:
        return Refused(f"there is no receipt {key}; `recall effect list --all` shows what there is")
    if attempt not in (None, known.attempt):
        events.append(tx, "effect.refused", actor=actor, ref=known.ref, reason=f"{key}: attempt {attempt} is over")
        return Refused(f"attempt {attempt} of {key} is over: attempt {known.attempt} is {_word(known)}")
    if known.state is after and (known.answer, known.reason) == (clean(text), clean(reason)):
        return None
    if (known.state, after) not in RECEIPT_MOVES:
        events.append(tx, "effect.refused", actor=actor, ref=known.ref, reason=f"{key}: is {_word(known)} already")
        return Refused(_final(known))
    _move(tx, known, after, actor, text=text, reason=reason)
    return None


def _begin(tx: Transaction, wish: Wish, known: Receipt | None, step: Step) -> None:
    tx.change(_INSERT if known is None else _BEGIN_AGAIN if step is Step.BEGIN else _REPEAT, _values(tx, wish))
    kind = "effect.begun" if step is Step.BEGIN else "effect.repeated"
    _tell(tx, wish, kind, known, "", after=ReceiptState.BEGUN)


def _without_lease(tx: Transaction, wish: Wish) -> Refused | None:
    """A run that lost its task may ask what happened, but begin nothing. Leases that ran out are over by now."""
    if wish.run_id is None:
        return None
    run = reading.run(tx, wish.run_id)
    if run is not None and run.state in LEASED:
        return None
    _tell(tx, wish, "effect.refused", None, f"run {wish.run_id} does not hold its task any more")
    return Refused(f"run {wish.run_id} does not hold its task any more: nothing was begun", lease_lost=True)


def _move(
    tx: Transaction, known: Receipt, after: ReceiptState, actor: str, *, text: str = "", reason: str = ""
) -> None:
    values = {"key": known.key, "after": after, "wall": tx.now.wall, "answer": clean(text), "reason": clean(reason)}
    tx.change(_ANSWER, values)
    events.append(
        tx,
        f"effect.{after}",
        actor=actor,
        ref=known.ref,
        run_id=known.run_id,
        before=known.state,
        after=after,
        reason=known.key + (f": {reason}" if reason else ""),
    )


def _tell(
    tx: Transaction, wish: Wish, kind: str, known: Receipt | None, why: str, after: ReceiptState | None = None
) -> None:
    events.append(
        tx,
        kind,
        actor=wish.actor,
        ref=wish.ref,
        run_id=wish.run_id,
        before=known.state if known is not None else None,
        after=after,
        reason=f"{wish.key}: {why}" if why else wish.key,
    )


def _values(tx: Transaction, wish: Wish) -> Values:
    within = wish.within
    return {
        "key": wish.key,
        "intent": wish.intent,
        "actor": clean(wish.actor),
        "region": wish.ref.region if wish.ref else None,
        "task": wish.ref.id if wish.ref else None,
        "run_id": wish.run_id,
        "wall": tx.now.wall,
        "until_boot": tx.now.boot if within is not None else None,
        "until_mono": tx.now.mono + within if within is not None else None,
        "idempotent": int(wish.terms.idempotent),
        "retention": wish.terms.retention,
    }


def _receipt(row: sqlite3.Row) -> Receipt:
    return Receipt(
        key=row["key"],
        intent=row["intent"],
        state=ReceiptState(row["state"]),
        attempt=row["attempt"],
        actor=row["actor"],
        began_at=row["began_at"],
        changed_at=row["changed_at"],
        answer=row["answer"],
        reason=row["reason"],
        terms=Terms(bool(row["idempotent"]), row["retention"]),
        until=Deadline(row["until_boot"], row["until_mono"]) if row["until_boot"] is not None else None,
        ref=TaskRef(row["region"], row["task"]) if row["task"] is not None else None,
        run_id=row["run_id"],
    )


def _word(receipt: Receipt) -> str:
    return receipt.state.replace("_", " ")


def _final(receipt: Receipt) -> str:
    if receipt.state is ReceiptState.DONE:
        return f"{receipt.key} is done, and its answer is kept; another action needs another key"
    return f"{receipt.key} is {_word(receipt)}; nothing was changed"
