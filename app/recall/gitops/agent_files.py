"""Reading files that an agent may have made: nothing here follows a symbolic link or waits on a pipe."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_LIMIT = 64 * 1024 * 1024  # bytes; packed-refs of a very large repository


def is_real_folder(path: Path) -> bool:
    """Tell whether `path` is a folder and not a link to one."""
    return stat.S_ISDIR(_mode(path))


def is_real_file(path: Path) -> bool:
    """Tell whether `path` is a regular file and not a link to one."""
    return stat.S_ISREG(_mode(path))


def _mode(path: Path) -> int:
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


def read_text(path: Path) -> str:
    return os.fsdecode(read_bytes(path))


def read_bytes(path: Path, limit: int = _LIMIT) -> bytes:
    """Read a regular file that an agent may have made; empty if it is missing, a link, a pipe or too large."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode) or state.st_size > limit:
            return b""
        return _read_all(handle)
    finally:
        os.close(handle)


def _read_all(handle: int) -> bytes:
    return b"".join(iter(lambda: os.read(handle, 1024 * 1024), b""))
