"""The merge queue: one entry at a time is rebased on main, verified as the exact tree that lands, and landed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from recall.domain.conflict import LandedChange, RecordedFile, conflict_reason
from recall.domain.errors import RecallError
from recall.domain.merge import MAIN_OID, QUEUE_HELD, QUEUE_RETRIED, RED_MAIN, MergeEntry, MergeState
from recall.domain.outcome import Settlement
from recall.domain.run import Run, RunResult
from recall.domain.task import TaskState
from recall.domain.text import clean
from recall.domain.work import (
    Conflict,
    Landed,
    LandingOutcome,
    MainMoved,
    NothingNew,
    Rebased,
    Verified,
    WaitingForCheckout,
)
from recall.engine.parts import Parts
from recall.engine.trust import all_confirmed
from recall.engine.verification import Verifier
from recall.failpoint import failpoint

HELD = QUEUE_HELD
MAIN = MAIN_OID
_UNCONFIRMED = "a verify command is in force that no person confirmed"
_APART = (
    "its pull request is merged, but main here has commits that main at the remote does not; bring them together "
    "(`git pull`), and it counts as landed"
)
_RETRY_WAITING = 2.0
_PATIENCE_UNSEEN = 58.0  #: more, in seconds, where git did not move main although nothing seemed in the way
_UNDER_WAY = frozenset({MergeState.VERIFYING, MergeState.LANDING})
_INTERRUPTED = _UNDER_WAY | {MergeState.WAITING_CHECKOUT}


class MergeQueue:
    """`step` is called again and again by one thread. Whatever it decides stands in the store."""

    def __init__(self, parts: Parts, *, give_up: Callable[[], bool]) -> None:
        self._parts = parts
        self._verifier = Verifier(parts, give_up)
        self._red_main: str | None = None
        self._red_on_it: set[int] = set()
        self._tried_waiting: dict[int, float] = {}
        self._retried: str | None = None
        self._short = ""

    def step(self) -> bool:
        """Move one entry as far as it goes. False: nothing can be done at the moment."""
        entries = self._parts.store.merges()
        interrupted = next((entry for entry in entries if entry.state in _UNDER_WAY), None)
        if interrupted is not None:
            return self.resume(interrupted)
        if not entries or not self._main_as_expected():
            return False
        self._heed_a_person()
        entry = self._next(entries)
        if entry is None or self._waits_for_space():
            return False
        if entry.merged is not None:
            return self._follow(entry, entry.merged)
        if entry.state is MergeState.WAITING_CHECKOUT:
            return self._land_again(entry)
        return not self._waits_for_a_word() and self._process(entry)

    def held(self) -> str:
        """Say why nothing can land before a person acts, or ""."""
        reason = self._parts.store.setting(HELD) or self._waits_for_space() or self._waits_for_a_word()
        if reason:
            return reason
        red = self._red_main
        if red is None or red != self._parts.git.main_tip() or any(map(self._untried, self._parts.store.merges())):
            return ""
        return f"main itself is red at {red[:10]}; mend it, and the queue goes on"

    def _waits_for_space(self) -> str:
        """After a red verdict on a disk that is nearly full, say what must change before another means anything."""
        if self._short:
            self._short = self._parts.ground.shortage()
        return self._short

    def _waits_for_a_word(self) -> str:
        return "" if all_confirmed(self._parts.settings, self._parts.store) else _UNCONFIRMED

    def _untried(self, entry: MergeEntry) -> bool:
        """On a red main, an entry that may be what mends it."""
        return entry.state is MergeState.QUEUED and entry.id not in self._red_on_it

    def resume(self, entry: MergeEntry) -> bool:
        """Go on with an entry that a kill, or trouble of the store or of git, interrupted: git is asked how far
        it came. False: nothing can be done at the moment."""
        git, candidate = self._parts.git, entry.intent_new or entry.candidate
        known = candidate is not None and git.knows(candidate)
        if entry.is_offered:
            return True  # what main here has says nothing of the remote
        if known and entry.intent_old is not None and entry.intent_new is not None:
            outcome = git.recover_landing(merge_id=entry.id, old=entry.intent_old, new=entry.intent_new)
            failpoint("queue.landing_rolled_forward")
            return self._record(entry, outcome)
        if candidate is not None and known and git.contains(git.main_tip(), candidate):
            self._landed(entry, candidate)
        elif entry.state in _INTERRUPTED and entry.merged is None:
            self._parts.store.merge_requeue(entry.id, "it was interrupted; goes round again")
        return True

    # -- which one, and may it ---------------------------------------------------------------------------------

    def _next(self, entries: list[MergeEntry]) -> MergeEntry | None:
        now = self._parts.clock.now().mono
        main_is_red = self._red_main == self._parts.git.main_tip()
        for entry in entries:
            if entry.state is MergeState.WAITING_CHECKOUT or entry.merged is not None:
                if now - self._tried_waiting.get(entry.id, -_RETRY_WAITING) >= _RETRY_WAITING:
                    self._tried_waiting[entry.id] = now
                    return entry
            elif entry.state is MergeState.QUEUED and (self._untried(entry) or not main_is_red):
                return entry
        return None

    def _heed_a_person(self) -> None:
        """Forget what speaks against trying, when a person asked to try again."""
        asked = self._parts.store.setting(QUEUE_RETRIED)
        if asked != self._retried:
            self._retried, self._red_main = asked, None
            self._tried_waiting.clear()
            self._verifier.forget_red()

    def _main_as_expected(self) -> bool:
        """Main may only have grown behind our back. Rewritten: the queue is held until a person looked."""
        store, tip = self._parts.store, self._parts.git.main_tip()
        known = store.setting(MAIN)
        if store.setting(HELD):
            return False
        if known == tip:
            return True
        if known and not self._parts.git.contains(tip, known):
            reason = f"main was rewritten: {known[:10]} is not in {tip[:10]} any more. Look, then `recall resume`"
            store.put_setting(HELD, reason, actor="dispatcher")
            return False
        if known:
            store.note("main.moved", actor="dispatcher", reason=f"main moved outside the queue to {tip[:10]}")
        store.put_setting(MAIN, tip, actor="dispatcher")
        return True

    # -- rebase, verify, land ----------------------------------------------------------------------------------

    def _process(self, entry: MergeEntry) -> bool:
        run = self._run_of(entry)
        if not self._parts.git.knows(entry.tip):
            self._reject(
                entry, run, RunResult.ORPHANED, "its commits are lost with an earlier integration repository"
            )
            return True
        onto = self._parts.git.main_tip()
        trailers = {"Recall-Task": str(entry.ref), "Recall-Run": str(entry.run_id), "Recall-Agent": run.agent}
        match self._parts.git.rebase(base=entry.base, tip=entry.tip, onto=onto, trailers=trailers):
            case Conflict() as conflict:
                self._conflict(entry, run, conflict, onto)
            case NothingNew(reason):
                self._reject(entry, run, RunResult.NO_CHANGE, reason)
            case Rebased(candidate, _, _, joined):
                failpoint("queue.rebased")
                self._parts.store.merge_verifying(entry.id, candidate=candidate, onto=onto)
                failpoint("queue.verifying_recorded")
                if joined:
                    self._note(entry, "merge.joined", joined)
                self._verify(entry, run, candidate, onto)
        return True

    def _verify(self, entry: MergeEntry, run: Run, candidate: str, onto: str) -> None:
        command = self._command(entry)
        if self._waits_for_a_word():  # asked after the command was read: a list may be imported at any moment
            self._parts.store.merge_requeue(entry.id, _UNCONFIRMED)
            return
        verdict = self._verifier.verdict(candidate, command)
        failpoint("queue.verified")
        if verdict is None:
            self._parts.store.merge_requeue(entry.id, "the dispatcher stopped while it was verified")
        elif verdict.green:
            if verdict.reason.startswith("flaky"):
                self._note(entry, "merge.flaky", verdict.reason)
            if self._parts.settings.offers:
                self._offer(entry, candidate, onto)
                return
            self._parts.store.merge_intend(entry.id, old=onto, new=candidate)
            failpoint("queue.intent_recorded")
            self._land(replace(entry, intent_old=onto, intent_new=candidate))
        else:
            self._red(entry, run, verdict, onto)

    def _offer(self, entry: MergeEntry, candidate: str, onto: str) -> None:
        """Leave it to others to bring main there. What they need is in the user's repository from now on."""
        self._parts.git.carry(merge_id=entry.id, old=onto, new=candidate)
        failpoint("queue.offer_carried")
        self._parts.store.merge_offered(entry.id, "verified; its branch is pushed next, and a pull request opened")
        failpoint("queue.offer_recorded")

    def _follow(self, entry: MergeEntry, merged: str) -> bool:
        """Bring main to where it is at the remote, which has the entry's change. False: it cannot follow yet."""
        git, store = self._parts.git, self._parts.store
        tip = git.main_tip()
        if git.contains(tip, merged):
            self._landed(entry, merged)
            return True
        if not git.contains(merged, tip):
            return self._record(entry, WaitingForCheckout(_APART))
        if entry.state is MergeState.WAITING_CHECKOUT and (entry.intent_old, entry.intent_new) == (tip, merged):
            return self._land_again(entry)
        store.merge_intend(entry.id, old=tip, new=merged)
        failpoint("queue.intent_recorded")
        return self._land(replace(entry, state=MergeState.LANDING, intent_old=tip, intent_new=merged))

    def _red(self, entry: MergeEntry, run: Run, verdict: Verified, onto: str) -> None:
        """Nobody is blamed before main itself was seen green. Under the project's command: what a task's own
        command looks for is not on main yet. On a disk that is nearly full red means nothing."""
        if shortage := self._parts.ground.shortage():
            self._short = shortage
            self._verifier.forget_red()
            self._parts.store.merge_requeue(entry.id, f"red, but {shortage}: verified again then")
            return
        main = self._verifier.verdict(onto, self._parts.settings.verify)
        if main is None:
            self._parts.store.merge_requeue(entry.id, "the dispatcher stopped while main was verified")
        elif main.green:
            self._reject_red(entry, run, verdict)
        else:
            self._red_on_it = {entry.id} | (self._red_on_it if self._red_main == onto else set())
            self._red_main = onto
            self._parts.store.merge_requeue(entry.id, RED_MAIN)
            self._note(entry, "main.red", f"main at {onto[:10]} is red: {_essence(main)}")

    def _land_again(self, entry: MergeEntry) -> bool:
        """Try what waits for the user's checkout. The intent is recorded anew once nothing is in the way: from then
        on a person's cancel comes too late, and is told so."""
        old, new = entry.intent_old, entry.intent_new
        if old is None or new is None:
            return self._land(entry)
        hindrance = self._parts.git.landing_hindrance(merge_id=entry.id, old=old, new=new)
        if hindrance is not None:
            return self._record(entry, hindrance)
        self._parts.store.merge_intend(entry.id, old=old, new=new)
        failpoint("queue.intent_recorded")
        self._tried_waiting[entry.id] += _PATIENCE_UNSEEN
        return self._land(replace(entry, state=MergeState.LANDING))

    def _land(self, entry: MergeEntry) -> bool:
        if entry.intent_old is None or entry.intent_new is None:
            self._parts.store.merge_requeue(entry.id, "its intended move of main was not recorded")
            return True
        reflog = f"recall run-{entry.run_id} merge-{entry.id}"
        outcome = self._parts.git.land(merge_id=entry.id, old=entry.intent_old, new=entry.intent_new, reflog=reflog)
        failpoint("queue.main_moved")
        return self._record(entry, outcome)

    def _record(self, entry: MergeEntry, outcome: LandingOutcome) -> bool:
        """Write down how a landing came out. False: it waits for the user's checkout."""
        match outcome:
            case Landed(commit, _):
                self._landed(entry, commit)
            case WaitingForCheckout(reason, paths):
                named = clean(named_paths(reason, paths))
                if entry.state is not MergeState.WAITING_CHECKOUT or entry.reason != named:
                    self._parts.store.merge_waiting(entry.id, named, paths)
                return False
            case MainMoved(tip, _):
                self._again(entry, tip)
        return True

    def _landed(self, entry: MergeEntry, commit: str) -> None:
        """Main contains the commit: everything that follows from it. Giving the workspace back is for others."""
        run = self._run_of(entry)
        self._parts.store.merge_landed(
            entry.id, commit, settlement=self._parts.settlement(run, RunResult.LANDED, f"landed as {commit[:10]}")
        )
        failpoint("queue.landing_recorded")

    def _again(self, entry: MergeEntry, tip: str) -> None:
        if entry.merged is not None:
            self._record(entry, WaitingForCheckout(f"main here moved to {tip[:10]} meanwhile; it is tried again"))
            return
        if entry.rounds + 1 < self._parts.settings.merge.max_rounds:
            self._parts.store.merge_requeue(entry.id, f"main moved to {tip[:10]}; goes round again")
            return
        reason = f"it went round {entry.rounds + 1} times, now because main moved; requeue it when main is quiet"
        settlement = self._parts.settlement(self._run_of(entry), RunResult.CONFLICT, reason)
        waiting = replace(settlement, task_state=TaskState.NEEDS_PERSON, task_reason=reason, retry_at=None)
        self._parts.store.merge_requeue(entry.id, reason)
        self._parts.store.merge_rejected(entry.id, reason, settlement=waiting)

    # -- turned away -------------------------------------------------------------------------------------------

    def _conflict(self, entry: MergeEntry, run: Run, conflict: Conflict, onto: str) -> None:
        """Put down what met and who brought main's side; nobody there to resolve it means starting over."""
        conflicts = self._parts.git.conflicts
        files = [RecordedFile(one.path, one.kind, len(one.hunks)) for one in conflicts.files(conflict)]
        changes = [self._known(change) for change in conflicts.changes_on_main(conflict, onto)]
        settlement: Settlement | None = None
        if self._parts.restart_conflicts:
            reason = clean(conflict_reason(files, changes))
            settlement = self._parts.settlement(run, RunResult.CONFLICT, reason)
        self._parts.store.merge_conflict(entry.id, conflict, settlement=settlement, files=files, changes=changes)
        failpoint("queue.conflict_recorded")

    def _known(self, change: LandedChange) -> LandedChange:
        """A commit's trailer may name a task that is none."""
        task = self._parts.store.task(change.task) if change.task is not None else None
        return replace(change, task=task.ref if task is not None else None)

    def _reject_red(self, entry: MergeEntry, run: Run, verdict: Verified) -> None:
        """What a person made of a conflict says nothing of the agent: its red costs no weight and no attempt."""
        if not self._parts.git.conflicts.was_resolved(entry.id):
            self._reject(entry, run, RunResult.VERIFY_FAILED, _essence(verdict))
            return
        reason = clean(f"the resolution of its conflict failed: {_essence(verdict)}")
        settlement = self._parts.settlement(run, RunResult.VERIFY_FAILED, reason)
        blameless = replace(
            settlement, weight=0.0, attempt=False, task_state=TaskState.TODO, task_reason=reason, retry_at=None
        )
        self._parts.store.merge_rejected(entry.id, reason, settlement=blameless)
        failpoint("queue.rejection_recorded")

    def _reject(self, entry: MergeEntry, run: Run, result: RunResult, reason: str) -> None:
        self._parts.store.merge_rejected(
            entry.id, clean(reason), settlement=self._parts.settlement(run, result, clean(reason))
        )
        failpoint("queue.rejection_recorded")

    # -- small things ------------------------------------------------------------------------------------------

    def _command(self, entry: MergeEntry) -> str | None:
        task = self._parts.store.task(entry.ref)
        return (task.verify if task else None) or self._parts.settings.verify

    def _run_of(self, entry: MergeEntry) -> Run:
        run = self._parts.store.run(entry.run_id)
        if run is None:
            raise RecallError(
                f"merge entry {entry.id} names run {entry.run_id}, which the store does not have; "
                "`recall doctor` looks closer"
            )
        return run

    def _note(self, entry: MergeEntry, kind: str, reason: str) -> None:
        self._parts.store.note(kind, actor="dispatcher", reason=clean(reason), ref=entry.ref, merge_id=entry.id)


def named_paths(reason: str, paths: Sequence[str]) -> str:
    """Add the first file names to a reason."""
    if not paths:
        return reason
    more = f" and {len(paths) - 8} more" if len(paths) > 8 else ""
    return f"{reason}: {', '.join(paths[:8])}{more}"


def _essence(verdict: Verified) -> str:
    """What a person, and the next attempt, need of a red verdict: the reason and its last lines."""
    lines = [line for line in verdict.output_tail.splitlines() if line.strip()]
    return "\n".join([verdict.reason, *lines[-12:]])
