"""Whether a dispatcher works here, seen without taking its lock, which could stop one from starting."""

from __future__ import annotations

from pathlib import Path

_LOCKS = Path("/proc/locks")


def dispatcher_runs(state: Path, locks: Path = _LOCKS) -> bool:
    """Tell whether some process holds the dispatcher's lock file."""
    try:
        inode = (state / "dispatcher.lock").stat().st_ino
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
