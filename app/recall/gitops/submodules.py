"""What an agent did inside a submodule, seen without ever running git in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from recall.gitops.agent_files import is_real_folder, read_text
from recall.gitops.command import ALONE, run_git
from recall.gitops.foreign import ForeignGitDir
from recall.gitops.integration import borrowing


def touched_submodules(own: Path, tree: Path, gitlinks: Mapping[str, str]) -> list[str]:
    """Name those that are at another commit than the work tree says, or hold files that are in no commit. `gitlinks`
    is path -> commit, `own` a git dir of the dispatcher's."""
    return [path for path, commit in gitlinks.items() if _is_touched(own, tree / path, commit)]


def _is_touched(own: Path, folder: Path, commit: str) -> bool:
    if not is_real_folder(folder):
        return False  # a deletion, or a file in its place: a change that git sees
    git_dir = _git_dir(folder)
    if git_dir is None:
        return any(folder.iterdir())
    head = ForeignGitDir(git_dir, git_dir, None).head()[1]
    return head != commit or _has_changes(own, folder, commit, git_dir / "objects")


def _git_dir(folder: Path) -> Path | None:
    inside = folder / ".git"
    if is_real_folder(inside):
        return inside
    word, _, target = read_text(inside).strip().partition(": ")
    return folder / target if word == "gitdir" else None


def _has_changes(own: Path, folder: Path, commit: str, objects: Path) -> bool:
    """The index is a fresh one, so every file is read."""
    env = {**ALONE, **borrowing(objects)}
    with TemporaryDirectory(prefix="submodule-", dir=own) as scratch:
        index = Path(scratch, "index")
        if not run_git(["read-tree", commit], git_dir=own, index=index, env=env, check=False).ok:
            return True
        look = ["ls-files", "-m", "-o", "--directory", "--exclude-standard", "-z"]
        done = run_git(look, git_dir=own, cwd=folder, work_tree=folder, index=index, env=env, check=False)
    return not done.ok or bool(done.out)
