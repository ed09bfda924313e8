"""Work that waits for a person: looked at, brought back, or dropped. Nothing here touches a workspace in use."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from recall.domain.clock import Clock
from recall.domain.errors import EnvironmentFailure
from recall.domain.frozen import frozen
from recall.domain.run import Refused
from recall.domain.text import clean
from recall.failpoint import failpoint
from recall.gitops.command import pipe_git
from recall.gitops.commits import Commit
from recall.gitops.integration import IntegrationRepository
from recall.gitops.parking import PREFIX, ParkedWork
from recall.gitops.rebase import committer_now
from recall.gitops.repository import Repository
from recall.gitops.workspaces import WorkspacePool


@frozen
class ShelvedWork:
    """`name` is what people call it by: the run's number, or what follows `refs/recall/parked/`. `size` is in bytes
    and counts what main does not have, `since` is wall seconds UTC. `folder` is set when the workspace itself was
    left as it was; then `ref` may be empty."""

    name: str
    run_id: int | None
    ref: str
    tip: str
    why: str
    files: int
    size: int
    since: float
    folder: Path | None = None


class Shelf:
    """`pool` knows what is parked; refs are the user's."""

    def __init__(
        self, repository: Repository, integration: IntegrationRepository, pool: WorkspacePool, clock: Clock
    ) -> None:
        self._repository = repository
        self._integration = integration
        self._pool = pool
        self._clock = clock

    def listed(self) -> list[ShelvedWork]:
        """Give everything that is parked, oldest first."""
        return sorted(map(self._shelved, self._pool.parked()), key=lambda work: work.since)

    def _shelved(self, work: ParkedWork) -> ShelvedWork:
        name = work.ref.removeprefix(f"{PREFIX}/") or str(work.run_id)
        if work.folder is not None:
            size, since = folder_size(work.folder), work.folder.stat().st_mtime if work.folder.exists() else 0.0
        else:
            size, since = self._size(work.tip), self._time(work.tip)
        return ShelvedWork(name, work.run_id, work.ref, work.tip, work.why, work.files, size, since, work.folder)

    def _size(self, tip: str) -> int:
        counted = self._repository.git(
            "rev-list", "--disk-usage", "--objects", tip, "--not", self._repository.main_ref
        )
        return int(counted.text)

    def _time(self, tip: str) -> float:
        return float(self._repository.git("log", "-1", "--format=%ct", tip).text)

    def keep(self, run_id: int, tip: str, base: str, why: str) -> str:
        """Pin commits of the integration repository in the user's, as parked work; gives the ref."""
        tree = self._integration.git("rev-parse", "--verify", f"{tip}^{{tree}}").text
        now, ref = committer_now(self._clock), f"{PREFIX}/{run_id}-result"
        message = f"Parked: {run_id}-result\n\n{clean(why)}\n\nRecall-Base: {base}\n".encode("utf-8", "replace")
        parked = Commit.new(tree, [tip], now, now, message)
        self._integration.store([parked])
        commit = parked.oid(self._repository.object_format)
        self._carry(commit)
        failpoint("shelf.carried")
        self._repository.git("update-ref", ref, commit)
        return ref

    def _carry(self, commit: str) -> None:
        source, sink = pipe_git(
            ["pack-objects", "--revs", "--stdout", "-q"],
            ["index-pack", "--stdin"],
            git_dir=self._repository.common_dir,
            source_git_dir=self._integration.git_dir,
            stdin=f"{commit}\n^{self._repository.main_tip()}\n".encode(),
        )
        if not (source.ok and sink.ok):
            raise EnvironmentFailure(f"{commit[:12]} could not be kept: {clean(source.error or sink.error)}")

    # -- bringing back ---------------------------------------------------------------------------------------
    def restore_branch(self, work: ShelvedWork) -> str | Refused:
        """Make a branch of parked work; gives its name. Where everything was committed it is the run's own last
        commit, else one with the files as they lay there. A branch of that name is never moved."""
        branch = f"recall-restored/{work.name}"
        full, tip = f"refs/heads/{branch}", self._committed(work) or work.tip
        if self._repository.tip_of(full) is not None:
            return Refused(f"there is a branch {branch} already; delete or rename it first")
        self._repository.git("update-ref", full, tip, "0" * len(tip))
        return branch

    def _committed(self, work: ShelvedWork) -> str:
        tree = self._repository.git("rev-parse", f"{work.tip}^{{tree}}").text
        last = self._repository.tip_of(f"{work.tip}^1")
        same = last is not None and self._repository.git("rev-parse", f"{last}^{{tree}}").text == tree
        is_parked = self._repository.git("log", "-1", "--format=%s", work.tip).text.startswith("Parked: ")
        return last if last is not None and same and is_parked else ""

    def restore_files(self, work: ShelvedWork, folder: Path) -> Refused | None:
        """Write parked files into a new folder, which is no work tree of anything."""
        if os.path.lexists(folder) and (not folder.is_dir() or any(folder.iterdir())):
            return Refused(f"{folder} is there already and not an empty folder; name a new one")
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix="restore-", dir=self._integration.git_dir) as scratch:
            index = Path(scratch, "index")
            self._integration.git("read-tree", work.tip, index=index)
            self._integration.git("checkout-index", "-a", "-q", index=index, work_tree=folder)
        return None

    # -- dropping --------------------------------------------------------------------------------------------
    def drop(self, works: Sequence[ShelvedWork], branch: str | None) -> list[str]:
        """Let go of parked work of one run; says what went. Its branch goes with it if all of it was parked."""
        said: list[str] = []
        for work in works:
            if work.ref:
                self._repository.git("update-ref", "-d", work.ref, work.tip)
                failpoint("shelf.ref_dropped")
                said.append(
                    f"{work.ref} is gone; until git cleans up, `git branch NAME {work.tip[:12]}` brings it back"
                )
                said += self._drop_branch(branch, work.tip) if branch else []
            if work.folder is not None and work.run_id is not None:
                said.append(self._pool.drop(work.run_id))
        return said

    def _drop_branch(self, branch: str, parked: str) -> list[str]:
        tip = self._repository.tip_of(f"refs/heads/{branch}")
        if tip is None or not self._repository.contains(parked, tip) or self._is_checked_out(branch):
            return []
        self._repository.git("update-ref", "-d", f"refs/heads/{branch}", tip)
        return [f"branch {branch} went with it"]

    def _is_checked_out(self, branch: str) -> bool:
        listed = self._repository.git("worktree", "list", "--porcelain", "-z").text.split("\0")
        return f"branch refs/heads/{branch}" in listed


def folder_size(folder: Path) -> int:
    """Add up what the files below a folder hold; links are not followed."""
    return sum(
        os.lstat(os.path.join(place, name)).st_size  # noqa: PTH118 - names here need not be UTF-8
        for place, _, names in os.walk(folder)
        for name in names
    )
