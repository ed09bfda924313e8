"""Runs that were worked off by hand, in a real repository with the real engine, up to a conflict."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from recall.bootstrap import open_engine
from recall.domain.event import Event
from recall.domain.merge import MergeEntry, MergeState
from recall.domain.run import Claim, ExitRecord, Report, Run
from recall.domain.task import Task, TaskRef
from recall.engine.dispatcher import Dispatcher, Listener
from recall.engine.ports import Store
from recall.engine.releases import Releases
from recall.engine.settlement import settle_ended_run
from tests.cli.conftest import opened
from tests.support.hermetic_git import Repo
from tests.support.kept import Kept

Files = Mapping[str, str | bytes | None]

CONFIG = """\
verify = "none"
[merge]
conflicts = "person"
[agents.ann]
command = ["true"]
parallel = 9
[agents.bob]
command = ["true"]
parallel = 9
types = ["web"]
"""

TASKS = """\
# Tasks

## T-1 Draw the map

## T-2 Colour the map

## T-3 Print it

- agents: ann
"""


def meeting(
    kept: Kept, name: str, main: Files, task: Files, before: Files, then: Callable[[Ground], None] | None = None
) -> Ground:
    """A project in which T-2 is in conflict with T-1, as `Ground.meet` brings it about; `then` goes on from there."""

    def make(place: Path) -> None:
        repo = Repo.create(place / "repo")
        repo.commit("set up", {"recall.toml": CONFIG, "TASKS.md": TASKS, **before})
        ground = Ground(repo)
        ground.meet(main, task)
        assert ground.entry().state is MergeState.CONFLICT
        if then is not None:
            then(ground)

    return Ground(Repo(kept(name, make) / "repo"))


@dataclass
class Ground:
    """`begin` claims a task and opens its workspace at main's tip, `finish` commits there and hands it in, `step`
    lets the merge queue go as far as it can."""

    repo: Repo
    _begun: dict[str, tuple[Claim, Path]] = field(default_factory=dict[str, tuple[Claim, Path]])

    @contextmanager
    def engine(self) -> Generator[Dispatcher]:
        with open_engine(self.repo.path, Listener()) as dispatcher:
            dispatcher.start()
            yield dispatcher

    def begin(self, *tasks: str) -> None:
        with self.engine() as dispatcher:
            self._begin(dispatcher, *tasks)

    def _begin(self, dispatcher: Dispatcher, *tasks: str) -> None:
        store, git = dispatcher.parts.store, dispatcher.parts.git
        for id_ in tasks:
            claim = store.claim(TaskRef("main", id_), "ann", f"ann-{id_}-{len(self._begun)}", 3600.0)
            assert isinstance(claim, Claim), claim
            place = git.open_workspace(claim.ref, claim.number, claim.run_id)
            at = {"branch": place.branch, "base": place.base, "slot": place.slot}
            assert store.start_run(claim.run_id, claim.owner, claim.version, **at) is None
            assert store.end_run(claim.run_id, claim.owner, claim.version) is None
            self._begun[id_] = (claim, place.tree)

    def finish(self, id_: str, files: Files) -> None:
        with self.engine() as dispatcher:
            self._finish(dispatcher, id_, files)

    def _finish(self, dispatcher: Dispatcher, id_: str, files: Files) -> None:
        claim, tree = self._begun[id_]
        Repo(tree).commit(f"{id_}: do it\n\nas it was asked for", files, author="Ann <ann@example.invalid>")
        parts = dispatcher.parts
        settle_ended_run(parts, Releases(parts), claim.run_id, ExitRecord(0, report=Report("success")))

    def step(self) -> None:
        with self.engine() as dispatcher:
            self._step(dispatcher)

    def _step(self, dispatcher: Dispatcher) -> None:
        while dispatcher.queue.step():
            pass

    def meet(self, main: Files, task: Files, before: Files | None = None) -> None:
        """T-1 lands with `main`, then T-2 meets it with `task`."""
        if before:
            self.repo.commit("before", before)
        with self.engine() as dispatcher:
            self._begin(dispatcher, "T-1", "T-2")
            self._finish(dispatcher, "T-1", main)
            self._finish(dispatcher, "T-2", task)
            self._step(dispatcher)

    # -- looking -----------------------------------------------------------------------------------------------
    @contextmanager
    def store(self) -> Generator[Store]:
        store = opened(self.repo.path)
        try:
            yield store
        finally:
            store.close()

    def task(self, id_: str = "T-2") -> Task:
        with self.store() as store:
            task = store.task(TaskRef("main", id_))
        assert task is not None
        return task

    def entry(self, id_: str = "T-2") -> MergeEntry:
        with self.store() as store:
            return next(entry for entry in store.merges(open_only=False) if entry.task == id_)

    def runs(self, id_: str = "T-2") -> Sequence[Run]:
        with self.store() as store:
            return store.runs(TaskRef("main", id_))

    def last_seq(self) -> int:
        with self.store() as store:
            return store.last_seq()

    def events(self, after: int) -> list[Event]:
        with self.store() as store:
            return store.events_since(after)
