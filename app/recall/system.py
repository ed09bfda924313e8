"""The machine's own clock and randomness, behind the ports of `domain`."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path

from recall.domain.clock import Instant
from recall.domain.surroundings import failure_of


class SystemClock:
    """CLOCK_MONOTONIC of this boot, and the wall clock beside it."""

    def __init__(self) -> None:
        self._boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()

    def now(self) -> Instant:
        return Instant(self._boot, time.monotonic(), time.time())


class SystemRng:
    """The operating system's randomness, as `random.SystemRandom` and `secrets` give it, without their imports."""

    def random(self) -> float:
        return (int.from_bytes(os.urandom(7)) >> 3) * 2.0**-53

    def token(self, length: int = 8) -> str:
        return os.urandom((length + 1) // 2).hex()[:length]


class CheckoutFiles:
    """The watched files in the user's checkout. `fallback` reads them where there is no checkout."""

    def __init__(self, root: Path | None, fallback: Callable[[str], bytes | None]) -> None:
        self._root = root
        self._fallback = fallback

    def read(self, path: str) -> bytes | None:
        if self._root is None:
            return self._fallback(path)
        try:
            return (self._root / path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def stamp(self, path: str) -> tuple[int, int] | None:
        if self._root is None:
            return (0, 0)
        try:
            found = (self._root / path).stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return found.st_mtime_ns, found.st_size


class Held:
    """A lock file that this process holds until it closes or ends. The descriptor passes to no child by itself."""

    def __init__(self, fd: int, path: Path) -> None:
        self._fd = fd
        self._path = path

    def close(self) -> None:
        os.close(self._fd)

    def fileno(self) -> int:
        """Give the descriptor: a child that is handed it holds the lock, too, for as long as it lives."""
        return self._fd

    def discard(self) -> None:
        """Remove the file and let go. Only for a lock behind which nothing is left to do."""
        self._path.unlink(missing_ok=True)
        self.close()

    def in_place(self) -> bool:
        """Tell whether the file is still there: once it is deleted, another process can take a new one."""
        try:
            return os.path.samestat(self._path.stat(), os.fstat(self._fd))
        except FileNotFoundError:
            return False


def hold(path: Path) -> Held | int:
    """Take a lock file for this process's life; gives the holder's process id (0: unknown) when it is taken."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as refused:
        raise failure_of(refused, f"the lock file {path} cannot be opened") from refused
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        words = os.pread(fd, 32, 0).split()
        os.close(fd)
        return int(words[0]) if words and words[0].isdigit() else 0
    os.ftruncate(fd, 0)
    with contextlib.suppress(OSError):  # the lock counts; the name in it is for people, and a disk may be full
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
    return Held(fd, path)


def free_space(folder: Path) -> int:
    """Give the bytes that this user may still write on the disk of `folder`, which need not exist yet."""
    there = next(place for place in (folder, *folder.parents) if place.exists())
    disk = os.statvfs(there)
    return disk.f_bavail * disk.f_frsize


def local_zone() -> str:
    """Name the machine's time zone as the zone database does; UTC when it has no such name."""
    named = os.environ.get("TZ", "").lstrip(":")
    if "/" in named or named == "UTC":
        return named
    try:
        target = str(Path("/etc/localtime").readlink())
    except OSError:
        return "UTC"
    return target.partition("zoneinfo/")[2] or "UTC"


_LOCKS = Path("/proc/locks")


def is_held(path: Path, locks: Path = _LOCKS) -> bool:
    """Tell whether some process holds a lock file, without taking it, which could stop one from starting."""
    try:
        inode = path.stat().st_ino
        lines = locks.read_text().splitlines()
    except OSError:
        return False
    return any(_locked_inode(line) == inode for line in lines)


def _locked_inode(line: str) -> int | None:
    """The inode in a line such as `1: FLOCK  ADVISORY  WRITE 708 00:13:1601 0 EOF`; waiters (`->`) hold nothing."""
    words = line.split()
    if len(words) < 6 or words[1] != "FLOCK":
        return None
    inode = words[5].rpartition(":")[2]
    return int(inode) if inode.isdecimal() else None
