"""Receipts: whether an outside action has happened, and what may be done about one of which nobody knows.

A lease decides whose result counts; a receipt decides whether an effect outside (an HTTP call, a push) is still to be
brought about. Its key names the business (`T-12:publish:v1`), never a lease version: whoever takes the task over asks
under the same key.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from recall.domain.clock import Deadline, Instant
from recall.domain.frozen import frozen
from recall.domain.pull_requests import is_pull_request
from recall.domain.task import TaskRef
from recall.domain.text import clean

#: The longest answer that is kept, in characters.
ANSWER_LIMIT = 64 * 1024
_CUT = "\n… (the answer was longer; only its beginning is kept)"
#: Near the end of a retention nothing is repeated: seconds for a request's way, and for clocks that differ.
_LONGEST_WAY = 300.0
_NOTICE = "notice:"
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+=-]{0,199}")


class ReceiptState(StrEnum):
    """`begun`: it may happen at any moment. `done`: it happened, and the answer is kept. `failed`: it is known not to
    have happened. `in_doubt`: whoever began it is gone without an answer, so it may have happened or not."""

    BEGUN = "begun"
    DONE = "done"
    FAILED = "failed"
    IN_DOUBT = "in_doubt"


RECEIPT_MOVES: dict[tuple[ReceiptState, ReceiptState], str] = {
    (ReceiptState.BEGUN, ReceiptState.DONE): "it happened",
    (ReceiptState.BEGUN, ReceiptState.FAILED): "it is known not to have happened",
    (ReceiptState.BEGUN, ReceiptState.IN_DOUBT): "whoever began it is gone, or cannot say how it ended",
    (ReceiptState.IN_DOUBT, ReceiptState.DONE): "the reconcile command or a person found that it happened",
    (ReceiptState.IN_DOUBT, ReceiptState.FAILED): "the reconcile command or a person found that it did not happen",
    (ReceiptState.IN_DOUBT, ReceiptState.BEGUN): "it is repeated under the same key, which the service honours",
    (ReceiptState.IN_DOUBT, ReceiptState.IN_DOUBT): "it was asked about in vain",
    (ReceiptState.FAILED, ReceiptState.BEGUN): "it is tried again",
    (ReceiptState.FAILED, ReceiptState.DONE): "it happened by another way",
}


@frozen
class Terms:
    """What is known of the service: `idempotent` says that it carries out one key only once, for `retention` seconds
    after it first saw it."""

    idempotent: bool = False
    retention: float = 86400.0


@frozen
class Receipt:
    """One row of the store. `intent` is the hash of what is to happen, `attempt` counts its beginnings and is what
    an answer must name. `began_at` is when the attempt before any repetition began, all times wall seconds UTC.
    `until` is when a beginning without a process counts as lost. `reason` says why it failed or is in doubt."""

    key: str
    intent: str
    state: ReceiptState
    attempt: int
    actor: str
    began_at: float
    changed_at: float
    answer: str = ""
    reason: str = ""
    terms: Terms = Terms()
    until: Deadline | None = None
    ref: TaskRef | None = None
    run_id: int | None = None


@frozen
class Happened:
    """The effect took place; `answer` is what the outside said to it."""

    answer: str = ""


@frozen
class DidNotHappen:
    """It is certain that nothing changed outside."""

    reason: str


@frozen
class Unknown:
    """Nobody can tell yet."""

    reason: str


Finding = Happened | DidNotHappen | Unknown


@frozen
class Wish:
    """An effect that somebody wants. `within`: it begins without a process that can be seen, and counts as lost so
    many seconds later. `run_id`: it is wanted by a run, which must hold its task to begin it."""

    key: str
    intent: str
    actor: str
    terms: Terms = Terms()
    ref: TaskRef | None = None
    run_id: int | None = None
    within: float | None = None


class Step(StrEnum):
    """What follows from a receipt for somebody who wants the effect."""

    BEGIN = "begin"
    """It has not happened: bring it about."""
    REPEAT = "repeat"
    """It may have happened: bring it about once more under the same key, since the service tells them apart."""
    GIVE_ANSWER = "give_answer"
    """It happened: the kept answer is the answer."""
    WAIT = "wait"
    """Somebody is at it."""
    RECONCILE = "reconcile"
    """It may have happened: somebody outside must be asked before anything else."""
    REFUSE = "refuse"
    """The key stands for something else."""


@frozen
class Begun:
    """What somebody who wants an effect may do, and its receipt once that was written down."""

    step: Step
    receipt: Receipt


def decide(receipt: Receipt | None, intent: str, *, alone: bool, now: Instant) -> Step:
    """Say what somebody may do who wants the effect `intent` under the receipt's key.

    `alone`: the caller holds the key's lock, so no process that began it is left. Of one that began without a process
    only its deadline speaks.
    """
    if receipt is None:
        return Step.BEGIN
    if receipt.intent != intent:
        return Step.REFUSE
    if receipt.state is ReceiptState.DONE:
        return Step.GIVE_ANSWER
    if receipt.state is ReceiptState.FAILED:
        return Step.BEGIN if alone else Step.WAIT
    if not alone or is_under_way(receipt, now):
        return Step.WAIT
    return Step.REPEAT if may_repeat(receipt, now.wall) else Step.RECONCILE


def is_under_way(receipt: Receipt, now: Instant) -> bool:
    """Tell whether a beginning without a process still has time."""
    return receipt.state is ReceiptState.BEGUN and receipt.until is not None and not receipt.until.passed(now)


def may_repeat(receipt: Receipt, now: float) -> bool:
    """Tell whether the service still tells a repetition from a second effect, and will when it arrives there. A clock
    that was set back proves nothing, and what was not stated when it began does not count."""
    retention = receipt.terms.retention
    on_its_way = min(_LONGEST_WAY, retention / 10)
    return receipt.terms.idempotent and 0.0 <= now - receipt.began_at < retention - on_its_way


def repeated(finding: Finding) -> Finding:
    """Say what a repetition tells of the whole: that it did not happen says nothing of what came before it."""
    if isinstance(finding, DidNotHappen):
        return Unknown(f"{finding.reason} when it was repeated; of the attempt before nobody knows")
    return finding


def needs_person(receipt: Receipt) -> bool:
    """Tell whether nobody but a person will look at it: doubt always; a failure where no command waited for it. Of a
    pull request the merge queue's entry tells; a notice is no reason for another one."""
    if receipt.actor == "dispatcher" and (is_pull_request(receipt.key) or is_notice(receipt.key)):
        return False
    return receipt.state is ReceiptState.IN_DOUBT or (
        receipt.state is ReceiptState.FAILED and receipt.actor == "dispatcher"
    )


def notice_key(kind: str, seq: int) -> str:
    """Name the receipt of a call of a person: by its kind and the newest event that it tells of, so that a restart
    meets it again."""
    return f"{_NOTICE}{kind}:{seq}"


def is_notice(key: str) -> bool:
    """Tell whether a receipt's key is one of `notice_key`."""
    return key.startswith(_NOTICE)


def read_notice_key(key: str) -> tuple[str, int]:
    """Give kind and newest event of a call from its key."""
    kind, _, seq = key.removeprefix(_NOTICE).rpartition(":")
    return kind, int(seq)


def waiting_words(receipt: Receipt) -> str:
    """Say what a person can do about it."""
    if receipt.actor == "dispatcher":
        again = "" if receipt.state is ReceiptState.FAILED else "; it is looked at again in a few minutes"
        return receipt.reason + again
    return (
        f"{receipt.key} may have happened or not: look, then `recall effect done {receipt.key}`, or `fail` "
        f"({receipt.reason})"
    )


def is_key(text: str) -> bool:
    """Tell whether a text can be a key: it is put into commands and addresses, so it is kept plain."""
    return _KEY.fullmatch(text) is not None


def intent_of(argv: Sequence[str], payload: bytes = b"") -> str:
    """Give the hash of what is to happen: the command as it was written, and what it is to send."""
    import hashlib
    import json

    words = json.dumps([*argv], ensure_ascii=True).encode()
    return hashlib.sha256(hashlib.sha256(words).digest() + hashlib.sha256(payload).digest()).hexdigest()


def kept_answer(raw: bytes) -> str:
    """Give an answer from outside as it is kept and shown: cleaned, and not longer than `ANSWER_LIMIT`."""
    text = clean(raw.decode("utf-8", "replace"))
    return text if len(text) <= ANSWER_LIMIT else text[:ANSWER_LIMIT] + _CUT
