"""Reading a git dir that an agent can write, as plain files: git itself never runs in it.

Nothing here follows a symbolic link or waits on a pipe, and nothing read is believed before the integration
repository has checked it.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from recall.domain.work import Workspace
from recall.gitops.repository import Repository

_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = re.compile(r"refs/(?!.*(?:\.\.|//))[^\0-\x20~^:?*\[\\]+")
_LIMIT = 64 * 1024 * 1024  # bytes; packed-refs of a very large repository

#: What lies in a git dir while an operation waits for its user, and its name.
OPERATIONS = {
    "rebase-merge": "rebase",
    "rebase-apply": "rebase or am",
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "sequencer": "sequence of picks",
    "BISECT_LOG": "bisect",
}


@dataclass(frozen=True, slots=True)
class ForeignGitDir:
    """`git_dir` holds HEAD and the index, `common_dir` the refs. `objects` is None if they are the user's own."""

    git_dir: Path
    common_dir: Path
    objects: Path | None

    def head(self) -> tuple[str | None, str | None]:
        """Give (the ref that HEAD stands on, its commit). Detached: (None, commit); unborn: (ref, None)."""
        said = read_text(self.git_dir / "HEAD").strip()
        if said.startswith("ref: "):
            ref = said[5:].strip()
            return ref, self.resolve(ref)
        return None, said if _OID.fullmatch(said) else None

    def resolve(self, ref: str) -> str | None:
        """Give the commit that a branch stands on, loose or packed; None if there is no such branch."""
        if not _REF.fullmatch(ref):
            return None
        loose = read_text(self.common_dir / ref).strip()
        if _OID.fullmatch(loose):
            return loose
        ending = f" {ref}"
        for line in read_text(self.common_dir / "packed-refs").splitlines():
            if line.endswith(ending) and _OID.fullmatch(line[: -len(ending)]):
                return line[: -len(ending)]
        return None

    def operation(self) -> str | None:
        """Name the operation that was left half done, if any."""
        return next((name for file, name in OPERATIONS.items() if os.path.lexists(self.git_dir / file)), None)

    def index(self) -> bytes:
        """The index as it lies there: data, to be looked at as a copy. Empty if there is none."""
        return read_bytes(self.git_dir / "index")


def open_workspace_git_dir(repository: Repository, workspace: Workspace, kind: str) -> ForeignGitDir | None:
    """Find a workspace's git dir without asking its `.git`: a clone's lies at a fixed place, a linked worktree's
    is the one in the user's repository that names this folder. None: it is gone."""
    if kind == "clone":
        git_dir = workspace.tree / ".git"
        return ForeignGitDir(git_dir, git_dir, git_dir / "objects") if is_real_folder(git_dir) else None
    wanted = str(workspace.folder.resolve() / workspace.tree.name / ".git")
    for admin in sorted((repository.common_dir / "worktrees").glob("*")):
        named = os.path.join(admin, read_text(admin / "gitdir").strip())  # relative since git 2.48  # noqa: PTH118
        if os.path.normpath(named) == wanted:
            return ForeignGitDir(admin, repository.common_dir, None)
    return None


def is_real_folder(path: Path) -> bool:
    """Tell whether `path` is a folder and not a link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def read_text(path: Path) -> str:
    return os.fsdecode(read_bytes(path))


def read_bytes(path: Path, limit: int = _LIMIT) -> bytes:
    """Read a regular file that an agent may have made; empty if it is missing, a link, a pipe or too large."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode) or state.st_size > limit:
            return b""
        return _read_all(handle)
    finally:
        os.close(handle)


def _read_all(handle: int) -> bytes:
    return b"".join(iter(lambda: os.read(handle, 1024 * 1024), b""))
