"""Where main is protected: verified work is offered as a pull request, and counts once main at the remote has it."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from typing import Protocol

from recall.domain.errors import EnvironmentFailure
from recall.domain.merge import QUEUE_RETRIED, MergeEntry
from recall.domain.pull_requests import Fate, Offer, PullRequest, PullRequestState, branch_of, fate_of, key_of
from recall.domain.receipts import DidNotHappen, Finding, Happened, ReceiptState, Unknown, Wish, intent_of
from recall.domain.run import Refused, RunResult
from recall.domain.task import TaskState
from recall.domain.text import clean_line
from recall.engine.effects import Effects, UnderWay
from recall.engine.jobs import Jobs
from recall.engine.parts import Parts
from recall.failpoint import failpoint

ACTOR = "dispatcher"
_CALM = 60.0  #: seconds between two looks at the remote
_RETRY = 300.0  #: seconds before an offer that failed is made again
_SOON = 5.0  #: seconds before one is looked at again at which somebody else is


class Remote(Protocol):
    """Branches at a remote."""

    @property
    def name(self) -> str: ...
    @property
    def main(self) -> str: ...
    def push_branch(self, branch: str, commit: str) -> Finding: ...
    def fetch_main(self) -> str | Unknown:
        """Give main's commit there, which is known here afterwards."""
        ...

    def contains(self, tip: str, commit: str) -> bool: ...


class Forge(Protocol):
    """The host that keeps pull requests."""

    def missing(self) -> str: ...
    def find(self, branch: str, lock: int | None = None) -> PullRequest | Unknown | None: ...
    def ask(self, offer: Offer, lock: int) -> Finding: ...
    def open(self, offer: Offer, lock: int) -> Finding: ...


class PullRequests:
    """Looks after all offers: once when one is made, then every minute, and when a person says `retry`. It moves
    nothing here; the merge queue lets main follow. Called by the engine's loop alone, but for `visit`."""

    def __init__(self, parts: Parts, effects: Effects, remote: Remote, forge: Forge) -> None:
        self._parts = parts
        self._effects = effects
        self._remote = remote
        self._forge = forge
        self._job: Future[None] | None = None
        self._visited: set[int] = set()
        self._seen: set[int] = set()
        self._not_before = 0.0
        self._failed: dict[int, float] = {}
        self._retried: str | None = None

    def look(self, jobs: Jobs, *, start: bool) -> None:
        """Start a visit if it is time for one, and `start` allows it. Raises what the last one ended with, if that
        was an error."""
        job = self._job
        if job is not None and job.done():
            self._job = None
            job.result()
        if start and self._job is None and (entries := self._due()):
            self._not_before = self._parts.clock.now().mono + _CALM
            self._job = jobs.ask(lambda: self.visit(entries))

    def under_way(self) -> bool:
        return self._job is not None

    def pending(self) -> bool:
        """Tell whether an offer was not looked at yet, or is being looked at."""
        return self._job is not None or any(entry.id not in self._seen for entry in self._offered())

    def visit(self, entries: list[MergeEntry]) -> None:
        """Make each offer that was not made, and write down what became of each. Raises EnvironmentFailure when
        nobody could say what became of one."""
        self._visited |= {entry.id for entry in entries}
        main = self._remote.fetch_main()
        if isinstance(main, Unknown):
            self._seen |= {entry.id for entry in entries}
            for entry in entries:
                if not self._was_made(entry):
                    self._parts.store.merge_offered(entry.id, main.reason)
            raise EnvironmentFailure(f"pull requests: {main.reason}")
        troubles = [trouble for entry in entries if (trouble := self._look_at(entry, main))]
        if troubles:
            raise EnvironmentFailure(f"pull requests: {troubles[0]}")

    def _look_at(self, entry: MergeEntry, main: str) -> str:
        """Give why nobody could say what became of it, or ""."""
        offer, remote = self._offer(entry), self._remote
        unopened = self._opened(entry, offer, main)
        failpoint("offer.made")
        found = None if self._forge.missing() else self._forge.find(offer.branch)
        fate = fate_of(
            offer,
            None if isinstance(found, Unknown) else found,
            lambda commit: remote.contains(main, commit),
            main=f"{remote.main} at {remote.name}",
            unopened=unopened,
        )
        self._record(entry, fate, main)
        return found.reason if isinstance(found, Unknown) else ""

    def _record(self, entry: MergeEntry, fate: Fate, main: str) -> None:
        store, parts = self._parts.store, self._parts
        match fate.state:
            case PullRequestState.OPEN:
                store.merge_offered(entry.id, fate.why)
            case PullRequestState.MERGED:
                self._settle_receipt(entry, fate)
                store.merge_offered(entry.id, fate.why, merged=main)
                failpoint("offer.merged_recorded")
            case PullRequestState.CLOSED:
                run = store.run(entry.run_id)
                assert run is not None
                settlement = replace(
                    parts.settlement(run, RunResult.CANCELLED, fate.why),
                    task_state=TaskState.NEEDS_PERSON,
                    task_reason=fate.why,
                    retry_at=None,
                )
                store.merge_rejected(entry.id, fate.why, settlement=settlement)

    def _settle_receipt(self, entry: MergeEntry, fate: Fate) -> None:
        """Somebody brought it there without the pull request that could not be opened."""
        key = self._key(entry)
        receipt = self._parts.store.receipt(key)
        if receipt is not None and receipt.state is not ReceiptState.DONE:
            self._effects.answer(key, None, Happened(fate.why), actor=ACTOR)

    # -- making an offer ---------------------------------------------------------------------------------------

    def _opened(self, entry: MergeEntry, offer: Offer, main: str) -> str:
        """Make the offer unless it was made; says what is to be told as long as nobody finds its pull request."""
        key, now = self._key(entry), self._parts.clock.now().mono
        receipt = self._parts.store.receipt(key)
        if receipt is not None and receipt.state is not ReceiptState.DONE and now < self._failed.get(entry.id, 0.0):
            self._seen.add(entry.id)
            return receipt.reason
        intent = intent_of(("pull-request", self._remote.name, offer.branch, self._remote.main))
        wish = Wish(key, intent, ACTOR, ref=entry.ref)
        outcome = self._effects.run(
            wish, lambda lock: self._open(offer, main, lock), lambda lock: self._forge.ask(offer, lock)
        )
        if isinstance(outcome, UnderWay):
            self._not_before = now + _SOON
            return outcome.reason
        self._seen.add(entry.id)
        if isinstance(outcome, Refused):
            return outcome.reason
        if outcome.receipt.state is ReceiptState.DONE:
            return f"waits until its pull request is merged: {outcome.receipt.answer}"
        self._failed[entry.id] = now + _RETRY
        return outcome.receipt.reason

    def _open(self, offer: Offer, main: str, lock: int) -> Finding:
        """Whatever keeps the branch from getting there, no pull request was opened."""
        remote, forge = self._remote, self._forge
        if not remote.contains(main, offer.onto):
            return DidNotHappen(
                f"{remote.main} here has commits that {remote.name} does not: they would be part of the pull "
                "request; bring them there first, and it is opened then"
            )
        pushed = remote.push_branch(offer.branch, offer.commit)
        failpoint("offer.branch_pushed")
        if not isinstance(pushed, Happened):
            return DidNotHappen(pushed.reason)
        if missing := forge.missing():
            return DidNotHappen(
                f"{missing}: open a pull request of the branch {offer.branch}, which is at {remote.name}, "
                f"for {remote.main}"
            )
        return forge.open(offer, lock)

    def _offer(self, entry: MergeEntry) -> Offer:
        assert entry.candidate is not None
        assert entry.onto is not None
        assert entry.offered is not None
        task = self._parts.store.task(entry.ref)
        title = clean_line(task.title) if task is not None else ""
        verified = (task.verify if task is not None else None) or self._parts.settings.verify
        passed = f"It passed `{clean_line(verified)}`" if verified else "It was not verified"
        return Offer(
            branch_of(entry.ref, entry.offered),
            entry.candidate,
            entry.onto,
            f"{entry.ref}: {title}",
            f"Task {entry.ref} of the task list. {passed} on top of {entry.onto[:10]}.",
        )

    def _was_made(self, entry: MergeEntry) -> bool:
        receipt = self._parts.store.receipt(self._key(entry))
        return receipt is not None and receipt.state is ReceiptState.DONE

    def _key(self, entry: MergeEntry) -> str:
        assert entry.offered is not None
        return key_of(entry.ref, entry.offered)

    def _offered(self) -> list[MergeEntry]:
        return [entry for entry in self._parts.store.merges() if entry.is_offered]

    def _due(self) -> list[MergeEntry]:
        entries = self._offered()
        if not entries:
            return []
        asked = self._parts.store.setting(QUEUE_RETRIED)
        if asked != self._retried:
            self._retried, self._not_before = asked, 0.0
            self._failed.clear()
        if self._parts.clock.now().mono >= self._not_before:
            return entries
        return [entry for entry in entries if entry.id not in self._visited]
