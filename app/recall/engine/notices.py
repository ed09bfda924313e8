"""Calls a person outside the screen, each call under a receipt: a restart forgets none, and repeats none that went
out."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future

from recall.domain.event import Event
from recall.domain.receipts import (
    Finding,
    Happened,
    ReceiptState,
    Terms,
    Wish,
    intent_of,
    is_notice,
    notice_key,
    read_notice_key,
)
from recall.domain.signals import Call, Signal
from recall.domain.task import TaskRef, TaskState
from recall.engine.effects import Effects
from recall.engine.jobs import Jobs
from recall.engine.ports import Store

ACTOR = "dispatcher"
#: A call of which nobody knows is made again within it, in seconds: told twice is better than never.
RETENTION = 86400.0


class Notices:
    """`call` is for the engine's loop, which calls `look` as well; the calls themselves are made beside it, one after
    another."""

    def __init__(
        self, store: Store, effects: Effects, perform: Callable[[str, Signal], Finding], *, may: Callable[[], bool]
    ) -> None:
        """`perform` makes a call, given its key. `may` tells whether a person confirmed what it runs."""
        self._store = store
        self._effects = effects
        self._perform = perform
        self._may = may
        self._waiting: deque[Call] = deque()
        self._job: Future[None] | None = None

    def told(self) -> dict[str, int]:
        """Give, for each kind, the newest event that a finished call told of."""
        newest: dict[str, int] = {}
        for receipt in self._store.receipts(open_only=False):
            if is_notice(receipt.key) and receipt.state in (ReceiptState.DONE, ReceiptState.FAILED):
                kind, seq = read_notice_key(receipt.key)
                newest[kind] = max(seq, newest.get(kind, 0))
        return newest

    def unanswered(self) -> list[tuple[str, int]]:
        """Give kind and newest event of calls that began and of which nobody knows."""
        open_ = (ReceiptState.BEGUN, ReceiptState.IN_DOUBT)
        found = [receipt.key for receipt in self._store.receipts() if receipt.state in open_]
        return [read_notice_key(key) for key in found if is_notice(key)]

    def let_go(self, kind: str, seq: int) -> None:
        """Close a call that nobody needs any more."""
        self._effects.answer(notice_key(kind, seq), None, Happened("it was over by then"), actor=ACTOR)

    def call(self, call: Call) -> None:
        self._waiting.append(call)

    def look(self, jobs: Jobs, *, start: bool) -> None:
        """Start the next call. Raises what the last one ended with, if that was an error."""
        job = self._job
        if job is not None and job.done():
            self._job = None
            job.result()
        if start and self._job is None and self._waiting and self._may():
            call = self._waiting.popleft()
            self._job = jobs.ask(lambda: self._make(call))

    def under_way(self) -> bool:
        return self._job is not None

    def pending(self) -> bool:
        return self._job is not None or (bool(self._waiting) and self._may())

    def finish(self) -> None:
        """Make, in this thread, the calls that still wait when the work is over."""
        while self._waiting and self._may():
            self._make(self._waiting.popleft())

    def _make(self, call: Call) -> None:
        key = notice_key(call.signal.kind, call.seq)
        wish = Wish(key, intent_of((key,)), ACTOR, terms=Terms(idempotent=True, retention=RETENTION))
        late = Happened("nobody knows whether it was told, and it is too late to tell it again")
        self._effects.run(wish, lambda _: self._perform(key, call.signal), lambda _: late)


def still_holds(event: Event, store: Store) -> bool:
    """Tell whether what an event called for still waits for a person, or is not of the kind that passes."""
    if event.region and event.task:
        task = store.task(TaskRef(event.region, event.task))
        waits = TaskState.NEEDS_PERSON if event.after == TaskState.NEEDS_PERSON else TaskState.LANDING
        return event.after in (TaskState.DONE, TaskState.CANCELLED) or (task is not None and task.state is waits)
    if event.agent:
        return any(one.name == event.agent and (one.stopped_reason or one.cooling_reason) for one in store.agents())
    return True
