"""Connections to the database: one a thread for reading and writing, one more that only watches."""

from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path

from recall.domain.errors import Displaced, RecallError

_PRAGMAS = (
    "PRAGMA foreign_keys = ON",
    "PRAGMA synchronous = FULL",
    # checkpoints happen under the write lock only: SQLite before 3.51.3 can corrupt a WAL without it
    "PRAGMA wal_autocheckpoint = 0",
    # waiting is done by the caller, with jitter and a deadline: SQLite's own handler starves writers
    "PRAGMA busy_timeout = 0",
)
_OPENING_PATIENCE_S = 5.0


def sqlite_version() -> str:
    """Give the version of the SQLite library that Python brings."""
    return sqlite3.sqlite_version


def connect(path: Path) -> sqlite3.Connection:
    """Open an autocommit connection. It may be closed, but not used, by another thread."""
    connection = sqlite3.connect(path, timeout=_OPENING_PATIENCE_S, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    try:
        for pragma in _PRAGMAS:
            connection.execute(pragma).fetchall()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


class Connections:
    """Hands every thread its own connection and closes them all at once."""

    def __init__(self, path: Path, mine: sqlite3.Connection | None = None) -> None:
        """`mine` is a connection that this thread has opened already."""
        self._path = path
        self._mutex = threading.Lock()
        self._by_thread = {threading.current_thread(): mine} if mine is not None else {}
        self._watcher: sqlite3.Connection | None = None
        self._closed = False
        self._file = path.stat()

    def mine(self) -> sqlite3.Connection:
        me = threading.current_thread()
        with self._mutex:
            self._refuse_closed()
            connection = self._by_thread.get(me)
            if connection is None:
                self._drop_dead_threads()
                connection = self._by_thread[me] = connect(self._path)
            return connection

    def data_version(self) -> int:
        """Read by a connection that never writes, so that it sees this process's own commits too."""
        with self._mutex:
            self._refuse_closed()
            if self._watcher is None:
                self._watcher = connect(self._path)
            return int(self._watcher.execute("PRAGMA data_version").fetchall()[0][0])

    def refuse_gone(self) -> None:
        """Raise Displaced when the file was deleted or replaced: SQLite would go on with what nobody else sees."""
        try:
            same = os.path.samestat(self._path.stat(), self._file)
        except FileNotFoundError:
            same = False
        if not same:
            raise Displaced(
                f"the store {self._path} was deleted or replaced while this process had it open; nothing more is "
                "written, agents go on by themselves; put the file back if you have it, then start again"
            )

    def close(self) -> None:
        with self._mutex:
            self._closed = True
            for connection in self._by_thread.values():
                connection.close()
            self._by_thread.clear()
            if self._watcher is not None:
                self._watcher.close()
                self._watcher = None

    def _refuse_closed(self) -> None:
        if self._closed:
            raise RecallError(f"the store {self._path} was closed by this process; open it again to go on")

    def _drop_dead_threads(self) -> None:
        for thread in [thread for thread in self._by_thread if not thread.is_alive()]:
            self._by_thread.pop(thread).close()
