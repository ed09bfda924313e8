"""Where the repository is, read from files alone: commands that must start fast need no git process for it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from recall.domain.errors import ConfigError


class Location(NamedTuple):
    """`checkout` is the work tree's root that the search began in, None for a bare repository. `common_dir`
    is the git dir that all linked worktrees share; `git_dir` is the one of this work tree."""

    checkout: Path | None
    git_dir: Path
    common_dir: Path

    @property
    def state_dir(self) -> Path:
        return self.common_dir / "recall"

    def workspaces_root(self, configured: str) -> Path:
        """Give the folder of workspaces and checkouts: below the main work tree, beside a bare repository.
        Started in a linked worktree it is still the main one's, so that nothing is nested and every start finds
        the same."""
        folder = Path(configured)
        if folder.is_absolute():
            return folder
        if self.common_dir.name == ".git":
            return self.common_dir.parent / folder
        if self.checkout is not None and self.git_dir == self.common_dir:
            return self.checkout / folder
        return self.common_dir.parent / f"{self.common_dir.name.removesuffix('.git')}{folder.name}"


def locate(start: Path) -> Location:
    """Walk up from `start` to a repository. Raises ConfigError when there is none."""
    here = start.resolve()
    for folder in (here, *here.parents):
        dot_git = folder / ".git"
        if dot_git.is_dir() and _is_git_dir(dot_git):
            return Location(folder, dot_git, _common_dir(dot_git))
        if dot_git.is_file():
            git_dir = _follow(dot_git)
            return Location(folder, git_dir, _common_dir(git_dir))
        if _is_git_dir(folder):
            return Location(None, folder, _common_dir(folder))
    raise ConfigError(f"no git repository at {here} or above it; go into one, or run `git init -b main` first")


def _is_git_dir(folder: Path) -> bool:
    return (folder / "HEAD").exists() and ((folder / "objects").is_dir() or (folder / "commondir").exists())


def _follow(dot_git: Path) -> Path:
    word, _, target = dot_git.read_text(errors="surrogateescape").strip().partition(": ")
    if word != "gitdir" or not target:
        raise ConfigError(f"{dot_git} is a file but does not say `gitdir: FOLDER`")
    return (dot_git.parent / target).resolve()


def _common_dir(git_dir: Path) -> Path:
    pointer = git_dir / "commondir"
    if not pointer.is_file():
        return git_dir
    return (git_dir / pointer.read_text(errors="surrogateescape").strip()).resolve()
