"""The real engine and the real store on a stage of in-memory ports (`world`), moved step by step by a test."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from recall.config.settings import MergeSettings
from recall.domain.event import Event
from recall.domain.launch import RunSpec
from recall.domain.merge import MergeEntry
from recall.domain.run import Report, Run
from recall.domain.task import Task
from recall.engine.dispatcher import Dispatcher, Listener
from recall.engine.parts import Parts
from recall.engine.watch import Watch
from recall.store import SqliteStore
from tests.engine.world import (
    Fate,
    History,
    InlineExecutor,
    ListFile,
    Plans,
    Process,
    Processes,
    Shim,
    world_settings,
)
from tests.support.builders import SeededRng, make_store, ref
from tests.support.clock import FakeClock

_FAST_DISK = "/dev/shm" if Path("/dev/shm").is_dir() else None


class Stage:
    """`verdict` decides what each verification says: it gets command and commit. `fates` says of each run what its
    commits are like. `restart_conflicts` counts from the next `restart` on."""

    def __init__(
        self, folder: Path, store: SqliteStore, clock: FakeClock, *blocks: str, merge: MergeSettings
    ) -> None:
        self.clock, self.store, self.rng = clock, store, SeededRng()
        self.fates: dict[int, Fate] = {}
        self.verdict: Callable[[str, str], bool] = lambda _command, _commit: True
        self.processes = Processes(clock, self._check)
        self.git = History(self.fates, self.processes, folder / "ws")
        self.shim = Shim(store.shim_contract(), clock)
        self.file = ListFile(list_of(*blocks))
        self.plans = Plans(folder, store.shim_contract())
        self.settings = replace(world_settings(folder), merge=merge)
        self.restart_conflicts = True
        self.trouble: list[str] = []
        self.executor, self.watch = InlineExecutor(), Watch()
        self.dispatcher = self._dispatcher()

    def close(self) -> None:
        self.processes.close()
        self.watch.close()

    def _dispatcher(self) -> Dispatcher:
        parts = Parts(
            settings=self.settings,
            store=self.store,
            git=self.git,
            runner=self.processes,
            planner=self.plans,
            files=self.file,
            clock=self.clock,
            rng=self.rng,
            restart_conflicts=self.restart_conflicts,
        )
        return Dispatcher(parts, self.executor, self.watch, Listener(trouble=self.trouble.append))

    def _check(self, spec: RunSpec) -> bool:
        commit = self.git.checked_out(spec.cwd)
        green = self.verdict(spec.argv[0], commit)
        if green:
            self.git.green.add(commit)
        return green

    # -- moving ------------------------------------------------------------------------------------------------
    def start(self) -> None:
        self.dispatcher.start()

    def restart(self) -> None:
        """Another process takes over; what the first had in memory is gone."""
        self.watch.close()
        self.executor, self.watch = InlineExecutor(), Watch()
        self.dispatcher = self._dispatcher()
        self.dispatcher.start()

    def tick(self) -> None:
        """One round of the loop, all slow work done in it."""
        self.watch.wait(0)
        self.dispatcher.step()

    def land(self) -> bool:
        return self.dispatcher.queue.step()

    def process(self, task: str) -> Process:
        """The live agent that works on a task."""
        (found,) = [one for one in self.processes.agents() if one.spec.task == task]
        return found

    def end(self, task: str, result: str = "success", *, store_is_told: bool = True, **fate: Any) -> int:
        """An agent reports and ends; gives its run."""
        process = self.process(task)
        process.spec.cwd.mkdir(parents=True, exist_ok=True)
        self.fates[process.spec.run_id] = Fate(**fate)
        if store_is_told:
            assert self.shim.end(process)
        process.end(self.processes.exit(0, Report(result, "said so")))
        return process.spec.run_id

    def stop_what_was_told_to(self) -> None:
        """Shims stop their agents, as they were asked."""
        for process in self.processes.agents():
            if process.asked_to_stop:
                self.fates[process.spec.run_id] = Fate("silent")
                self.shim.end(process)
                process.end(self.processes.exit(143, stopped=process.asked_to_stop))

    def queue(self, task: str, **fate: Any) -> int:
        """Bring a task from todo into the merge queue; gives its run."""
        self.tick()
        run_id = self.end(task, **fate)
        self.tick()
        return run_id

    # -- looking -----------------------------------------------------------------------------------------------
    def task(self, id_: str) -> Task:
        found = self.store.task(ref(id_))
        assert found is not None
        return found

    def run(self, run_id: int) -> Run:
        found = self.store.run(run_id)
        assert found is not None
        return found

    def entry(self) -> MergeEntry:
        """The only open entry."""
        (found,) = self.store.merges()
        return found

    def events(self, kind: str) -> list[Event]:
        return [event for event in self.store.events_since(0, 10_000) if event.kind == kind]


def list_of(*blocks: str) -> str:
    return "# Tasks\n\n" + "\n\n".join(blocks) + "\n"


@contextmanager
def stage(*blocks: str, max_rounds: int = 5, land: str = "rebase") -> Generator[Stage]:
    """Start a dispatcher on a list of tasks. The disk is memory, where there is such a thing."""
    clock = FakeClock()
    with TemporaryDirectory(dir=_FAST_DISK) as folder, make_store(Path(folder), clock) as store:
        found = Stage(Path(folder), store, clock, *blocks, merge=MergeSettings(max_rounds=max_rounds, land=land))
        try:
            found.start()
            yield found
        finally:
            found.close()
