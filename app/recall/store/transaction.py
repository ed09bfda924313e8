"""How the database is read and written: short transactions, one reading of the clock, bounded patience."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from recall.domain.clock import Clock, Instant
from recall.domain.frozen import frozen
from recall.domain.task import TaskRef
from recall.failpoint import failpoint
from recall.store.connection import Connections
from recall.store.failures import explained, primary_code
from recall.store.lock import StoreLock
from recall.store.patience import Patience

T = TypeVar("T")
Values = Mapping[str, str | float | None]

_TRIES_ON_A_FULL_DISK = 4
_COMMITS_TO_A_CHECKPOINT = 64
_GROWTH_TO_A_CHECKPOINT = 4 * 1024 * 1024
_LONG_LOG = 16 * 1024 * 1024


@frozen
class Rows:
    """Reads. Every statement is fetched to its end: a half-read one blocks commits and checkpoints."""

    connection: sqlite3.Connection

    def all(self, sql: str, values: Values | None = None) -> list[sqlite3.Row]:
        return self.connection.execute(sql, values or {}).fetchall()

    def one(self, sql: str, values: Values | None = None) -> sqlite3.Row | None:
        rows = self.all(sql, values)
        return rows[0] if rows else None


@frozen
class Transaction(Rows):
    """A write transaction under way, the one moment that everything in it happens at, and the tasks
    whose expired leases it began by taking back."""

    now: Instant
    recycled: tuple[TaskRef, ...] = ()

    def change(self, sql: str, values: Values) -> int:
        """Give the number of rows that the statement changed."""
        return self.connection.execute(sql, values).rowcount

    def change_each(self, sql: str, values: Iterable[Values]) -> None:
        """Carry out one statement for each of many values."""
        self.connection.executemany(sql, values)

    def insert(self, sql: str, values: Values) -> int:
        """Give the new row's id."""
        row_id = self.connection.execute(sql, values).lastrowid
        assert row_id is not None
        return row_id


class Access:
    """Runs bodies in transactions. A body may run again after a failure, so it touches the database only."""

    def __init__(
        self,
        path: Path,
        connections: Connections,
        lock: StoreLock,
        clock: Clock,
        patience: Patience,
        recycle: Callable[[Transaction], Sequence[TaskRef]],
    ) -> None:
        """`recycle` takes expired leases back at the start of every write transaction."""
        self._path = path
        self._wal = path.with_name(path.name + "-wal")
        self._connections = connections
        self._lock = lock
        self._clock = clock
        self._patience = patience
        self._recycle = recycle
        self._commits = 0
        self._log_size = 0

    def read(self, body: Callable[[Rows], T]) -> T:
        """Run `body` on one consistent state of the database. Never waits for a writer."""
        try:
            connection = self._patience.through(self._connections.mine)
            return self._patience.through(lambda: self._read_once(connection, body))
        except sqlite3.Error as error:
            raise explained(self._path, error) from error

    def write(self, body: Callable[[Transaction], T]) -> T:
        """Run `body` in a write transaction, all or nothing."""
        for _ in range(_TRIES_ON_A_FULL_DISK - 1):
            try:
                return self._write_once(body)
            except sqlite3.Error as error:
                if primary_code(error) != sqlite3.SQLITE_FULL:
                    raise explained(self._path, error) from error
            self._patience.pause()
        try:
            return self._write_once(body)
        except sqlite3.Error as error:
            raise explained(self._path, error) from error

    def _read_once(self, connection: sqlite3.Connection, body: Callable[[Rows], T]) -> T:
        connection.execute("BEGIN")
        try:
            return body(Rows(connection))
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    def _write_once(self, body: Callable[[Transaction], T]) -> T:
        connection = self._patience.through(self._connections.mine)
        with self._lock.held():
            self._connections.refuse_gone()
            self._patience.through(lambda: connection.execute("BEGIN IMMEDIATE"))
            try:
                transaction = Transaction(connection, self._clock.now())
                recycled = tuple(self._recycle(transaction))
                result = body(replace(transaction, recycled=recycled) if recycled else transaction)
                failpoint("store.before_commit")
                connection.execute("COMMIT")
            except BaseException:
                # a full disk has rolled back already
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            failpoint("store.after_commit")
            self._tend_log(connection)
        return result

    def _tend_log(self, connection: sqlite3.Connection) -> None:
        """Fold the write-ahead log back now and then, so that it is written again from its beginning: the disk is
        slow with a file that grows. A reader in the way means later; a log that got long all the same is cut."""
        self._commits += 1
        try:
            size = self._wal.stat().st_size
            if self._commits % _COMMITS_TO_A_CHECKPOINT and size < self._log_size + _GROWTH_TO_A_CHECKPOINT:
                return
            how = "TRUNCATE" if size >= _LONG_LOG else "PASSIVE"
            connection.execute(f"PRAGMA wal_checkpoint({how})").fetchall()
            self._log_size = self._wal.stat().st_size
        except (OSError, sqlite3.Error):
            # what was committed is safe in the log; a later transaction tries again
            return
