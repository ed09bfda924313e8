"""What SQLite's errors mean for people. Its own words for a full disk are "disk I/O error"."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from recall.domain.errors import EnvironmentFailure, Exhausted
from recall.domain.surroundings import failure_of

#: With less than this left, SQLite cannot even make the index of its write-ahead log.
_NO_SPACE = 64 * 1024
_DAMAGED = frozenset({sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT})
_VAGUE = frozenset({sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY})


def primary_code(error: sqlite3.Error) -> int:
    """Give the primary result code; errors of the Python module itself have none and give 0."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def explained(path: Path, error: sqlite3.Error) -> EnvironmentFailure:
    """Say what is wrong with the store at `path`, and what to do."""
    code = primary_code(error)
    if code == sqlite3.SQLITE_FULL:
        return _no_space(path)
    if code in _DAMAGED:
        return EnvironmentFailure(
            f"the store {path} is damaged ({error}): move it and its -wal and -shm files away, then put a backup "
            "(recall.db.vN.backup) in its place, or start without one"
        )
    cause = _cause(path) if code in _VAGUE else None
    return cause or EnvironmentFailure(f"the store {path} cannot be used: {error}")


def _no_space(path: Path) -> Exhausted:
    return Exhausted(
        f"no space is left for the store {path}; nothing was half written; free some, and the work goes on"
    )


def _cause(path: Path) -> EnvironmentFailure | None:
    """Look for what SQLite met but does not tell."""
    try:
        disk = os.statvfs(path.parent)
        os.close(os.open(path, os.O_RDWR | os.O_CLOEXEC))
    except FileNotFoundError:
        return None
    except OSError as refused:
        return failure_of(refused, f"the store {path} cannot be opened")
    return _no_space(path) if disk.f_bavail * disk.f_frsize < _NO_SPACE else None
