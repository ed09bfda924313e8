"""Small file systems of a test's own. Mounting needs root; anybody else gets a user namespace of their own, in which
the whole test runs once more (`tests/faults/conftest.py`)."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_BALLAST = "ballast"


@dataclass(frozen=True)
class Disk:
    """A file system of its own at `path`."""

    path: Path

    def fill(self, leave: int = 0) -> None:
        """Take all room but `leave` bytes, by one file that `free` removes."""
        with (self.path / _BALLAST).open("wb") as file:
            while True:
                disk = os.statvfs(self.path)
                try:
                    os.posix_fallocate(file.fileno(), 0, max(1, disk.f_bavail * disk.f_frsize - leave))
                except OSError as full:  # somebody was quicker
                    if full.errno != errno.ENOSPC or not disk.f_bavail:
                        raise
                else:
                    return

    def free(self) -> None:
        (self.path / _BALLAST).unlink()

    @property
    def filling(self) -> str:
        """Shell text that takes all the room there is."""
        return f"head -c 1G /dev/zero > {self.path}/{_BALLAST} 2> /dev/null || :"


@contextmanager
def small_disk(path: Path, size: str) -> Generator[Disk]:
    """Mount an empty tmpfs of `size` (`24m`)."""
    path.mkdir(parents=True)
    _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path))
    try:
        yield Disk(path)
    finally:
        _unmount(path)


@contextmanager
def read_only(path: Path) -> Generator[None]:
    """Nothing below `path` can be written for the block, by root neither."""
    _mount("--bind", str(path), str(path))
    try:
        _mount("-o", "remount,bind,ro", str(path))
        yield
    finally:
        _unmount(path)


@cache
def may_mount() -> bool:
    return _succeeds("unshare", "--mount", "true")


@cache
def namespace() -> tuple[str, ...]:
    """The command that runs another one where it may mount; empty when this machine allows none."""
    command = ("unshare", "--user", "--map-root-user", "--mount")
    return command if _succeeds(*command, "true") else ()


def _succeeds(*argv: str) -> bool:
    try:
        return subprocess.run(argv, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def _mount(*args: str) -> None:
    subprocess.run(["mount", *args], check=True, capture_output=True)


def _unmount(path: Path) -> None:
    """Lazily: what still is open goes with its last user."""
    subprocess.run(["umount", "--lazy", str(path)], check=True, capture_output=True)
