"""Folders that are repositories of their own and borrow the user's objects, as after `git clone --shared`.

They have no remote and of the user's branches none but main, so no ordinary git command in them can write to the
user's repository. Their git dir is the agent's to change: it is made anew for every run, and read as plain files
once an agent has had it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from recall.domain.work import Workspace
from recall.failpoint import failpoint
from recall.gitops.agent_files import is_real_folder
from recall.gitops.fingerprint import differences, global_part, settings_prints
from recall.gitops.folders import remove
from recall.gitops.foreign import ForeignGitDir
from recall.gitops.slot_records import Slot
from recall.gitops.user_refs import UserRefs

#: The integration repository's settings hold in a clone too, but for these.
_OWN_SETTINGS = "[core]\n\tbare = false\n\tlogallrefupdates = true\n"


class SharedClones:
    """`integration` is the dispatcher's own git dir: its settings, excludes and shallow boundary are what a clone
    gets of the user's."""

    def __init__(self, refs: UserRefs, integration: Path) -> None:
        self._refs = refs
        self._integration = integration

    def find(self, tree: Path, git_dir: str = "") -> ForeignGitDir | None:
        """Give the clone's git dir, which always lies in its tree; None when it is gone or a link."""
        own = Path(git_dir) if git_dir else tree / ".git"
        return ForeignGitDir(own, own, own / "objects") if is_real_folder(own) else None

    def make(self, workspace: Workspace) -> Path:
        """Give a git dir that knows main and nothing of an earlier run; files in the folder stay."""
        workspace.tree.mkdir(parents=True, exist_ok=True)
        git_dir = workspace.tree / ".git"
        remove(git_dir)
        failpoint("clone.git_dir_removed")
        for folder in ("objects/info", "info", "refs/heads", "refs/tags"):
            (git_dir / folder).mkdir(parents=True)
        (git_dir / "objects" / "info" / "alternates").write_text(f"{self._refs.common_dir / 'objects'}\n")
        (git_dir / "config").write_text((self._integration / "config").read_text() + _OWN_SETTINGS)
        for name in ("info/exclude", "shallow"):
            if (self._integration / name).is_file():
                shutil.copyfile(self._integration / name, git_dir / name)
        (git_dir / "packed-refs").write_text(self._tags())
        main = git_dir / self._refs.main
        main.parent.mkdir(parents=True, exist_ok=True)
        main.write_text(f"{workspace.base}\n")
        (git_dir / "HEAD").write_text(f"ref: {self._refs.main}\n")
        failpoint("clone.git_dir_made")
        return git_dir

    def _tags(self) -> str:
        listed = self._refs.git("for-each-ref", "--format=%(objectname) %(refname)", "refs/tags").text
        return "".join(f"{line}\n" for line in listed.splitlines())

    def settings(self) -> list[str]:
        """Give what git needs to be told when the folder is filled: nothing, the git dir is fresh."""
        return []

    def prints(self, workspace: Workspace, git_dir: Path) -> dict[str, str]:
        """Give name -> hash for what an agent in a clone shares with others: the global configuration."""
        return {"clone": str(git_dir.relative_to(workspace.folder)), **self._global()}

    def changed(self, _workspace: Workspace, slot: Slot) -> tuple[str, ...]:
        """Name what became different of it since the run began."""
        return differences(global_part(slot.prints), self._global())

    def _global(self) -> dict[str, str]:
        return global_part(settings_prints(self._refs.common_dir))

    def let_go(self, _workspace: Workspace, git_dir: Path) -> None:
        """Remove all that the run's own git dir holds. Its work has been kept."""
        remove(git_dir)
        failpoint("clone.git_dir_let_go")

    def discard(self, tree: Path) -> None:
        remove(tree)
