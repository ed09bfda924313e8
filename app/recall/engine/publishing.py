"""After a landing main is brought to a remote: under a receipt, beside everything else, holding nothing up."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol

from recall.domain.clock import Clock
from recall.domain.frozen import frozen
from recall.domain.receipts import Finding, Happened, ReceiptState, Wish, intent_of
from recall.domain.work import LandedCommit
from recall.engine.effects import Effects, Settled
from recall.engine.jobs import Jobs
from recall.engine.ports import Store

ACTOR = "dispatcher"
_RETRY = 300.0  #: seconds


class Remote(Protocol):
    """Main at a remote."""

    @property
    def name(self) -> str: ...
    @property
    def main(self) -> str: ...
    def push(self, commit: str) -> Finding: ...
    def has(self, commit: str) -> Finding: ...


class Publisher:
    """Pushes what landed last, which holds all that landed before. What was refused is tried again with the next
    landing, every five minutes and at a start. Called by the engine's loop alone, but for `publish`."""

    def __init__(
        self, store: Store, effects: Effects, clock: Clock, remote: Remote, on_main: Callable[[str], bool]
    ) -> None:
        """`on_main` tells whether main here still has a commit."""
        self._store = store
        self._effects = effects
        self._clock = clock
        self._remote = remote
        self._on_main = on_main
        self._job: Future[None] | None = None
        self._tried = ""
        self._not_before = 0.0

    def look(self, jobs: Jobs, *, start: bool) -> None:
        """Start a push if there is something to push, and `start` allows it. Raises what the last one ended with, if
        that was an error."""
        job = self._job
        if job is not None and job.done():
            self._job = None
            job.result()
        landed = self._due() if start and self._job is None else None
        if landed is not None:
            self._tried, self._not_before = landed.commit, self._clock.now().mono + _RETRY
            self._job = jobs.ask(lambda: self.publish(landed))

    def under_way(self) -> bool:
        return self._job is not None

    def pending(self) -> bool:
        """Tell whether a landing was not tried yet, or is being pushed."""
        return self._job is not None or self._due() is not None

    def publish(self, landed: LandedCommit) -> None:
        """Bring one commit to the remote, unless it is there or main here was rewritten."""
        remote, commit = self._remote, landed.commit
        if not self._on_main(commit):
            return
        wish = Wish(
            f"{self._family}{commit}",
            intent_of(("git", "push", remote.name, f"{commit}:{remote.main}")),
            ACTOR,
            ref=landed.ref,
        )
        outcome = self._effects.run(wish, lambda _: remote.push(commit), lambda _: remote.has(commit))
        if isinstance(outcome, Settled) and outcome.receipt.state is ReceiptState.DONE:
            self._settle_earlier(wish.key, commit)

    def _settle_earlier(self, key: str, commit: str) -> None:
        """What could not be pushed before has come with a later commit."""
        for receipt in self._store.receipts():
            if receipt.key.startswith(self._family) and receipt.key != key:
                came = Happened(f"it came with {commit}")
                self._effects.answer(receipt.key, None, came, actor=ACTOR)

    @property
    def _family(self) -> str:
        return f"push:{self._remote.name}:{self._remote.main}:"

    def _due(self) -> LandedCommit | None:
        landed = self._store.newest_landing()
        if landed is None or (landed.commit == self._tried and self._clock.now().mono < self._not_before):
            return None
        receipt = self._store.receipt(f"{self._family}{landed.commit}")
        return None if receipt is not None and receipt.state is ReceiptState.DONE else landed


class Actor(Protocol):
    """Acts outside beside the engine's loop, which calls it."""

    def look(self, jobs: Jobs, *, start: bool) -> None: ...
    def under_way(self) -> bool: ...
    def pending(self) -> bool: ...


@frozen
class Outside:
    """The outside actions that a dispatcher looks after: those of others that nobody stands behind any more, and its
    own, if it has any."""

    effects: Effects
    actors: tuple[Actor, ...] = ()

    def look(self, jobs: Jobs, *, halting: bool) -> None:
        self.effects.sweep()
        for actor in self.actors:
            actor.look(jobs, start=not halting)

    def busy(self, *, halting: bool) -> bool:
        return any(actor.under_way() if halting else actor.pending() for actor in self.actors)
