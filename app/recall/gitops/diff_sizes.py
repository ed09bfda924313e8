"""What changes amount to: lines added and removed, file by file or in all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from recall.domain.figures.report import DiffSize
from recall.domain.frozen import frozen
from recall.domain.text import clean_bytes
from recall.gitops.command import run_git

Key = TypeVar("Key")

#: What makes a diff the same whatever the user's settings are.
DIFF_FLAGS = ("--no-ext-diff", "--no-textconv", "--no-color", "--find-renames")


@frozen
class FileChange:
    """Added and removed lines; None for what is not text."""

    path: str
    added: int | None
    removed: int | None


def file_changes(git_dir: Path, before: str, after: str) -> tuple[FileChange, ...]:
    """Give what lies between two commits, in the order of a diff; nothing where git does not have them."""
    args = ("diff", "--numstat", "-z", *DIFF_FLAGS, "--end-of-options", before, after)
    return tuple(_changes(run_git(args, git_dir=git_dir, check=False).out.split(b"\0")))


def diff_sizes(git_dir: Path, changes: Mapping[Key, tuple[str, str]]) -> dict[Key, DiffSize]:
    """Give the size of each change, a commit id before and one after it. What git does not have is left out."""
    known = _known(git_dir, {commit for change in changes.values() for commit in change})
    return {key: _size(git_dir, *change) for key, change in changes.items() if known.issuperset(change)}


def _known(git_dir: Path, commits: set[str]) -> set[str]:
    if not commits:
        return set()
    asked = "".join(f"{commit}\n" for commit in commits).encode()
    told = run_git(("cat-file", "--batch-check"), git_dir=git_dir, stdin=asked).out.decode().splitlines()
    return {line.split(" ")[0] for line in told if line.split(" ")[1:2] == ["commit"]}


def _size(git_dir: Path, before: str, after: str) -> DiffSize:
    files = file_changes(git_dir, before, after)
    return DiffSize(len(files), sum(file.added or 0 for file in files), sum(file.removed or 0 for file in files))


def _changes(fields: list[bytes]) -> Iterator[FileChange]:
    """Read `--numstat -z`: a rename has an empty path, and both of its paths behind it."""
    left = iter(fields)
    for field in left:
        counts = field.split(b"\t", 2)
        if len(counts) < 3:
            continue
        path = counts[2]
        if not path:
            before, path = next(left, b""), next(left, b"")
            path = before + b" -> " + path
        added, removed = (int(count) if count.isdigit() else None for count in counts[:2])
        yield FileChange(clean_bytes(path), added, removed)
