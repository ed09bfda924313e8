"""`.worktreeinclude`: files that git ignores but a checkout needs (a local `.env`, a licence key), copied along into
the folders of agents and of verifications."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from recall.gitops.agent_files import is_real_folder
from recall.gitops.command import run_git
from recall.gitops.locate import Location

INCLUDE_FILE = ".worktreeinclude"


def copy_included(location: Location, target: Path, not_below: Path) -> None:
    """Copy what the patterns of the user's `.worktreeinclude` name and git ignores into `target`. Files that are
    there stay; nothing is taken from `not_below`, and nothing is written through a link."""
    checkout = location.checkout
    if checkout is None or not (checkout / INCLUDE_FILE).is_file():
        return
    for name in _included(checkout, location.git_dir):
        source = checkout / name
        if not source.is_relative_to(not_below) and _has_real_parents(target, name):
            _copy(source, target / name)


def _included(checkout: Path, git_dir: Path) -> list[str]:
    patterns = f"--exclude-from={checkout / INCLUDE_FILE}"
    named = run_git(["ls-files", "-o", "-i", "-z", patterns], git_dir=git_dir, work_tree=checkout).out
    ignored = run_git(
        ["check-ignore", "--stdin", "-z"], git_dir=git_dir, work_tree=checkout, stdin=named, check=False
    )
    return [name for name in ignored.text.split("\0") if name and not name.endswith("/")]


def _has_real_parents(target: Path, name: str) -> bool:
    """Make the folders for `name` below `target`, unless a link stands in the way."""
    folder = target
    for part in Path(name).parent.parts:
        folder /= part
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
        if not is_real_folder(folder):
            return False
    return True


def _copy(source: Path, target: Path) -> None:
    if not target.is_symlink() and not target.exists():
        with contextlib.suppress(FileNotFoundError):  # the user may delete it at this moment
            shutil.copy2(source, target, follow_symlinks=False)
