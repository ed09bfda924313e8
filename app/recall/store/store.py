"""The store as the engine sees it: each method one transaction, carried out by the module it names."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import recall.store
from recall.domain.surroundings import failure_of
from recall.store import agents, claims, events, reading, runs, settings
from recall.store.connection import Connections, connect
from recall.store.failures import explained
from recall.store.lock import StoreLock
from recall.store.migrate import is_current, known_migrations, migrate, newest_version, refuse_old_sqlite
from recall.store.patience import Patience
from recall.store.transaction import Access

if TYPE_CHECKING:
    import recall.store.checking
    import recall.store.conflicts
    import recall.store.contract
    import recall.store.import_plan
    import recall.store.importing
    import recall.store.interventions
    import recall.store.listing
    import recall.store.merge_order
    import recall.store.merges
    import recall.store.receipts
    import recall.store.resolutions
    from recall.domain.agent import Agent, AgentChoice, AgentSpec
    from recall.domain.budget import Outlay
    from recall.domain.clock import Clock
    from recall.domain.conflict import ConflictRecord, Decision, LandedChange, RecordedFile, Way
    from recall.domain.event import Event
    from recall.domain.imports import ImportDiff, Listing
    from recall.domain.launch import ShimStoreContract
    from recall.domain.merge import MergeEntry, Shift
    from recall.domain.outcome import Settlement
    from recall.domain.receipts import Begun, Receipt, ReceiptState, Wish
    from recall.domain.rng import Rng
    from recall.domain.run import Claim, Refused, Run
    from recall.domain.snapshot import Snapshot
    from recall.domain.stream.spending import Spending
    from recall.domain.task import Task, TaskRef, TaskSpec
    from recall.domain.work import Conflict, LandedCommit


def open_store(path: Path, clock: Clock, rng: Rng, *, lock_timeout: float = 10.0) -> SqliteStore:
    """Open the store at `path`, made and brought to the newest schema if need be. `lock_timeout` seconds is how
    long a write waits for others."""
    refuse_old_sqlite()
    _make_folder(path.parent)
    lock_file = path.with_name(path.name + ".lock")
    lock, patience = StoreLock(lock_file, lock_timeout), Patience(path, lock_timeout, rng)
    _make_private(path)
    try:
        opened = patience.through(lambda: _up_to_date(path, lock))
    except sqlite3.Error as error:
        raise explained(path, error) from error
    connections = Connections(path, opened)
    access = Access(path, connections, lock, clock, patience, claims.recycle)
    return SqliteStore(path, lock_file, clock, connections, access)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, mode=0o700, exist_ok=True)
    except OSError as refused:
        raise failure_of(refused, f"the state folder {folder} cannot be made") from refused


def _make_private(path: Path) -> None:
    """Have SQLite find an empty file that is its owner's only: a new one of its own would be for everybody. One that
    is there is not even opened, since closing it again would end every lock that this process holds on it."""
    with suppress(OSError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _up_to_date(path: Path, lock: StoreLock) -> sqlite3.Connection:
    connection = connect(path)
    try:
        if not is_current(connection, newest_version()):
            with lock.held():
                migrate(connection, known_migrations())
    except BaseException:
        connection.close()
        raise
    return connection


class SqliteStore:
    """`recall.engine.ports.Store` on SQLite. Threads may share it; each has its own connection."""

    def __init__(self, path: Path, lock_file: Path, clock: Clock, connections: Connections, access: Access) -> None:
        self._path = path
        self._lock_file = lock_file
        self._clock = clock
        self._connections = connections
        self._access = access

    def close(self) -> None:
        self._connections.close()

    # -- reading ---------------------------------------------------------------------------------------------
    def data_version(self) -> int:
        """Raises Displaced when the database that this process has open is not the one at its path any more."""
        self._connections.refuse_gone()
        try:
            return self._connections.data_version()
        except sqlite3.Error as error:
            raise explained(self._path, error) from error

    def last_seq(self) -> int:
        return self._access.read(events.last_seq)

    def events_since(self, seq: int, limit: int = 1000) -> list[Event]:
        return self._access.read(lambda rows: events.since(rows, seq, limit))

    def events_back(
        self,
        before: int | None = None,
        limit: int = 1000,
        *,
        ref: TaskRef | None = None,
        agent: str | None = None,
        kind: str | None = None,
    ) -> list[Event]:
        return self._access.read(lambda rows: events.back(rows, before, limit, ref, agent, kind))

    def snapshot(self) -> Snapshot:
        now = self._clock.now().wall
        return self._access.read(lambda rows: reading.snapshot(rows, now))

    def task(self, ref: TaskRef) -> Task | None:
        return self._access.read(lambda rows: reading.task(rows, ref))

    def tasks(self) -> list[Task]:
        return self._access.read(reading.tasks)

    def verifies(self) -> set[str]:
        return self._access.read(reading.verifies)

    def run(self, run_id: int) -> Run | None:
        return self._access.read(lambda rows: reading.run(rows, run_id))

    def runs(self, ref: TaskRef | None = None) -> list[Run]:
        return self._access.read(lambda rows: reading.runs(rows, ref))

    def open_runs(self) -> list[Run]:
        return self._access.read(reading.open_runs)

    def kept_runs(self) -> list[Run]:
        return self._access.read(reading.kept_runs)

    def outlay(self, *, since: float) -> Outlay:
        return self._access.read(lambda rows: reading.outlay(rows, since))

    def merges(self, *, open_only: bool = True) -> list[MergeEntry]:
        return self._access.read(lambda rows: reading.merges(rows, open_only=open_only))

    def conflict(self, merge_id: int) -> Conflict | None:
        """Give what an entry met when it last did not apply."""
        return self._access.read(lambda rows: recall.store.merges.met(rows, merge_id))

    def conflict_record(self, merge_id: int) -> ConflictRecord | None:
        """Give everything known of an entry that is in conflict now."""
        return self._access.read(lambda rows: recall.store.conflicts.record(rows, merge_id))

    def agents(self) -> list[Agent]:
        return self._access.read(reading.agents)

    def receipt(self, key: str) -> Receipt | None:
        return self._access.read(lambda rows: recall.store.receipts.one(rows, key))

    def receipts(self, *, open_only: bool = True) -> list[Receipt]:
        return self._access.read(lambda rows: recall.store.receipts.every(rows, open_only=open_only))

    def newest_landing(self) -> LandedCommit | None:
        return self._access.read(recall.store.receipts.newest_landing)

    def setting(self, key: str) -> str | None:
        return self._access.read(lambda rows: settings.get(rows, key))

    def check(self) -> list[str]:
        """Give a sentence for each inconsistency in the database. Slow: it looks at everything."""
        return self._access.read(recall.store.checking.check)

    # -- the task list ---------------------------------------------------------------------------------------
    def lay_out(self, region: str, specs: Sequence[TaskSpec]) -> Listing:
        """Do the part of an import that needs no transaction; any thread may."""
        return recall.store.listing.lay_out(region, specs)

    def import_tasks(
        self,
        region: str,
        specs: Sequence[TaskSpec],
        *,
        actor: str,
        cancel_vanished: bool,
        dry_run: bool = False,
    ) -> ImportDiff:
        listing = self.lay_out(region, specs)
        if dry_run:
            known = self._access.read(recall.store.importing.known)
            return recall.store.import_plan.plan(listing, known, cancel_vanished=cancel_vanished).diff
        return self.import_listing(listing, actor=actor, cancel_vanished=cancel_vanished)

    def import_listing(self, listing: Listing, *, actor: str, cancel_vanished: bool) -> ImportDiff:
        return self._access.write(
            lambda tx: recall.store.importing.import_listing(tx, listing, actor, cancel_vanished=cancel_vanished)
        )

    # -- claims and leases -----------------------------------------------------------------------------------
    def claim(
        self, ref: TaskRef, agent: str, owner: str, ttl: float, *, why: str = "", pulled: bool = False
    ) -> Claim | Refused:
        return self._access.write(lambda tx: claims.claim(tx, ref, agent, owner, ttl, why, pulled=pulled))

    def claim_next(self, agent: str, owner: str, ttl: float, *, why: str = "", pulled: bool = True) -> Claim | None:
        return self._access.write(lambda tx: claims.claim_next(tx, agent, owner, ttl, why, pulled=pulled))

    def renew(self, ref: TaskRef, owner: str, version: int, ttl: float) -> Claim | Refused:
        return self._access.write(lambda tx: claims.renew(tx, ref, owner, version, ttl))

    def release(self, ref: TaskRef, owner: str, version: int, *, actor: str, reason: str) -> Refused | None:
        return self._access.write(lambda tx: claims.release(tx, ref, owner, version, actor, reason))

    def recycle(self) -> list[TaskRef]:
        return self._access.write(lambda tx: list(tx.recycled))

    # -- a run's life ----------------------------------------------------------------------------------------
    def start_run(
        self, run_id: int, owner: str, version: int, *, branch: str, base: str, slot: str
    ) -> Refused | None:
        return self._access.write(lambda tx: runs.start(tx, run_id, owner, version, branch, base, slot))

    def end_run(self, run_id: int, owner: str, version: int) -> Refused | None:
        """Mark a run ended in place of a shim that left an exit record but could not reach the store."""
        return self._access.write(lambda tx: runs.end(tx, run_id, owner, version))

    def keep_spending(self, run_id: int, owner: str, version: int, spending: Spending) -> None:
        self._access.write(lambda tx: runs.keep_spending(tx, run_id, owner, version, spending))

    def settle_run(
        self, run_id: int, owner: str, version: int, settlement: Settlement, *, actor: str
    ) -> Refused | None:
        return self._access.write(lambda tx: runs.settle_run(tx, run_id, owner, version, settlement, actor))

    def enqueue(
        self, run_id: int, owner: str, version: int, *, tip: str, base: str, actor: str, reason: str = ""
    ) -> int | Refused:
        return self._access.write(lambda tx: runs.enqueue(tx, run_id, owner, version, tip, base, actor, reason))

    def end_lost_run(self, run_id: int, *, reason: str, actor: str = "dispatcher") -> None:
        self._access.write(lambda tx: runs.end_lost(tx, run_id, reason, actor))

    # -- the merge queue -------------------------------------------------------------------------------------
    def merge_verifying(self, merge_id: int, *, candidate: str, onto: str) -> None:
        self._access.write(lambda tx: recall.store.merges.verifying(tx, merge_id, candidate, onto))

    def merge_requeue(self, merge_id: int, reason: str) -> None:
        self._access.write(lambda tx: recall.store.merges.requeue(tx, merge_id, reason))

    def merge_intend(self, merge_id: int, *, old: str, new: str) -> None:
        self._access.write(lambda tx: recall.store.merges.intend(tx, merge_id, old, new))

    def merge_waiting(self, merge_id: int, reason: str, paths: Sequence[str]) -> None:
        self._access.write(lambda tx: recall.store.merges.waiting(tx, merge_id, reason, paths))

    def merge_offered(self, merge_id: int, reason: str, *, merged: str | None = None) -> None:
        self._access.write(lambda tx: recall.store.merges.offered(tx, merge_id, reason, merged))

    def merge_landed(self, merge_id: int, commit: str, *, settlement: Settlement) -> None:
        self._access.write(lambda tx: recall.store.merges.landed(tx, merge_id, commit, settlement))

    def merge_conflict(
        self,
        merge_id: int,
        conflict: Conflict,
        *,
        settlement: Settlement | None,
        files: Sequence[RecordedFile] = (),
        changes: Sequence[LandedChange] = (),
    ) -> None:
        self._access.write(
            lambda tx: recall.store.merges.conflict(tx, merge_id, conflict, settlement, files, changes)
        )

    def merge_rejected(self, merge_id: int, reason: str, *, settlement: Settlement) -> None:
        self._access.write(lambda tx: recall.store.merges.rejected(tx, merge_id, reason, settlement))

    # -- what a person can do about a conflict -----------------------------------------------------------------
    def conflict_decide(self, seen: ConflictRecord, decisions: Sequence[Decision], *, actor: str) -> Refused | None:
        """Keep what a person decided of single paths. `seen` is the conflict as the person saw it."""
        return self._access.write(lambda tx: recall.store.resolutions.decide(tx, seen, decisions, actor))

    def conflict_check_out(self, seen: ConflictRecord, folder: str, *, actor: str) -> Refused | None:
        """Remember the folder in which a person resolves it by hand."""
        return self._access.write(lambda tx: recall.store.resolutions.check_out(tx, seen, folder, actor))

    def merge_resolved(self, seen: ConflictRecord, *, tip: str, base: str, actor: str, reason: str) -> Refused | None:
        return self._access.write(lambda tx: recall.store.resolutions.resolve(tx, seen, tip, base, actor, reason))

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
        return self._access.write(
            lambda tx: recall.store.resolutions.abandon(tx, seen, way, actor, reason, agent, brief)
        )

    # -- agents and dispatching ------------------------------------------------------------------------------
    def sync_agents(self, specs: Sequence[AgentSpec]) -> None:
        self._access.write(lambda tx: agents.sync(tx, specs))

    def pause_agent(self, name: str, *, actor: str, reason: str = "") -> Refused | None:
        return self._access.write(lambda tx: agents.pause(tx, name, actor, reason))

    def resume_agent(self, name: str, *, actor: str) -> Refused | None:
        return self._access.write(lambda tx: agents.resume(tx, name, actor))

    def choose_agent(self, name: str, choice: AgentChoice, *, actor: str) -> Refused | None:
        return self._access.write(lambda tx: agents.choose(tx, name, choice, actor))

    def set_cooldown(self, name: str, until: float, *, actor: str, reason: str = "") -> Refused | None:
        return self._access.write(lambda tx: agents.cool(tx, name, until, actor, reason))

    def set_weight(self, name: str, type_: str, value: float | None, *, actor: str) -> Refused | None:
        return self._access.write(lambda tx: agents.set_weight(tx, name, type_, value, actor))

    def lift_cooldown(self, name: str, *, actor: str) -> Refused | None:
        return self._access.write(lambda tx: agents.lift_cooldown(tx, name, actor))

    def pause_dispatching(self, *, actor: str, reason: str = "") -> Refused | None:
        return self._access.write(lambda tx: settings.pause(tx, actor, reason))

    def resume_dispatching(self, *, actor: str) -> Refused | None:
        return self._access.write(lambda tx: settings.resume(tx, actor))

    # -- what a person can do to a task ----------------------------------------------------------------------
    def requeue(self, ref: TaskRef, *, actor: str, reason: str = "") -> Refused | None:
        return self._intervene("requeue", ref, actor, reason)

    def hold(self, ref: TaskRef, *, actor: str, reason: str = "") -> Refused | None:
        return self._intervene("hold", ref, actor, reason)

    def unhold(self, ref: TaskRef, *, actor: str) -> Refused | None:
        return self._intervene("unhold", ref, actor, "")

    def cancel(self, ref: TaskRef, *, actor: str, reason: str = "") -> Refused | None:
        return self._intervene("cancel", ref, actor, reason)

    def answer(self, ref: TaskRef, text: str, *, actor: str) -> Refused | None:
        return self._access.write(lambda tx: recall.store.interventions.answer(tx, ref, text, actor))

    def prioritize(self, ref: TaskRef, priority: int, *, actor: str) -> Refused | None:
        return self._access.write(lambda tx: recall.store.interventions.prioritize(tx, ref, priority, actor))

    def finish_manually(self, ref: TaskRef, *, actor: str, reason: str) -> Refused | None:
        return self._intervene("finish", ref, actor, reason)

    # -- what a person can do to the merge queue -------------------------------------------------------------
    def merge_move(self, merge_id: int, to: Shift | int, *, actor: str) -> Refused | None:
        return self._access.write(lambda tx: recall.store.merge_order.move(tx, merge_id, to, actor))

    def merge_retry(self, merge_id: int, *, actor: str) -> Refused | None:
        return self._access.write(lambda tx: recall.store.merge_order.retry(tx, merge_id, actor))

    def release_queue(self, *, actor: str) -> Refused | None:
        return self._access.write(lambda tx: recall.store.merge_order.release(tx, actor))

    # -- receipts of outside actions -------------------------------------------------------------------------
    def begin_effect(self, wish: Wish) -> Begun | Refused:
        return self._access.write(lambda tx: recall.store.receipts.begin(tx, wish))

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
        return self._access.write(
            lambda tx: recall.store.receipts.answer(tx, key, attempt, after, actor, answer, reason)
        )

    # -- settings and notes ----------------------------------------------------------------------------------
    def put_setting(self, key: str, value: str, *, actor: str) -> None:
        self._access.write(lambda tx: settings.change(tx, key, value, actor))

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
        self._access.write(
            lambda tx: events.append(
                tx, kind, actor=actor, ref=ref, agent=agent, run_id=run_id, merge_id=merge_id, reason=reason
            )
        )

    # -- for the shim ----------------------------------------------------------------------------------------
    def shim_contract(self) -> ShimStoreContract:
        return recall.store.contract.shim_contract(self._path, self._lock_file)

    def _intervene(self, wish: str, ref: TaskRef, actor: str, reason: str) -> Refused | None:
        from recall.domain.intervention import Wish

        meant = Wish(wish)
        return self._access.write(lambda tx: recall.store.interventions.intervene(tx, meant, ref, actor, reason))
