"""Notice that something which can run programs changed in the shared git dir while an agent worked.

A linked worktree shares configuration, hooks and attributes with the user's repository, and its agent may write
there. The state at the start of a run is kept as one short hash for each name and compared at its end.
"""

from __future__ import annotations

import hashlib
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from recall.domain.text import clean_line
from recall.gitops.agent_files import read_bytes
from recall.gitops.command import run_git

#: Editors and `git push -u` write these at any time, and none can name a program.
_HARMLESS = re.compile(r"branch\..*\.(?!mergeoptions$)[^.]+", re.DOTALL)

#: Beside the configuration: what git takes from files of the shared git dir.
_FILES = ("config.worktree", "info/attributes", "info/grafts", "objects/info/alternates")

#: What ties a work tree to the repository; rewriting one makes git look elsewhere.
_TIES = ("commondir", "gitdir", "config.worktree")


def fingerprint(common_dir: Path, git_dir: Path, tree: Path) -> dict[str, str]:
    """Give name -> hash for all that counts: the shared git dir, then the work tree's own ties to it."""
    found = {f"config {key}": _hash(values.encode()) for key, values in _settings(common_dir / "config").items()}
    for name in _FILES:
        found |= _file(name, common_dir / name)
    for hook in sorted(_listing(common_dir / "hooks")):
        found |= _file(f"hooks/{hook.name}", hook)
    for name in _TIES:
        found |= _file(f"worktree's {name}", git_dir / name)
    return found | _file("worktree's .git", tree / ".git")


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """Name what was added, changed or removed, as text for people."""
    names = sorted({*before, *now})
    return tuple(clean_line(name) for name in names if before.get(name) != now.get(name))


def filter_names(before: Mapping[str, str], now: Mapping[str, str]) -> set[str]:
    """Name the filter drivers whose definition differs."""
    changed = (name for name in {*before, *now} if before.get(name) != now.get(name))
    drivers = (re.fullmatch(r"config filter\.(.*)\.[^.]+", name, re.DOTALL) for name in changed)
    return {match[1] for match in drivers if match}


def _settings(file: Path) -> dict[str, str]:
    listed = run_git(["config", "--file", str(file), "--includes", "--list", "-z"], cwd=file.parent, check=False)
    if not listed.ok:
        return {"(cannot be read)": listed.error}
    settings: dict[str, str] = {}
    for entry in listed.text.split("\0"):
        key, _, value = entry.partition("\n")
        if key and not _HARMLESS.fullmatch(key):
            settings[key] = settings.get(key, "") + value + "\0"
    return settings


def _listing(folder: Path) -> Iterator[Path]:
    return folder.iterdir() if folder.is_dir() else iter(())


def _file(name: str, path: Path) -> dict[str, str]:
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            return {name: _hash(b"-> " + bytes(path.readlink()))}
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as broken:
        return {name: f"unreadable: {broken.errno}"}
    if not stat.S_ISREG(mode):
        return {name: f"no file but {stat.filemode(mode)[0]}"}
    return {name: _hash(read_bytes(path) + bytes([mode & 0o111]))}


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]
