"""Folders that are linked worktrees of the user's repository: branches are seen there at once, and it is cheap.

Configuration, hooks and refs are shared with the user, and an agent may write them: what changed of them during a
run is noticed at its end.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from recall.domain.errors import EnvironmentFailure
from recall.domain.text import clean_line
from recall.domain.work import Workspace
from recall.failpoint import failpoint
from recall.gitops.agent_files import is_real_file
from recall.gitops.checkout import find_git_dir
from recall.gitops.command import run_git
from recall.gitops.fingerprint import differences, fingerprint
from recall.gitops.folders import remove
from recall.gitops.foreign import ForeignGitDir
from recall.gitops.operations import clear_operation
from recall.gitops.slot_records import Slot, SlotRecords
from recall.gitops.stash import made_on_no_branch
from recall.gitops.user_refs import UserRefs


class LinkedWorktrees:
    def __init__(self, refs: UserRefs, records: SlotRecords) -> None:
        self._refs = refs
        self._records = records

    def find(self, tree: Path, git_dir: str = "") -> ForeignGitDir | None:
        """Give the folder's own git dir, whatever its agent made of the pointers between the two. `git_dir` is
        where it was when the run began."""
        known = Path(git_dir) if git_dir else find_git_dir(self._refs.common_dir, tree)
        if known is None or not is_real_file(known / "HEAD"):
            return None
        return ForeignGitDir(known, self._refs.common_dir, None)

    def make(self, workspace: Workspace) -> Path:
        """Give a linked worktree at rest; one that is there keeps its files."""
        git_dir = find_git_dir(self._refs.common_dir, workspace.tree)
        if git_dir is None or not (workspace.tree / ".git").is_file():
            with self._records.administration():
                git_dir = self._add(workspace)
        clear_operation(git_dir)
        remove(git_dir / "logs" / "HEAD")
        _unset_sparse(git_dir)
        return git_dir

    def _add(self, workspace: Workspace) -> Path:
        """Add one without files. What a killed attempt left of it is cleared first: a folder without a whole
        worktree holds nothing that was ever worked on."""
        self.discard(workspace.tree)
        workspace.folder.mkdir(parents=True, exist_ok=True)
        add = ["worktree", "add", "-q", "--no-checkout", "--detach", "--no-guess-remote"]
        self._refs.git(*add, str(workspace.tree), workspace.base)
        git_dir = find_git_dir(self._refs.common_dir, workspace.tree)
        if git_dir is None:
            raise EnvironmentFailure(f"git made no worktree in {workspace.tree}; look at `git worktree list`")
        return git_dir

    def settings(self) -> list[str]:
        """Switch off sparse checkouts, which `worktree add` copies from the user's."""
        return ["core.sparseCheckout=false"]

    def prints(self, workspace: Workspace, git_dir: Path) -> dict[str, str]:
        """Give name -> hash for all that an agent in this folder shares with others."""
        return fingerprint(self._refs.common_dir, git_dir, workspace.tree)

    def changed(self, workspace: Workspace, slot: Slot) -> tuple[str, ...]:
        """Name what became different of it since the run began."""
        git_dir = Path(slot.git_dir)
        left = made_on_no_branch(self._refs.common_dir, git_dir, slot.prints)
        return (*differences(slot.prints, self.prints(workspace, git_dir)), *map(clean_line, left))

    def let_go(self, workspace: Workspace, git_dir: Path) -> None:
        """Take the folder off its branch, so that the branch can go."""
        clear_operation(git_dir)
        remove(git_dir / "locked")
        remove(git_dir / "logs" / "HEAD")
        run_git(["update-ref", "--no-deref", "HEAD", workspace.base], git_dir=git_dir)
        failpoint("workspace.detached")

    def discard(self, tree: Path) -> None:
        """Remove a worktree that holds no work: its registration first, so that no stray one is ever left."""
        git_dir = find_git_dir(self._refs.common_dir, tree)
        if git_dir is not None:
            shutil.rmtree(git_dir)
            failpoint("workspace.registration_removed")
        remove(tree)


def _unset_sparse(git_dir: Path) -> None:
    own = git_dir / "config.worktree"
    if own.exists():
        run_git(["config", "--file", str(own), "--unset-all", "core.sparseCheckout"], cwd=git_dir, check=False)
