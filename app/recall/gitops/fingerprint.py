"""Notice that something which can run programs changed while an agent worked.

A linked worktree shares configuration, hooks, attributes and the stash with the user's repository, and its agent may
write there; any agent may write the user's global configuration. The state at the start of a run is kept as one short
hash for each name and compared at its end.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from recall.domain.text import clean_line
from recall.gitops.agent_files import read_bytes
from recall.gitops.command import run_git
from recall.gitops.lfs import is_of_lfs
from recall.gitops.stash import is_stash_entry, stash_prints

#: Editors and `git push -u` write these at any time, and none can name a program.
_HARMLESS = re.compile(r"branch\..*\.(?!mergeoptions$)[^.]+", re.DOTALL)

#: What decides where a remote is and which program reaches it.
_TRANSPORT = r"(?:remote|url|credential|http|ssh|protocol|lfs)\..*|core\.(?:sshcommand|gitproxy|askpass)"

#: All of the global configuration that could run a program in the dispatcher: everything else is switched off.
_GLOBAL = re.compile(rf"(?:filter|merge)\..*\.[^.]+|{_TRANSPORT}", re.DOTALL)
_FILTER = re.compile(r"(?:global )?config filter\.(.*)\.[^.]+", re.DOTALL)
_OF_TRANSPORT = re.compile(rf"(global )?config (?:{_TRANSPORT})", re.DOTALL)

#: Tells prints of which the global transport is a part from older ones.
_LOOKED_AT = "global config (of transport too)"

#: Stands for a value that is known to be one of `git lfs install`, instead of its hash.
_LFS = "lfs"

_NEW_SUBMODULE = re.compile(r"config submodule\..*\.(url|active)", re.DOTALL)

#: Beside the configuration: what git takes from files of the shared git dir.
_FILES = ("config.worktree", "info/attributes", "info/grafts", "objects/info/alternates")

#: What ties a work tree to the repository; rewriting one makes git look elsewhere.
_TIES = ("commondir", "gitdir", "config.worktree")

#: How what is the work tree's own is named; the rest is shared.
OF_THE_FOLDER = "worktree's "


def fingerprint(common_dir: Path, git_dir: Path, tree: Path) -> dict[str, str]:
    """Give name -> hash for all that counts: the configuration, the shared git dir with its stash, then the work
    tree's own ties to it."""
    found = settings_prints(common_dir) | stash_prints(common_dir)
    for name in _FILES:
        found |= _file(name, common_dir / name)
    for hook in sorted(_listing(common_dir / "hooks")):
        found |= _file(f"hooks/{hook.name}", hook)
    for name in _TIES:
        found |= _file(f"{OF_THE_FOLDER}{name}", git_dir / name)
    return found | _file(f"{OF_THE_FOLDER}.git", tree / ".git")


def settings_prints(common_dir: Path) -> dict[str, str]:
    """Give name -> hash of the shared configuration, `config KEY`, and of what counts of the user's global and the
    system's one, `global config KEY`."""
    listed = run_git(["config", "--includes", "--show-scope", "--list", "-z"], git_dir=common_dir, check=False)
    if not listed.ok:
        return {"config (cannot be read)": _hash(listed.err)}
    values: dict[str, str] = {_LOOKED_AT: ""}
    fields = iter(listed.text.split("\0"))
    for scope, entry in zip(fields, fields, strict=False):
        key, _, value = entry.partition("\n")
        if name := _name(scope, key):
            values[name] = values.get(name, "") + (_LFS if is_of_lfs(key, value) else value + "\0")
    return {name: _LFS if found == _LFS else _hash(os.fsencode(found)) for name, found in values.items()}


def _name(scope: str, key: str) -> str:
    if scope in ("local", "worktree"):
        return "" if _HARMLESS.fullmatch(key) else f"config {key}"
    return f"global config {key}" if scope in ("global", "system") and _GLOBAL.fullmatch(key) else ""


def global_part(prints: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in prints.items() if name.startswith("global ")}


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """Name what was added, changed or removed, as text for people."""
    return tuple(clean_line(name) for name in _changed(before, now))


def filter_names(before: Mapping[str, str], now: Mapping[str, str]) -> set[str]:
    """Name the filter drivers whose definition differs."""
    return defined_filters(_changed(before, now))


def defined_filters(names: Iterable[str]) -> set[str]:
    """Name the filter drivers that prints of these names are about."""
    return {match[1] for name in names if (match := _FILTER.fullmatch(name))}


def transport_names(before: Mapping[str, str], now: Mapping[str, str]) -> set[str]:
    """Name the settings that differ of those by which git reaches remotes."""
    return {clean_line(name) for name in _changed(before, now) if _OF_TRANSPORT.fullmatch(name)}


def _changed(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    names = [name for name in sorted({*before, *now} - {_LOOKED_AT}) if before.get(name) != now.get(name)]
    if _LOOKED_AT not in before:
        names = [name for name in names if not ((of := _OF_TRANSPORT.fullmatch(name)) and of[1])]
    return [name for name in names if name in before or not _is_usual(name, now[name])]


def _is_usual(name: str, value: str) -> bool:
    """Whether something new is what agents do every day: fill a submodule that the user has not, install LFS; or what
    a user does, put work aside."""
    return value == _LFS or _NEW_SUBMODULE.fullmatch(name) is not None or is_stash_entry(name)


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
