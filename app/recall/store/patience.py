"""Waiting for a database that is busy all the same: bounded, with jitter, and with words at the end."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from recall.domain.errors import StoreBusy
from recall.domain.rng import Rng
from recall.store.failures import primary_code

T = TypeVar("T")

_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
_LONGEST_PAUSE_S = 0.05


class Patience:
    """Programs that do not queue for the lock file, and SQLite itself when a first connection opens or a last
    one closes, keep the database busy for a while."""

    def __init__(self, path: Path, seconds: float, rng: Rng) -> None:
        self._path = path
        self._seconds = seconds
        self._rng = rng

    def through(self, attempt: Callable[[], T]) -> T:
        """Repeat the attempt while the database is busy. Raises StoreBusy in the end."""
        give_up = time.monotonic() + self._seconds
        while True:
            try:
                return attempt()
            except sqlite3.OperationalError as error:
                if primary_code(error) not in _BUSY:
                    raise
                if time.monotonic() >= give_up:
                    raise StoreBusy(self._complaint()) from error
            self.pause()

    def pause(self) -> None:
        time.sleep(_LONGEST_PAUSE_S * (0.1 + 0.9 * self._rng.random()))

    def _complaint(self) -> str:
        return (
            f"the store {self._path} is kept busy by a program that does not take its lock file; "
            f"waited {self._seconds:g} s; close what has the file open (a database browser?), then try again"
        )
