"""Finish what a killed git left half done in a checkout, so that an ordinary landing can go on from there.

A move of main writes files first, then the index, the ref last. A kill therefore leaves files that are
already new, at most a few torn ones (their beginning is there), and lock files. Files that a person edited
are told apart by content and left alone.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from recall.failpoint import failpoint
from recall.gitops.checkout import (
    ABSENT,
    EXECUTABLE,
    GITLINK,
    SYMLINK,
    Change,
    Checkout,
    blobs_on_disk,
    in_checkout,
    missing_on_disk,
    parents,
)

_POLL = 0.05
_PROC = Path("/proc")


def wait_for_end(marker: str, seconds: float) -> bool:
    """Wait until no process carries `marker` (`NAME=value`) in its environment. False: one still lives."""
    wanted = os.fsencode(marker)
    return _wait(lambda: any(wanted in _read(entry / "environ").split(b"\0") for entry in _processes()), seconds)


def wait_for_quiet(folders: Sequence[Path], spared: Sequence[Path], seconds: float) -> bool:
    """Wait until no git process works in one of these folders, those in `spared` apart (work trees of agents
    lie inside the user's). False: a person's git still does."""

    def busy() -> bool:
        return any(_is_git(entry) and _within(entry, folders, spared) for entry in _processes())

    return _wait(busy, seconds)


def _wait(busy: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while busy():
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL)
    return True


def _processes() -> list[Path]:
    return [entry for entry in _PROC.iterdir() if entry.name.isdigit() and int(entry.name) != os.getpid()]


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def _is_git(process: Path) -> bool:
    name = _read(process / "comm").strip()
    return name == b"git" or name.startswith(b"git-")


def _within(process: Path, folders: Sequence[Path], spared: Sequence[Path]) -> bool:
    try:
        where = (process / "cwd").readlink()
    except OSError:
        return False
    return any(map(where.is_relative_to, folders)) and not any(map(where.is_relative_to, spared))


def landing_locks(common_dir: Path, git_dirs: Sequence[Path], refs: Sequence[str]) -> list[Path]:
    """Give the lock files there that a killed landing can have left. Only a caller that knows that no git of
    ours lives any more, and that no other dispatcher runs, may delete them."""
    names = [common_dir / f"{ref}.lock" for ref in refs]
    names += [folder / name for folder in git_dirs for name in ("index.lock", "HEAD.lock", "ORIG_HEAD.lock")]
    return [name for name in names if name.exists()]


def finish_files(checkout: Checkout, wanted: Sequence[Change]) -> None:
    """Complete torn and missing files, and enter every file that is as the change wants it into the index."""
    candidates = [one for one in wanted if GITLINK not in (one.mode, one.old_mode)]
    there = blobs_on_disk(checkout, candidates)
    for one in candidates:
        if one.mode != ABSENT and there.get(one.path) not in (one.blob, one.old_blob):
            _finish(checkout, one)
    failpoint("landing.files_finished")
    there = blobs_on_disk(checkout, candidates)
    ready = [one for one in candidates if _is_new(checkout.tree, one, there.get(one.path))]
    if ready:
        in_checkout(checkout, ["update-index", "-z", "--index-info"], stdin=index_lines(ready))
        in_checkout(checkout, ["update-index", "-q", "--refresh"], check=False)
    failpoint("landing.index_caught_up")


def _is_new(tree: Path, change: Change, blob: str | None) -> bool:
    if change.mode == ABSENT:
        return missing_on_disk(tree, change.path)
    if blob != change.blob or (change.mode == SYMLINK) != (tree / os.fsdecode(change.path)).is_symlink():
        return False
    return change.mode == SYMLINK or _executable(tree, change.path) == (change.mode == EXECUTABLE)


def _executable(tree: Path, path: bytes) -> bool:
    return bool((tree / os.fsdecode(path)).lstat().st_mode & stat.S_IXUSR)


def index_lines(wanted: Sequence[Change]) -> bytes:
    """Give the input of `update-index --index-info`: what goes comes first, since a file can take the place of
    a folder."""
    gone = [b"0 " + b"0" * len(one.blob) + b"\t" + one.path + b"\0" for one in wanted if one.mode == ABSENT]
    new = [f"{one.mode} {one.blob}\t".encode() + one.path + b"\0" for one in wanted if one.mode != ABSENT]
    return b"".join(gone + new)


def _finish(checkout: Checkout, change: Change) -> None:
    """Write the rest of a file whose beginning is there, or that is not there at all. Anything else is a
    person's and stays."""
    target = os.fsencode(checkout.tree) + b"/" + change.path
    if not _reachable(checkout.tree, change.path):
        return
    if change.mode == SYMLINK:
        if missing_on_disk(checkout.tree, change.path):
            Path(os.fsdecode(target)).symlink_to(os.fsdecode(_content(checkout, change, "blob")))
        return
    content = _content(checkout, change, "--filters")
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
    so_far = _beginning(target)
    if so_far is not None and len(so_far) < len(content) and content.startswith(so_far):
        with os.fdopen(os.open(target, flags, 0o777 if change.mode == EXECUTABLE else 0o666), "ab") as file:
            file.write(content[len(so_far) :])


def _beginning(target: bytes) -> bytes | None:
    """What is there of a file: nothing when it is missing, None when something else stands there."""
    try:
        kind = os.lstat(target).st_mode
    except FileNotFoundError:
        return b""
    return Path(os.fsdecode(target)).read_bytes() if stat.S_ISREG(kind) else None


def _content(checkout: Checkout, change: Change, how: str) -> bytes:
    args = ["cat-file", how, change.blob]
    if how == "--filters":
        args = ["cat-file", "--filters", f"--path={os.fsdecode(change.path)}", change.blob]
    return in_checkout(checkout, args).out


def _reachable(tree: Path, path: bytes) -> bool:
    """Make the folders above a path; False when one of them is a file or a link."""
    for parent in parents(path):
        folder = tree / os.fsdecode(parent)
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            return False
        folder.mkdir(exist_ok=True)
    return True
