"""What the engine needs from the world. `bootstrap` hands in the concrete parts, tests may hand in others."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from recall.domain.agent import Agent, AgentChoice, AgentSpec
from recall.domain.budget import Outlay
from recall.domain.conflict import (
    ConflictedFile,
    ConflictRecord,
    Decision,
    Labels,
    LandedChange,
    RecordedFile,
    Remembered,
    Taken,
    Version,
    Way,
)
from recall.domain.event import Event
from recall.domain.imports import ImportDiff, Listing
from recall.domain.launch import RunSpec, RunStatus, ShimStoreContract
from recall.domain.merge import MergeEntry, Shift
from recall.domain.outcome import Settlement
from recall.domain.receipts import Begun, Receipt, ReceiptState, Wish
from recall.domain.run import Claim, Refused, Run
from recall.domain.snapshot import Snapshot
from recall.domain.stream.dialect import Dialect
from recall.domain.stream.spending import Spending
from recall.domain.task import Task, TaskRef, TaskSpec
from recall.domain.usage import LimitPatterns
from recall.domain.work import (
    CollectOutcome,
    Conflict,
    Handover,
    LandedCommit,
    LandingOutcome,
    RebaseOutcome,
    WaitingForCheckout,
    Workspace,
)


class Store(Protocol):
    """The only truth and the only channel. Every method that writes is one transaction and, where something
    changed, at least one event. One instance may be used from several threads; each uses its own connection."""

    def close(self) -> None: ...

    # -- reading ---------------------------------------------------------------------------------------------
    def data_version(self) -> int:
        """Changes whenever another connection committed. Costs microseconds."""
        ...

    def last_seq(self) -> int: ...
    def events_since(self, seq: int, limit: int = 1000) -> list[Event]: ...
    def events_back(
        self,
        before: int | None = None,
        limit: int = 1000,
        *,
        ref: TaskRef | None = None,
        agent: str | None = None,
        kind: str | None = None,
    ) -> list[Event]:
        """Give the newest events (of a task, an agent, a kind) before a number, newest first; None: from the end."""
        ...

    def snapshot(self) -> Snapshot: ...
    def task(self, ref: TaskRef) -> Task | None: ...
    def tasks(self) -> list[Task]: ...
    def verifies(self) -> set[str]:
        """Give the verify commands of tasks that can still be verified, without a look at the rest of them."""
        ...

    def run(self, run_id: int) -> Run | None: ...
    def runs(self, ref: TaskRef | None = None) -> list[Run]:
        """All runs (of one task), oldest first."""
        ...

    def open_runs(self) -> list[Run]:
        """Runs that are not settled."""
        ...

    def kept_runs(self) -> list[Run]:
        """Settled runs whose workspaces wait for their agents to go on."""
        ...

    def outlay(self, *, since: float) -> Outlay:
        """Give what each agent spent in runs settled since a wall second, and what each task cost in all."""
        ...

    def merges(self, *, open_only: bool = True) -> list[MergeEntry]:
        """Merge entries in queue order. Open: neither landed nor rejected."""
        ...

    def agents(self) -> list[Agent]: ...
    def receipt(self, key: str) -> Receipt | None: ...
    def receipts(self, *, open_only: bool = True) -> list[Receipt]:
        """Receipts of outside actions, the one that changed last at the end. Open: not done."""
        ...

    def newest_landing(self) -> LandedCommit | None: ...
    def setting(self, key: str) -> str | None: ...
    def check(self) -> list[str]:
        """Give a sentence for each inconsistency of the store; none is the only right answer."""
        ...

    # -- the task list ---------------------------------------------------------------------------------------
    def lay_out(self, region: str, specs: Sequence[TaskSpec]) -> Listing:
        """Do the part of an import that needs no transaction; any thread may."""
        ...

    def import_listing(self, listing: Listing, *, actor: str, cancel_vanished: bool) -> ImportDiff: ...
    def import_tasks(
        self,
        region: str,
        specs: Sequence[TaskSpec],
        *,
        actor: str,
        cancel_vanished: bool,
        dry_run: bool = False,
    ) -> ImportDiff:
        """Bring one region in line with its list, all or nothing (design/tasks-format.md, Import)."""
        ...

    # -- claims and leases -----------------------------------------------------------------------------------
    def claim(
        self, ref: TaskRef, agent: str, owner: str, ttl: float, *, why: str = "", pulled: bool = False
    ) -> Claim | Refused:
        """One conditional UPDATE. Also inserts the run (`preparing`, or `pulled`)."""
        ...

    def claim_next(self, agent: str, owner: str, ttl: float, *, why: str = "", pulled: bool = True) -> Claim | None:
        """Claim the first claimable task in order that this agent may take. None: nothing to claim."""
        ...

    def renew(self, ref: TaskRef, owner: str, version: int, ttl: float) -> Claim | Refused: ...
    def release(self, ref: TaskRef, owner: str, version: int, *, actor: str, reason: str) -> Refused | None:
        """Give a claimed task back: todo again, no attempt used. None: done."""
        ...

    def recycle(self) -> list[TaskRef]:
        """Take back every expired lease (this happens at the start of any write transaction too)."""
        ...

    # -- a run's life; each checks owner and version ---------------------------------------------------------
    def start_run(
        self, run_id: int, owner: str, version: int, *, branch: str, base: str, slot: str
    ) -> Refused | None: ...

    def end_run(self, run_id: int, owner: str, version: int) -> Refused | None:
        """What a shim does when its agent is gone, for a run whose shim could not say it any more."""
        ...

    def keep_spending(self, run_id: int, owner: str, version: int, spending: Spending) -> None:
        """Write down what a run used up. Tells nobody: what ends the run is told right after it."""
        ...

    def settle_run(
        self, run_id: int, owner: str, version: int, settlement: Settlement, *, actor: str
    ) -> Refused | None:
        """End a run that brings nothing to main, and carry out what its result means for task, attempt,
        interruption count, weight and agent, all in one transaction."""
        ...

    def enqueue(
        self, run_id: int, owner: str, version: int, *, tip: str, base: str, actor: str, reason: str = ""
    ) -> int | Refused:
        """Accept a run's result: run and task go to `landing`, a merge entry is queued. Gives its id."""
        ...

    def end_lost_run(self, run_id: int, *, reason: str, actor: str = "dispatcher") -> None:
        """Settle a run as `orphaned` when neither its shim nor an exit record is left; its task is claimable
        at once. Does nothing for a run that is settled already."""
        ...

    # -- the merge queue -------------------------------------------------------------------------------------
    def merge_verifying(self, merge_id: int, *, candidate: str, onto: str) -> None: ...
    def merge_requeue(self, merge_id: int, reason: str) -> None:
        """Goes round again: state queued, rounds + 1, intent cleared."""
        ...

    def merge_intend(self, merge_id: int, *, old: str, new: str) -> None:
        """Record OLD -> NEW before main is moved: state landing."""
        ...

    def merge_waiting(self, merge_id: int, reason: str, paths: Sequence[str]) -> None: ...
    def merge_offered(self, merge_id: int, reason: str, *, merged: str | None = None) -> None:
        """Offer a verified entry as its task's next pull request, or say how the offer stands. `merged`: main at the
        remote, which holds the change now."""
        ...

    def merge_landed(self, merge_id: int, commit: str, *, settlement: Settlement) -> None:
        """Main contains the commit: task done, dependants unlocked, groups completed, weight raised, run
        settled, intent cleared, `main_oid` remembered: one transaction."""
        ...

    def merge_conflict(
        self,
        merge_id: int,
        conflict: Conflict,
        *,
        settlement: Settlement | None,
        files: Sequence[RecordedFile] = (),
        changes: Sequence[LandedChange] = (),
    ) -> None:
        """Store what met. With a settlement the run is over (started over from main); without one the entry
        stays in `conflict` and the task needs a person."""
        ...

    def merge_rejected(self, merge_id: int, reason: str, *, settlement: Settlement) -> None: ...

    # -- what a person can do about a conflict; `seen` is the conflict as the person saw it --------------------
    def conflict_record(self, merge_id: int) -> ConflictRecord | None:
        """Give everything known of an entry that is in conflict now."""
        ...

    def conflict_decide(
        self, seen: ConflictRecord, decisions: Sequence[Decision], *, actor: str
    ) -> Refused | None: ...
    def conflict_check_out(self, seen: ConflictRecord, folder: str, *, actor: str) -> Refused | None:
        """Remember the folder in which it is resolved by hand."""
        ...

    def merge_resolved(self, seen: ConflictRecord, *, tip: str, base: str, actor: str, reason: str) -> Refused | None:
        """Queue the entry again with the commits `base..tip` in place of its own; its task is landing again."""
        ...

    def conflict_abandon(
        self,
        seen: ConflictRecord,
        way: Way,
        *,
        actor: str,
        reason: str,
        agent: str | None = None,
        brief: str = "",
    ) -> Refused | None:
        """End the entry and its run without cost. Sent back, only `agent` may take the task next (None: any), and
        its next run is told `brief`."""
        ...

    # -- agents and dispatching ------------------------------------------------------------------------------
    def sync_agents(self, specs: Sequence[AgentSpec]) -> None:
        """Bring the agents' rows in line with recall.toml; keeps their weights, pauses and cooldowns."""
        ...

    def pause_agent(self, name: str, *, actor: str, reason: str = "") -> Refused | None: ...
    def resume_agent(self, name: str, *, actor: str) -> Refused | None:
        """Lift pause, cooldown and `stopped_reason`."""
        ...

    def choose_agent(self, name: str, choice: AgentChoice, *, actor: str) -> Refused | None:
        """Let a person's choice win over recall.toml; an empty one gives up every earlier choice."""
        ...

    def set_cooldown(self, name: str, until: float, *, actor: str, reason: str = "") -> Refused | None:
        """Let the agent, and all of its account, start nothing before wall second `until` (UTC)."""
        ...

    def set_weight(self, name: str, type_: str, value: float | None, *, actor: str) -> Refused | None:
        """Trust an agent with a task type by so much, 0 to 1; None forgets its record of that type."""
        ...

    def lift_cooldown(self, name: str, *, actor: str) -> Refused | None:
        """End the cooldown of the agent and of all of its account; a pause stays."""
        ...

    def pause_dispatching(self, *, actor: str, reason: str = "") -> Refused | None: ...
    def resume_dispatching(self, *, actor: str) -> Refused | None: ...

    # -- what a person can do to a task ----------------------------------------------------------------------
    def requeue(self, ref: TaskRef, *, actor: str, reason: str = "") -> Refused | None:
        """todo again with attempts, interruptions and back-off cleared; an open merge entry is rejected."""
        ...

    def hold(self, ref: TaskRef, *, actor: str, reason: str = "") -> Refused | None: ...
    def unhold(self, ref: TaskRef, *, actor: str) -> Refused | None: ...
    def cancel(self, ref: TaskRef, *, actor: str, reason: str = "") -> Refused | None: ...
    def answer(self, ref: TaskRef, text: str, *, actor: str) -> Refused | None:
        """Answer the question that the task's last run ended with: todo again, and the next run is told both."""
        ...

    def prioritize(self, ref: TaskRef, priority: int, *, actor: str) -> Refused | None: ...
    def finish_manually(self, ref: TaskRef, *, actor: str, reason: str) -> Refused | None: ...

    # -- what a person can do to the merge queue -------------------------------------------------------------
    def merge_move(self, merge_id: int, to: Shift | int, *, actor: str) -> Refused | None:
        """Change an entry's place; a number counts the open entries from 1."""
        ...

    def merge_retry(self, merge_id: int, *, actor: str) -> Refused | None:
        """Have the queue try again at once, though it waits for the checkout or holds main to be red."""
        ...

    def release_queue(self, *, actor: str) -> Refused | None:
        """Let a queue that is held because main was rewritten go on from main as it is."""
        ...

    # -- receipts of outside actions -------------------------------------------------------------------------
    def begin_effect(self, wish: Wish) -> Begun | Refused:
        """Decide what somebody may do who holds the lock of the wish's key, and write a beginning down before
        anything happens outside; a beginning that nobody stands behind any more is in doubt from then on."""
        ...

    def answer_effect(
        self,
        key: str,
        attempt: int | None,
        after: ReceiptState,
        *,
        actor: str,
        answer: str = "",
        reason: str = "",
    ) -> Refused | None:
        """Write down how an attempt came out (None: whichever was the last), lease or not: it says what is so."""
        ...

    # -- settings and notes ----------------------------------------------------------------------------------
    def put_setting(self, key: str, value: str, *, actor: str) -> None: ...
    def note(
        self,
        kind: str,
        *,
        actor: str,
        reason: str,
        ref: TaskRef | None = None,
        agent: str | None = None,
        run_id: int | None = None,
        merge_id: int | None = None,
    ) -> None:
        """Append an event about something that changed no row."""
        ...

    # -- for the shim ----------------------------------------------------------------------------------------
    def shim_contract(self) -> ShimStoreContract: ...


class Conflicts(Protocol):
    """What git does for a person with a conflict, all of it in the integration repository. Repeatable."""

    def files(self, met: Conflict) -> tuple[ConflictedFile, ...]:
        """Give every path that needs a decision, with its hunks."""
        ...

    def changes_on_main(self, met: Conflict, onto: str) -> tuple[LandedChange, ...]:
        """Give the commits up to `onto` that changed what is in conflict since the task began, newest first."""
        ...

    def remembered(self, files: Collection[ConflictedFile]) -> Mapping[str, Remembered]:
        """Give what is known of each path whose conflict, or a hunk of it, was resolved before."""
        ...

    def write(self, file: ConflictedFile, content: bytes) -> Version:
        """Store a resolved file."""
        ...

    def tree(self, met: Conflict, decisions: Collection[Decision]) -> str:
        """Give the tree in which every conflicted path is as decided."""
        ...

    def is_mains(self, met: Conflict, tree: str) -> bool:
        """Tell whether a tree is no other than main's."""
        ...

    def check_out(self, seen: ConflictRecord, folder: Path, labels: Labels) -> str:
        """Write the merge with conflict markers into a new folder; gives why that cannot be, or ""."""
        ...

    def place(
        self, seen: ConflictRecord, labels: Labels, path: str, content: bytes, known: Collection[bytes]
    ) -> bytes | None:
        """Write a conflicted file into `seen.folder`, unless a person made something of it that is not in `known`.
        Gives what lies there then, None where that is no file."""
        ...

    def read(self, versions: Collection[Version]) -> Mapping[Version, bytes]:
        """Give the contents of files."""
        ...

    def take_back(self, seen: ConflictRecord, labels: Labels) -> Taken | str:
        """Read what a person made of it in `seen.folder`; a text says why the folder cannot be the one."""
        ...

    def commit(self, seen: ConflictRecord, tree: str) -> str:
        """Remember the resolution and make its one commit on top of `seen.met.ours`."""
        ...

    def was_resolved(self, merge_id: int) -> bool:
        """Tell whether the entry's commits are a person's resolution already."""
        ...


class Git(Protocol):
    """All git work. Every method may block for seconds; none touches the store. `Workspace` methods are safe
    from several threads, landing methods are called from one."""

    @property
    def conflicts(self) -> Conflicts: ...
    def main_tip(self) -> str: ...
    def contains(self, tip: str, commit: str) -> bool:
        """Tell whether `commit` is `tip` or an ancestor of it."""
        ...

    def knows(self, commit: str) -> bool:
        """Tell whether the commit's object is there at all."""
        ...

    def tree_of(self, commit: str) -> str:
        """Give the id of a commit's tree: equal trees share one verdict."""
        ...

    # -- workspaces ------------------------------------------------------------------------------------------
    def workspace_at(self, slot: str, *, branch: str, base: str) -> Workspace:
        """Give the workspace of a run that is under way, from what the store knows of it."""
        ...

    def open_workspace(self, ref: TaskRef, number: int, run_id: int) -> Workspace:
        """Give a workspace at main's tip on a fresh branch `recall/<region>/<task>/<number>`, pinned as
        `refs/recall/base/<run>`."""
        ...

    def reopen_workspace(self, workspace: Workspace, run_id: int) -> str:
        """Hand the workspace of a settled run over to a run that goes on in it. Gives why that cannot be, or "".
        Repeatable."""
        ...

    def has_commits(self, workspace: Workspace) -> bool:
        """Tell whether anything was committed in a workspace since its run began; one that is gone counts as yes."""
        ...

    def parked_diff(self, run_id: int) -> str:
        """Give what is parked of a run as a diff from where it began, decoded with replacement, not cleaned; "" when
        nothing is."""
        ...

    def collect(self, workspace: Workspace, run_id: int, title: str) -> CollectOutcome:
        """Commit leftovers, take protected files out of every commit, carry the objects into the integration
        repository. Never runs git in a git dir that the agent can write. Repeatable."""
        ...

    def close_workspace(self, workspace: Workspace, run_id: int, *, landed: bool) -> str:
        """Recycle the folder if it is at rest, else park it under `refs/recall/parked/<run>`; says what was
        done in one sentence. Unlanded commits and leftovers are kept under the ref in every case."""
        ...

    def keep_result(self, run_id: int, tip: str, base: str, why: str) -> str:
        """Pin commits that only the integration repository has as parked work of the user's; gives the ref."""
        ...

    def tidy_workspaces(self, in_use: Sequence[str], landed: Collection[int] = ()) -> list[str]:
        """At start: everything under the workspaces' root that no run owns is recycled or parked. `landed` are
        the ids of runs whose work main has. Gives a sentence for each."""
        ...

    # -- the merge queue -------------------------------------------------------------------------------------
    def adopt_branch(self, branch: str, run_id: int) -> CollectOutcome:
        """Take a branch of the user's repository as a run's result (pull mode)."""
        ...

    def rebase(self, *, base: str, tip: str, onto: str, trailers: Mapping[str, str]) -> RebaseOutcome: ...
    def open_slot(self, commit: str) -> Path:
        """Check `commit` out in a verification slot; gives the folder of the work tree."""
        ...

    def slot_changes(self, slot: Path, commit: str) -> tuple[str, ...]:
        """The tracked files that differ from `commit` in the slot."""
        ...

    def land(self, *, merge_id: int, old: str, new: str, reflog: str) -> LandingOutcome:
        """Advance main from `old` to `new` wherever it is checked out, or refuse with words."""
        ...

    def carry(self, *, merge_id: int, old: str, new: str) -> None:
        """Bring what `land` would land into the user's repository, without moving main."""
        ...

    def landing_hindrance(self, *, merge_id: int, old: str, new: str) -> WaitingForCheckout | None:
        """Say what is in the way of a landing that was tried before, without moving anything."""
        ...

    def recover_landing(self, *, merge_id: int, old: str, new: str) -> LandingOutcome:
        """At start: roll an interrupted landing forward."""
        ...


class Planner(Protocol):
    """Turns a task and a workspace into the run of a process."""

    def runs_folder(self) -> Path: ...
    def agent_run(
        self, task: Task, run: Run, workspace: Workspace, earlier: Sequence[Run], handover: Handover | None = None
    ) -> RunSpec:
        """Give the spec of an agent's run: prompt, environment, limits, lease. A run that works where the one that it
        continues did goes on in that one's session, if it can. `handover` is what another agent left."""
        ...

    def command_run(self, name: str, command: str, cwd: Path, timeout: float) -> RunSpec:
        """Give the spec of a verification or set-up command (a shell string) in the run folder `name`."""
        ...

    def patterns(self, agent: str) -> LimitPatterns: ...
    def dialect(self, agent: str) -> Dialect | None:
        """Give how an agent's events are read; None for one that prints none that are known."""
        ...


class TaskFiles(Protocol):
    """The watched task lists and recall.toml, as they are in the user's checkout."""

    def read(self, path: str) -> bytes | None:
        """Give a file's bytes, or None when it is not there. `path` is relative to the checkout."""
        ...

    def stamp(self, path: str) -> tuple[int, int] | None:
        """Give something cheap that changes when the file does."""
        ...


class Runner(Protocol):
    """Starts and watches processes through their shims."""

    def start(self, spec: RunSpec) -> int:
        """Write the run folder and start the shim; gives its pid. Raises EnvironmentFailure if it cannot."""
        ...

    def status(self, folder: Path) -> RunStatus: ...
    def stop(self, folder: Path, reason: str) -> None:
        """Ask a live shim to stop its whole process tree (`cancel`, `lease_lost`). Returns at once."""
        ...

    def pidfd(self, folder: Path) -> int | None:
        """Give a descriptor that becomes readable when the run's shim ends, for the caller to close; None when
        it is gone already."""
        ...

    def stop_and_wait(self, folder: Path, reason: str) -> bool:
        """The same, and come back when the shim is gone. False: it still is there after half a minute."""
        ...

    def sweep(self, folder: Path) -> int:
        """After a lost shim: end every process that carries this run's marker. Gives how many."""
        ...

    def tail(self, folder: Path, lines: int = 20) -> str:
        """The last lines of the transcript, decoded with replacement, not cleaned."""
        ...

    def spending(self, folder: Path, dialect: Dialect) -> Spending:
        """Go through the whole transcript for what the run used up."""
        ...
