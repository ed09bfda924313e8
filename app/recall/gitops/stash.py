"""The stash, which every linked worktree shares with the user: entries that went, and what was made on no branch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from recall.gitops.agent_files import read_text
from recall.gitops.command import run_git

#: How an entry is named in a fingerprint; what else is named there never begins like this.
_PREFIX = "stash entry "
_LINE = re.compile(r"[0-9a-f]+ ([0-9a-f]{40}(?:[0-9a-f]{24})?) [^\t]*\t(.*)")
_OF_A_RUN = re.compile(r"(WIP on|On) recall/")
_OF_NO_BRANCH = re.compile(r"(WIP on|On) \(no branch\): ")


class _Entry(NamedTuple):
    oid: str
    title: str

    @property
    def name(self) -> str:
        return f"{_PREFIX}{self.oid[:12]} ({self.title})"


def _entries(common_dir: Path) -> list[_Entry]:
    lines = map(_LINE.fullmatch, read_text(common_dir / "logs/refs/stash").splitlines())
    return [_Entry(*line.groups()) for line in lines if line]


def stash_prints(common_dir: Path) -> dict[str, str]:
    """Give name -> commit of every entry but those of runs, which come and go."""
    return {entry.name: entry.oid for entry in _entries(common_dir) if not _OF_A_RUN.match(entry.title)}


def is_stash_entry(name: str) -> bool:
    """Tell whether a name of a fingerprint is that of an entry; one that is new is no change of anything."""
    return name.startswith(_PREFIX)


def made_on_no_branch(common_dir: Path, git_dir: Path, before: Mapping[str, str]) -> list[str]:
    """Name the entries that are not among those `before` and may have been made in the work tree of `git_dir` while
    its HEAD was detached: on a commit that it went to since it was filled."""
    new = [entry for entry in _entries(common_dir) if entry.name not in before and _OF_NO_BRANCH.match(entry.title)]
    if not new:
        return []
    log = read_text(git_dir / "logs" / "HEAD").splitlines()[1:]  # the first line is that of its filling
    stood_on = {match[1] for match in map(_LINE.fullmatch, log) if match}
    return [entry.name for entry in new if _parent(common_dir, entry.oid) in stood_on]


def _parent(common_dir: Path, oid: str) -> str:
    return run_git(["rev-parse", "-q", "--verify", f"{oid}^1"], git_dir=common_dir, check=False).text
