"""Pipes and devices where git opens files: git would wait there for a writer that never comes.

An agent, or a test suite, may put one anywhere. Removing it takes nothing away: it holds no data, and the file whose
place it took was gone before.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from recall.domain.text import clean_line
from recall.gitops.agent_files import is_real_folder, read_text

#: What git opens of a shared git dir without being asked for it. Objects are found by their id, which nobody knows
#: before they are made.
_SHARED = ("refs", "logs", "info", "objects/info", "worktrees")

#: Files of a work tree that git, or LFS, reads before anything else there.
_READ_IN_TREES = (".git", ".lfsconfig")

#: People link to it what they want to be empty, and it is.
_NULL = os.makedev(1, 3)


def clear_git_dir(git_dir: Path) -> None:
    """Remove them from a git dir that agents share with others. A link to one goes as well."""
    for place in (*_odd_ones(git_dir, deep=False), *(odd for name in _SHARED for odd in _odd_ones(git_dir / name))):
        if _keeps_waiting(place):
            _remove(place)


def pipes_in(tree: Path) -> tuple[str, ...]:
    """Name those in a work tree that keep git waiting, as text for people."""
    return tuple(sorted(clean_line(str(place.relative_to(tree))) for place in _in_tree(tree)))


def clear_tree(tree: Path) -> None:
    """Remove them from a work tree, and pointers to repositories elsewhere that hold one."""
    for place in list(_in_tree(tree)):
        _remove(place)


def _in_tree(tree: Path) -> Iterator[Path]:
    """Most of a tree is plain files, which the listing of their folder tells without a look at each."""
    folders = [(os.fspath(tree), False)] if is_real_folder(tree) else []
    while folders:
        folder, is_git = folders.pop()
        for entry in _entries(folder):
            read = is_git or entry.name.startswith(_READ_IN_TREES)
            if entry.is_dir(follow_symlinks=False):
                folders.append((entry.path, is_git or entry.name == ".git"))
            elif read and _is_trap(entry):
                yield Path(entry.path)


def _is_trap(entry: os.DirEntry[str]) -> bool:
    """Links are left alone here: git does not follow them where it reads a work tree."""
    if entry.is_file(follow_symlinks=False):
        return entry.name == ".git" and _leads_to_one(Path(entry.path))
    return not entry.is_symlink() and _keeps_waiting(Path(entry.path))


def _leads_to_one(pointer: Path) -> bool:
    """Git looks at the HEAD of whatever repository a `.git` file names."""
    target = pointer.parent / read_text(pointer).removeprefix("gitdir:").strip()
    return any(_keeps_waiting(target / name) for name in ("HEAD", "commondir"))


def _odd_ones(folder: Path, *, deep: bool = True) -> Iterator[Path]:
    """Give what is neither a plain file nor a folder, `deep` also from the folders below."""
    folders = [os.fspath(folder)]
    while folders:
        for entry in _entries(folders.pop()):
            if not entry.is_dir(follow_symlinks=False):
                if not entry.is_file(follow_symlinks=False):
                    yield Path(entry.path)
            elif deep:
                folders.append(entry.path)


def _entries(folder: str) -> Iterable[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return ()


def _keeps_waiting(place: Path) -> bool:
    """Tell whether opening and reading `place`, or what it links to, may never end."""
    try:
        found = place.stat()
    except (OSError, ValueError):
        return False
    endless = stat.S_ISCHR(found.st_mode) and found.st_rdev != _NULL
    return endless or stat.S_ISFIFO(found.st_mode) or stat.S_ISBLK(found.st_mode)


def _remove(place: Path) -> None:
    try:
        place.unlink(missing_ok=True)
    except OSError:  # its folder may not be written; then git says what it cannot read, in its own time
        return
