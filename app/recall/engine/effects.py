"""Outside actions, each under a receipt: written down before it begins, answered after it, never guessed at."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Protocol

from recall.domain.clock import Clock
from recall.domain.frozen import frozen
from recall.domain.receipts import (
    Begun,
    DidNotHappen,
    Finding,
    Happened,
    Receipt,
    ReceiptState,
    Step,
    Unknown,
    Wish,
    is_under_way,
    repeated,
)
from recall.domain.run import Refused
from recall.engine.ports import Store
from recall.failpoint import failpoint


class Lock(Protocol):
    """The lock of one key. Whoever carries the effect out is handed its descriptor, so that the key stays locked
    while a command lives on behind a killed worker."""

    def fileno(self) -> int: ...
    def close(self) -> None: ...
    def discard(self) -> None:
        """Remove it: what it guarded is over for ever."""
        ...


#: Give the lock of a key, or the process id of who has it (0: unknown).
TakeLock = Callable[[str], Lock | int]
#: Does or asks something outside, holding the descriptor of the key's lock.
Outside = Callable[[int], Finding]


@frozen
class Settled:
    """How an effect stands: done, failed or in doubt. `fresh`: it was brought about just now."""

    receipt: Receipt
    fresh: bool = False


@frozen
class UnderWay:
    """Somebody is at it; asking again later is safe."""

    reason: str


class Effects:
    """One for each store. Every method may be called by several processes at once."""

    def __init__(self, store: Store, clock: Clock, take: TakeLock) -> None:
        self._store = store
        self._clock = clock
        self._take = take

    def run(self, wish: Wish, perform: Outside, reconcile: Outside | None = None) -> Settled | UnderWay | Refused:
        """Bring an effect about unless it happened already. `reconcile` asks whether it did when nobody knows."""
        known = self._store.receipt(wish.key)
        if known is not None and known.state is ReceiptState.DONE and known.intent == wish.intent:
            return Settled(known)
        lock = self._take(wish.key)
        if isinstance(lock, int):
            return _under_way(wish.key, lock)
        with closing(lock):
            outcome = self._alone(wish, perform, reconcile, lock.fileno())
        if isinstance(outcome, Settled) and outcome.receipt.state is ReceiptState.DONE:
            self._forget_lock(wish.key)
        return outcome

    def begin(self, wish: Wish) -> Begun | UnderWay | Refused:
        """Write a beginning down for somebody who acts without us and answers later."""
        lock = self._take(wish.key)
        if isinstance(lock, int):
            return _under_way(wish.key, lock)
        with closing(lock):
            begun = self._store.begin_effect(wish)
        failpoint("effect.begun")
        return _refused(wish.key) if isinstance(begun, Begun) and begun.step is Step.REFUSE else begun

    def answer(
        self, key: str, attempt: int | None, finding: Happened | DidNotHappen, *, actor: str
    ) -> Refused | None:
        """Take somebody's word for how it came out. Refused while a process works on it, which will say so itself."""
        lock = self._take(key)
        if isinstance(lock, int):
            return Refused(_under_way(key, lock).reason)
        with closing(lock):
            return self._write(key, attempt, finding, actor)

    def sweep(self, actor: str = "dispatcher") -> None:
        """Put what was begun by somebody who is gone in doubt, so that it is not forgotten."""
        now = self._clock.now()
        for receipt in self._store.receipts():
            if receipt.state is ReceiptState.BEGUN and not is_under_way(receipt, now):
                self._doubt(receipt, actor)

    def _doubt(self, receipt: Receipt, actor: str) -> None:
        lock = self._take(receipt.key)
        if isinstance(lock, int):
            return
        with closing(lock):
            if self._store.receipt(receipt.key) == receipt:
                why = Unknown("whoever began it ended without an answer")
                self._write(receipt.key, receipt.attempt, why, actor)

    # -- with the key's lock held ------------------------------------------------------------------------------

    def _alone(
        self, wish: Wish, perform: Outside, reconcile: Outside | None, lock: int
    ) -> Settled | UnderWay | Refused:
        begun = self._store.begin_effect(wish)
        if isinstance(begun, Begun) and begun.step is Step.RECONCILE and reconcile is not None:
            settled = self._ask(begun.receipt, reconcile, wish.actor, lock)
            if settled.receipt.state is not ReceiptState.FAILED:
                return settled
            begun = self._store.begin_effect(wish)
        if isinstance(begun, Refused):
            return begun
        match begun.step:
            case Step.BEGIN | Step.REPEAT:
                return self._perform(wish, begun, perform, reconcile, lock)
            case Step.GIVE_ANSWER | Step.RECONCILE:
                return Settled(begun.receipt)
            case Step.WAIT:
                return _under_way(wish.key, 0)
            case Step.REFUSE:
                return _refused(wish.key)

    def _perform(self, wish: Wish, begun: Begun, perform: Outside, reconcile: Outside | None, lock: int) -> Settled:
        receipt = begun.receipt
        failpoint("effect.begun")
        try:
            finding = perform(lock)
            if begun.step is Step.REPEAT:
                finding = repeated(finding)
        except BaseException:
            self._write(receipt.key, receipt.attempt, Unknown("it was interrupted"), wish.actor)
            raise
        failpoint("effect.performed")
        self._write(receipt.key, receipt.attempt, finding, wish.actor)
        failpoint("effect.recorded")
        if isinstance(finding, Unknown) and reconcile is not None:
            return self._ask(receipt, reconcile, wish.actor, lock)
        return self._settled(receipt.key, fresh=True)

    def _ask(self, receipt: Receipt, reconcile: Outside, actor: str, lock: int) -> Settled:
        finding = reconcile(lock)
        failpoint("effect.reconciled")
        self._write(receipt.key, receipt.attempt, finding, actor)
        return self._settled(receipt.key)

    def _settled(self, key: str, *, fresh: bool = False) -> Settled:
        receipt = self._store.receipt(key)
        assert receipt is not None
        return Settled(receipt, fresh)

    def _write(self, key: str, attempt: int | None, finding: Finding, actor: str) -> Refused | None:
        match finding:
            case Happened(answer):
                return self._store.answer_effect(key, attempt, ReceiptState.DONE, actor=actor, answer=answer)
            case DidNotHappen(reason):
                return self._store.answer_effect(key, attempt, ReceiptState.FAILED, actor=actor, reason=reason)
            case Unknown(reason):
                return self._store.answer_effect(key, attempt, ReceiptState.IN_DOUBT, actor=actor, reason=reason)

    def _forget_lock(self, key: str) -> None:
        """Nobody has to wait for anybody over what is done: its lock file may go."""
        lock = self._take(key)
        if not isinstance(lock, int):
            lock.discard()


def _under_way(key: str, process: int) -> UnderWay:
    who = f"process {process} is at it" if process else "somebody is at it"
    return UnderWay(f"{key} has begun, and {who}; ask again later")


def _refused(key: str) -> Refused:
    return Refused(f"{key} stands for another action: the command or its payload differs; use another key for it")
