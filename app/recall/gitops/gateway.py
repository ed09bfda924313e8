"""All git work behind the engine's one port."""

from __future__ import annotations

import pwd
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from recall.config.settings import Settings, WorkspaceSettings
from recall.domain.clock import Clock
from recall.domain.rng import Rng
from recall.domain.task import TaskRef
from recall.domain.text import clean_line
from recall.domain.work import (
    CollectOutcome,
    LandingOutcome,
    PersonNeeded,
    RebaseOutcome,
    Result,
    WaitingForCheckout,
    Workspace,
)
from recall.failpoint import failpoint
from recall.gitops.conflict_desk import ConflictDesk
from recall.gitops.content_rule import ContentRule
from recall.gitops.foreign import ForeignGitDir
from recall.gitops.included import copy_included
from recall.gitops.integration import IntegrationRepository
from recall.gitops.landing import Lander
from recall.gitops.locate import Location
from recall.gitops.pipes import clear_git_dir, pipes_in
from recall.gitops.rebase import Rebaser
from recall.gitops.repository import Repository
from recall.gitops.results import Collector
from recall.gitops.shelf import Shelf
from recall.gitops.slots import Slots
from recall.gitops.workspaces import WorkspacePool
from recall.whole_files import replace_file


class GitGateway:
    """The `Git` port on the repository at `location`. `prepare` comes first, once in each process."""

    def __init__(self, location: Location, settings: Settings, clock: Clock, rng: Rng) -> None:
        elsewhere = settings.store.state_dir
        state_dir = settings.file.parent / Path(elsewhere).expanduser() if elsewhere else location.state_dir
        self.repository = Repository(location, settings.main, state_dir)
        self.integration = IntegrationRepository(self.repository)
        self.root = location.workspaces_root(settings.workspaces.root)
        self._closes_root = settings.workspaces.root == WorkspaceSettings().root and not settings.sandbox.user
        self._clock = clock
        git_dir, common_dir = self.integration.git_dir, location.common_dir
        keep = settings.workspaces.keep
        given_to = _uid_of(settings.sandbox.user)
        self._pool = WorkspacePool(
            common_dir,
            git_dir,
            state_dir,
            self.root,
            settings.main,
            keep,
            settings.workspaces.kind,
            given_to=given_to,
        )
        main_tree = location.checkout if location.git_dir == common_dir else None
        self._lander = Lander(
            common_dir,
            git_dir,
            settings.main,
            rng,
            main_tree=main_tree,
            settings=self._pool.untrusted.switched_off,
            agents=self.root,
        )
        self.collector = Collector(
            self.repository,
            self.integration,
            clock,
            protected=protected_files(location, settings),
            ignore=settings.merge.ignore,
            rule=ContentRule(settings.merge.max_leftover_bytes, settings.merge.max_binary_bytes),
        )
        self._rebaser = Rebaser(self.integration, clock, squash=settings.merge.land == "squash")
        self.conflicts = ConflictDesk(self.integration, state_dir, clock)
        self.shelf = Shelf(self.repository, self.integration, self._pool, clock)
        self._slots = Slots(
            self.integration,
            self.root / "verify",
            state_dir / "slots",
            keep=keep,
            count=settings.merge.window,
            given_to=given_to,
        )

    def prepare(self) -> str:
        """Check that Recall can work here and make its own folders. Gives a sentence when something had to be
        mended, else an empty string. Raises ConfigError or EnvironmentFailure in words."""
        self._unblock()
        self.repository.check()
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._closes_root:
            self.root.chmod(0o700)
        replace_file(self.root / ".gitignore", b"*\n", mode=0o644, durable=False)
        return self.integration.prepare(self._clock.now().wall, self._pool.untrusted.filters())

    # -- main ------------------------------------------------------------------------------------------------
    def main_tip(self) -> str:
        return self.repository.main_tip()

    def contains(self, tip: str, commit: str) -> bool:
        """Asked in the integration repository, which knows candidates as well as everything of the user's."""
        done = self.integration.git("merge-base", "--is-ancestor", commit, tip, check=False)
        return tip == commit or done.status == 0

    def knows(self, commit: str) -> bool:
        return self.integration.git("cat-file", "-e", f"{commit}^{{commit}}", check=False).ok

    def tree_of(self, commit: str) -> str:
        return self.integration.tree_of(commit)

    def file_on_main(self, path: str) -> bytes | None:
        """Give a file as main has it, for a repository without a checkout; None when main has no such file."""
        return self.repository.file_on_main(path)

    def last_landing(self) -> str:
        """Give commit and task of the newest commit on main that Recall landed; "" when there is none."""
        shown = "--format=%h of %(trailers:key=Recall-Task,valueonly,separator=%x2C)"
        found = self.repository.git("log", "-1", shown, "--grep=^Recall-Task: ", self.repository.main_ref)
        return clean_line(found.text)

    # -- workspaces ------------------------------------------------------------------------------------------
    def workspace_at(self, slot: str, *, branch: str, base: str) -> Workspace:
        return self._pool.at(slot, branch, base)

    def open_workspace(self, ref: TaskRef, number: int, run_id: int) -> Workspace:
        self._unblock()
        workspace = self._pool.open(ref, number, run_id)
        copy_included(self.repository.location, workspace.tree, self.root)
        return workspace

    def reopen_workspace(self, workspace: Workspace, run_id: int) -> str:
        self._unblock()
        return self._pool.reopen(workspace, run_id)

    def has_commits(self, workspace: Workspace) -> bool:
        agent = self.git_dir_of(workspace)
        return agent is None or agent.head()[1] != workspace.base

    def parked_diff(self, run_id: int) -> str:
        return self._pool.parked_diff(run_id)

    def collect(self, workspace: Workspace, run_id: int, title: str) -> CollectOutcome:
        self._unblock()
        self._pool.take_back(workspace)
        if changed := self._pool.tampered(workspace):
            return _for_person("the run changed what the repository's other work trees share", changed)
        if pipes := pipes_in(workspace.tree):
            return _for_person("pipes or devices lie where git reads files", pipes)
        agent, trusted = self.git_dir_of(workspace), self._pool.index_of(workspace)
        outcome = self.collector.collect(workspace, agent, run_id, title, trusted)
        if isinstance(outcome, PersonNeeded):
            return _for_person(outcome.reason, outcome.paths)
        return self._kept(outcome, run_id)

    def git_dir_of(self, workspace: Workspace) -> ForeignGitDir | None:
        """Give the git dir in which a run worked, to be read as files; None when it is gone."""
        return self._pool.git_dir_of(workspace)

    def close_workspace(self, workspace: Workspace, run_id: int, *, landed: bool) -> str:
        self._unblock()
        if landed:
            self._unpin(run_id)
        return self._pool.close(workspace, run_id, landed=landed)

    def tidy_workspaces(self, in_use: Sequence[str], landed: Collection[int] = ()) -> list[str]:
        self._unblock()
        for run_id in self._pool.users().intersection(landed):
            self._unpin(run_id)
        return self._pool.tidy(in_use, landed)

    def keep_result(self, run_id: int, tip: str, base: str, why: str) -> str:
        return self.shelf.keep(run_id, tip, base, why)

    def _unpin(self, run_id: int) -> None:
        self.integration.unpin(run_id)
        self.repository.git("update-ref", "-d", _base_pin(run_id))

    # -- the merge queue -------------------------------------------------------------------------------------
    def adopt_branch(self, branch: str, run_id: int) -> CollectOutcome:
        self._unblock()
        return self._kept(self.collector.adopt(branch, run_id), run_id)

    def rebase(self, *, base: str, tip: str, onto: str, trailers: Mapping[str, str]) -> RebaseOutcome:
        return self._rebaser.rebase(base, tip, onto, trailers)

    def open_slot(self, commit: str) -> Path:
        return self._slots.open(commit)

    def slot_changes(self, slot: Path, commit: str) -> tuple[str, ...]:
        return self._slots.changes(slot, commit)

    def land(self, *, merge_id: int, old: str, new: str, reflog: str) -> LandingOutcome:
        self._unblock()
        return self._lander.land(merge_id, old, new, reflog)

    def carry(self, *, merge_id: int, old: str, new: str) -> None:
        self._unblock()
        self._lander.carry(merge_id, old, new)

    def landing_hindrance(self, *, merge_id: int, old: str, new: str) -> WaitingForCheckout | None:
        self._unblock()
        return self._lander.hindrance(merge_id, old, new)

    def recover_landing(self, *, merge_id: int, old: str, new: str) -> LandingOutcome:
        self._unblock()
        return self._lander.recover(merge_id, old, new)

    def _unblock(self) -> None:
        """Whatever an agent at work put into the shared git dir, the next git call does not wait for it."""
        clear_git_dir(self.repository.common_dir)

    def _kept(self, outcome: CollectOutcome, run_id: int) -> CollectOutcome:
        """A result is only as safe as the user's commit that it builds on, and main may be reset while it waits."""
        if isinstance(outcome, Result):
            self.repository.git("update-ref", _base_pin(run_id), outcome.base)
            failpoint("gateway.result_base_pinned")
        return outcome


def _uid_of(user: str) -> int | None:
    """As one that there is not, nothing is started."""
    try:
        return pwd.getpwnam(user).pw_uid if user else None
    except KeyError:
        return None


def _for_person(reason: str, paths: tuple[str, ...]) -> PersonNeeded:
    """The workspace is closed next: say what finds the work afterwards."""
    return PersonNeeded(f"{reason} (`recall workspaces` shows where its work is kept)", paths)


def _base_pin(run_id: int) -> str:
    return f"refs/recall/result-base/{run_id}"


def protected_files(location: Location, settings: Settings) -> tuple[str, ...]:
    """Give the task files, recall.toml and what the settings name as paths in the repository's tree."""
    checkout = location.checkout
    paths = [Path(tasks.path) for tasks in settings.tasks]
    config = settings.file
    if config.is_absolute():
        inside = checkout is not None and config.is_relative_to(checkout)
        config = config.relative_to(checkout) if checkout is not None and inside else Path(config.name)
    return tuple(dict.fromkeys((*(path.as_posix() for path in (*paths, config)), *settings.merge.protected)))
