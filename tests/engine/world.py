"""A whole world in memory around the real engine and the real store: git, processes, files, a person, kills.

Everything here keeps only what the ports promise, and says so with an AssertionError when the engine asks for what
must never happen: a workspace handed out under a living process, a commit landed that nobody verified.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from recall.config.settings import AgentSettings, LeaseSettings, RunSettings, Settings, TaskList
from recall.domain.conflict import (
    ConflictedFile,
    ConflictKind,
    ConflictRecord,
    Decision,
    Labels,
    LandedChange,
    Remembered,
    Taken,
    Version,
)
from recall.domain.errors import RecallError
from recall.domain.launch import LeaseSpec, RunSpec, RunStatus, ShimStoreContract
from recall.domain.run import ExitRecord, Report, Run
from recall.domain.stream.dialect import Dialect
from recall.domain.stream.spending import Spending
from recall.domain.task import Task, TaskRef
from recall.domain.usage import LimitPatterns
from recall.domain.work import (
    CollectOutcome,
    Conflict,
    Handover,
    Landed,
    LandingOutcome,
    MainMoved,
    NothingNew,
    PersonNeeded,
    Rebased,
    RebaseOutcome,
    Result,
    WaitingForCheckout,
    Workspace,
)
from recall.store.connection import connect
from tests.support.clock import FakeClock

AGENTS = ("ann", "bob")
TTL = 20.0
ATTEMPTS, INTERRUPTIONS = 2, 3
VERIFY = "make check"


class Killed(BaseException):
    """The dispatcher's process dies here. No handler of errors may see it."""


@dataclass(frozen=True, slots=True)
class Fate:
    """How a run will come out. `conflicts`: its commits do not apply to main; `red`: its tree fails the check;
    `unseen`: for how many heartbeats of the others nobody looks at its end."""

    ending: str = "success"
    conflicts: bool = False
    red: bool = False
    unseen: int = 0


@dataclass(repr=False)
class Process:
    """An agent under its shim. `strays` live on when the shim was killed, until somebody sweeps them."""

    spec: RunSpec
    live: bool = True
    strays: bool = False
    asked_to_stop: str = ""
    record: ExitRecord | None = None
    tail: str = ""
    watchers: list[int] = field(default_factory=list[int])

    def __repr__(self) -> str:
        return f"the process of run {self.spec.run_id}"

    def end(self, record: ExitRecord | None, tail: str = "") -> None:
        self.live, self.record, self.tail = False, record, tail
        for watcher in self.watchers:
            os.eventfd_write(watcher, 1)
            os.close(watcher)
        self.watchers.clear()


class Processes:
    """`engine.ports.Runner`. Agents run until the test ends them; commands end at once."""

    def __init__(self, clock: FakeClock, verdict: Callable[[RunSpec], bool]) -> None:
        self._clock = clock
        self._verdict = verdict
        self.by_folder = dict[Path, Process]()

    def agents(self) -> list[Process]:
        return [process for process in self.by_folder.values() if process.live]

    def in_slot(self, folder: Path) -> list[Process]:
        """Whatever lives in a workspace, left-over processes too."""
        return [one for one in self.by_folder.values() if one.spec.slot == folder and (one.live or one.strays)]

    def start(self, spec: RunSpec) -> int:
        assert spec.folder not in self.by_folder, f"{spec.folder.name} was started twice"
        assert spec.slot is None or not self.in_slot(spec.slot), f"two agents in {spec.slot}"
        spec.folder.mkdir(parents=True)
        process = self.by_folder[spec.folder] = Process(spec)
        if spec.lease is None:
            process.end(self.exit(0 if self._verdict(spec) else 1))
        return 1

    def exit(self, status: int, report: Report | None = None, stopped: str | None = None) -> ExitRecord:
        return ExitRecord(status, stopped=stopped, report=report, ended_at=self._clock.wall)

    def status(self, folder: Path) -> RunStatus:
        process = self.by_folder.get(folder)
        return RunStatus(process.live, process.record) if process else RunStatus(False, None)

    def stop(self, folder: Path, reason: str) -> None:
        process = self.by_folder.get(folder)
        if process is not None and process.live:
            process.asked_to_stop = process.asked_to_stop or reason

    def stop_and_wait(self, folder: Path, reason: str) -> bool:
        process = self.by_folder.get(folder)
        if process is not None and process.live:
            process.end(self.exit(143, stopped=reason))
        return True

    def pidfd(self, folder: Path) -> int | None:
        process = self.by_folder.get(folder)
        if process is None or not process.live:
            return None
        watcher = os.eventfd(0, os.EFD_CLOEXEC)
        process.watchers.append(os.dup(watcher))
        return watcher

    def sweep(self, folder: Path) -> int:
        process = self.by_folder.get(folder)
        swept = process is not None and process.strays
        if process is not None:
            process.strays = False
        return int(swept)

    def tail(self, folder: Path, lines: int = 20) -> str:
        del lines
        process = self.by_folder.get(folder)
        return process.tail if process else ""

    def spending(self, folder: Path, dialect: Dialect) -> Spending:
        del folder, dialect
        return Spending()

    def close(self) -> None:
        for process in self.by_folder.values():
            process.end(process.record)


@dataclass(frozen=True, slots=True)
class Commit:
    """`history` are the commits that it contains, itself included; `run` made it, or nobody that we know."""

    history: frozenset[str]
    run: int | None = None
    task: str | None = None


class History:
    """`engine.ports.Git`: main is a list of commits that only grows."""

    def __init__(self, fates: dict[int, Fate], processes: Processes, root: Path) -> None:
        self._fates = fates
        self._processes = processes
        self._root = root
        self.commits = {"root": Commit(frozenset({"root"}))}
        self.main = ["root"]
        self.green = set[str]()
        self.slots = dict[str, int | None]()
        self.checkout_is_free = True
        self.kept = list[str]()
        self.resolved = set[int]()  # merge entries that a person resolved
        self._checked_out = dict[Path, str]()

    def grow(self, name: str) -> None:
        """Somebody else commits on main."""
        self.commits[name] = Commit(self.commits[self.main_tip()].history | {name})
        self.main.append(name)

    def work(self, run_id: int, base: str) -> str:
        """Give the commit that a run makes on `base`; always the same."""
        name = f"work-{run_id}"
        self.commits.setdefault(name, Commit(self.commits[base].history | {name}, run_id))
        return name

    def checked_out(self, folder: Path) -> str:
        return self._checked_out[folder]

    def resolve(self, run_id: int, task: str, onto: str) -> str:
        """Give a commit on `onto` that does what the run did; from now on it applies."""
        name = f"resolved-{run_id} on {onto}"
        self.commits[name] = Commit(self.commits[onto].history | {name}, run_id, task)
        self._fates[run_id] = replace(self._fates[run_id], conflicts=False)
        return name

    # -- the port ----------------------------------------------------------------------------------------------
    def main_tip(self) -> str:
        return self.main[-1]

    def contains(self, tip: str, commit: str) -> bool:
        return commit in self.commits[tip].history

    def knows(self, commit: str) -> bool:
        return commit in self.commits

    def tree_of(self, commit: str) -> str:
        return f"tree of {commit}"

    def workspace_at(self, slot: str, *, branch: str, base: str) -> Workspace:
        return Workspace(slot, self._root / slot, branch, base)

    def open_workspace(self, ref: TaskRef, number: int, run_id: int) -> Workspace:
        slot = next((name for name, owner in self.slots.items() if owner is None), f"s{len(self.slots) + 1}")
        assert not self._processes.in_slot(self._root / slot), f"{slot} is handed out, something lives in it"
        self.slots[slot] = run_id
        return self.workspace_at(slot, branch=f"recall/{ref.region}/{ref.id}/{number}", base=self.main_tip())

    def reopen_workspace(self, workspace: Workspace, run_id: int) -> str:
        assert self.slots[workspace.slot] is not None, f"{workspace.slot} was given back, run {run_id} wants it"
        assert not self._processes.in_slot(workspace.folder), (
            f"{workspace.slot} is handed over, something lives in it"
        )
        self.slots[workspace.slot] = run_id
        return ""

    def has_commits(self, workspace: Workspace) -> bool:
        return not workspace.slot

    def parked_diff(self, run_id: int) -> str:
        return f"diff of {run_id}"

    def collect(self, workspace: Workspace, run_id: int, title: str) -> CollectOutcome:
        del title
        assert self.slots[workspace.slot] == run_id, f"{workspace.slot} is not run {run_id}'s any more"
        assert not self._processes.in_slot(workspace.folder), f"run {run_id} is collected while it lives"
        match self._fates[run_id].ending:
            case "empty":
                return NothingNew("nothing changed")
            case "gitlink":
                return PersonNeeded("a new gitlink", ("sub",))
            case _:
                return Result(workspace.base, self.work(run_id, workspace.base), 1)

    def close_workspace(self, workspace: Workspace, run_id: int, *, landed: bool) -> str:
        del landed
        assert not self._processes.in_slot(workspace.folder), f"{workspace.slot} is closed, something lives in it"
        owner = self.slots.get(workspace.slot)
        assert owner in (run_id, None), f"run {run_id} closes {workspace.slot}, which run {owner} works in"
        self.slots[workspace.slot] = None
        return f"{workspace.slot} is free"

    def tidy_workspaces(self, in_use: Sequence[str], landed: Collection[int] = ()) -> list[str]:
        del landed
        unused = [slot for slot, owner in self.slots.items() if slot not in in_use and owner is not None]
        for slot in unused:
            assert not self._processes.in_slot(self._root / slot), f"{slot} is tidied, something lives in it"
            self.slots[slot] = None
        return unused

    @property
    def conflicts(self) -> Desk:
        return Desk(self)

    def keep_result(self, run_id: int, tip: str, base: str, why: str) -> str:
        del base, why
        self.kept.append(tip)
        return f"refs/recall/parked/{run_id}"

    def adopt_branch(self, branch: str, run_id: int) -> CollectOutcome:
        del branch
        return Result(self.main_tip(), self.work(run_id, self.main_tip()), 1)

    def rebase(self, *, base: str, tip: str, onto: str, trailers: Mapping[str, str]) -> RebaseOutcome:
        run_id = int(trailers["Recall-Run"])
        on_main = self.commits[onto]
        if any(self.commits[name].run == run_id for name in on_main.history):
            return NothingNew("main has it already")
        if self._fates[run_id].conflicts:
            return Conflict(("a.py",), tip, base, onto, tip)
        name = f"{tip} on {onto}"
        self.commits[name] = Commit(on_main.history | {name}, run_id, trailers["Recall-Task"])
        return Rebased(name, onto, 1)

    def open_slot(self, commit: str) -> Path:
        folder = self._root / "verify"
        self._checked_out[folder] = commit
        return folder

    def slot_changes(self, slot: Path, commit: str) -> tuple[str, ...]:
        assert self._checked_out[slot] == commit
        return ()

    def land(self, *, merge_id: int, old: str, new: str, reflog: str) -> LandingOutcome:
        del merge_id, reflog
        assert new in self.green, f"{new} lands, but nobody saw it green"
        if self.contains(self.main_tip(), new):
            return Landed(new, "was there")
        if self.main_tip() != old:
            return MainMoved(self.main_tip())
        if not self.checkout_is_free:
            return WaitingForCheckout("changed in your checkout", ("a.py",))
        self.main.append(new)
        return Landed(new, "fast-forward")

    def carry(self, *, merge_id: int, old: str, new: str) -> None:
        del merge_id
        assert new in self.green, f"{new} is offered, but nobody saw it green"
        assert self.contains(new, old)

    def landing_hindrance(self, *, merge_id: int, old: str, new: str) -> WaitingForCheckout | None:
        del merge_id, new
        if self.main_tip() != old or self.checkout_is_free:
            return None
        return WaitingForCheckout("changed in your checkout", ("a.py",))

    def recover_landing(self, *, merge_id: int, old: str, new: str) -> LandingOutcome:
        return self.land(merge_id=merge_id, old=old, new=new, reflog="")


@dataclass(frozen=True, slots=True)
class Desk:
    """`engine.ports.Conflicts`: every conflict is about one file, and there are no folders to resolve it in."""

    history: History

    def files(self, met: Conflict) -> tuple[ConflictedFile, ...]:
        return tuple(
            ConflictedFile(path, ConflictKind.BINARY, main=Version("100644", met.ours)) for path in met.paths
        )

    def changes_on_main(self, met: Conflict, onto: str) -> tuple[LandedChange, ...]:
        del met
        task = self.history.commits[onto].task
        return (LandedChange(onto, "changed a.py", TaskRef.parse(task) if task else None),)

    def remembered(self, files: Collection[ConflictedFile]) -> Mapping[str, Remembered]:
        del files
        return {}

    def place(
        self, seen: ConflictRecord, labels: Labels, path: str, content: bytes, known: Collection[bytes]
    ) -> bytes | None:
        del seen, labels, path, content, known
        return None

    def read(self, versions: Collection[Version]) -> Mapping[Version, bytes]:
        return {version: version.oid.encode() for version in versions}

    def write(self, file: ConflictedFile, content: bytes) -> Version:
        del file
        return Version("100644", content.hex())

    def tree(self, met: Conflict, decisions: Collection[Decision]) -> str:
        del decisions
        return f"tree of {met.theirs} on {met.ours}"

    def is_mains(self, met: Conflict, tree: str) -> bool:
        del met, tree
        return False

    def check_out(self, seen: ConflictRecord, folder: Path, labels: Labels) -> str:
        del seen, labels
        return f"there is no place for {folder}"

    def take_back(self, seen: ConflictRecord, labels: Labels) -> Taken | str:
        del seen, labels
        return "nothing was checked out"

    def commit(self, seen: ConflictRecord, tree: str) -> str:
        del tree
        self.history.resolved.add(seen.merge_id)
        return self.history.resolve(seen.run_id, str(seen.ref), seen.met.ours)

    def was_resolved(self, merge_id: int) -> bool:
        return merge_id in self.history.resolved


@dataclass
class Plans:
    """`engine.ports.Planner`."""

    root: Path
    contract: ShimStoreContract

    def runs_folder(self) -> Path:
        return self.root / "runs"

    def agent_run(
        self, task: Task, run: Run, workspace: Workspace, earlier: Sequence[Run], handover: Handover | None = None
    ) -> RunSpec:
        assert (handover is None) or run.branch == f"recall/{task.region}/{task.id}/{run.number}"
        del earlier
        lease = LeaseSpec(run.region, run.task, run.owner, run.version, TTL, 5.0, self.contract)
        return RunSpec(
            run.id, self.runs_folder() / str(run.id), ("agent",), workspace.tree, {}, slot=workspace.folder,
            task=str(task.ref), agent=run.agent, lease=lease,
        )  # fmt: skip

    def command_run(self, name: str, command: str, cwd: Path, timeout: float) -> RunSpec:
        return RunSpec(0, self.runs_folder() / name, (command,), cwd, {}, timeout=timeout)

    def patterns(self, agent: str) -> LimitPatterns:
        del agent
        return LimitPatterns()

    def dialect(self, agent: str) -> Dialect | None:
        del agent
        return None


@dataclass
class ListFile:
    """`engine.ports.TaskFiles`: one file that a person edits."""

    text: str
    edits: int = 0

    def edit(self, text: str) -> None:
        self.text = text
        self.edits += 1

    def read(self, path: str) -> bytes:
        del path
        return self.text.encode()

    def stamp(self, path: str) -> tuple[int, int]:
        del path
        return (self.edits, len(self.text))


class InlineExecutor(Executor):
    """Runs work at submit, or when the test says so."""

    def __init__(self) -> None:
        self.eager = True
        self.waiting = list[tuple[Future[Any], Callable[[], Any]]]()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.waiting.append((future, lambda: fn(*args, **kwargs)))
        if self.eager:
            self.work()
        return future

    def work(self, which: int = -1) -> None:
        """Do one piece of what waits, the newest by default."""
        future, piece = self.waiting.pop(which)
        try:
            future.set_result(piece())
        except RecallError as error:
            future.set_exception(error)


class Strikes:
    """Kills the dispatcher at the n-th failpoint that it reaches, or at one that is named. What others do in the
    store passes."""

    def __init__(self) -> None:
        self.countdown = -1
        self.place = ""
        self.inside = False

    def __call__(self, name: str) -> None:
        if not self.inside:
            return
        self.countdown = max(self.countdown - 1, -1)
        if self.countdown == 0 or name == self.place:
            self.countdown, self.place = -1, ""
            raise Killed(name)


def modules_with_failpoints() -> list[str]:
    """The modules of engine and store that call `failpoint`, as far as they are loaded."""
    found = [name for name in sys.modules if name.startswith(("recall.engine.", "recall.store."))]
    return [name for name in found if hasattr(sys.modules[name], "failpoint")]


class Shim:
    """Writes to the store as a shim does: by its two statements alone, on a connection of its own."""

    def __init__(self, contract: ShimStoreContract, clock: FakeClock) -> None:
        self._contract = contract
        self._clock = clock

    def renew(self, process: Process) -> bool:
        return self._write(self._contract.renew_sql, process)

    def end(self, process: Process) -> bool:
        return self._write(self._contract.end_sql, process)

    def _write(self, sql: str, process: Process) -> bool:
        lease, now = process.spec.lease, self._clock.now()
        assert lease is not None
        values = {
            "region": lease.region, "task": lease.task, "owner": lease.owner, "version": lease.version,
            "run_id": process.spec.run_id, "boot": now.boot, "now": now.mono, "expires": now.mono + TTL,
            "wall": now.wall, "expires_wall": now.wall + TTL,
        }  # fmt: skip
        with closing(connect(self._contract.database)) as connection:
            return connection.execute(sql, values).rowcount == 1


def world_settings(root: Path) -> Settings:
    return Settings(
        file=root / "recall.toml",
        main="main",
        verify=VERIFY,
        tasks=(TaskList("main", "TASKS.md"),),
        explore=0.0,
        lease=LeaseSettings(ttl=TTL, heartbeat=5.0, pull_ttl=60.0),
        run=RunSettings(attempts=ATTEMPTS, max_interruptions=INTERRUPTIONS),
        agents=tuple(AgentSettings(name, ("agent",)) for name in AGENTS),
    )
