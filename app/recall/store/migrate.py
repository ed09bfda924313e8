"""Brings a database to the newest schema: numbered .sql files, each applied whole or not at all."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from recall import __version__
from recall.domain.errors import ConfigError, EnvironmentFailure
from recall.domain.frozen import frozen
from recall.failpoint import failpoint
from recall.whole_files import replacing

_OLDEST_SQLITE = (3, 37, 0)


@frozen
class Migration:
    """One file: its text brings a database of version `version` - 1 to `version`."""

    version: int
    name: str
    sql: str


#: Read as plain files: importlib.resources would cost every command a zip reader.
_SCHEMA = Path(__file__).with_name("schema")


def newest_version() -> int:
    """Give the schema version that this Recall knows; no file is read for it."""
    return max(int(file.name[:4]) for file in _SCHEMA.iterdir() if file.suffix == ".sql")


def known_migrations() -> tuple[Migration, ...]:
    """Read the packaged .sql files, oldest first."""
    files = sorted(_SCHEMA.glob("*.sql"))
    return tuple(Migration(int(file.name[:4]), file.name, file.read_text("utf-8")) for file in files)


def refuse_old_sqlite(found: tuple[int, int, int] = sqlite3.sqlite_version_info) -> None:
    if found < _OLDEST_SQLITE:
        raise EnvironmentFailure(
            f"SQLite {'.'.join(map(str, found))} was found, Recall needs 3.37 or newer (STRICT tables): "
            "use a Python that is built with a newer SQLite"
        )


def is_current(connection: sqlite3.Connection, newest: int) -> bool:
    """Tell whether nothing is to be done. Raises ConfigError for a database from a newer Recall."""
    found = _version(connection)
    if found > newest:
        raise ConfigError(
            f"{_file_of(connection)} has schema version {found}, Recall {__version__} knows versions up to "
            f"{newest}: use the newer Recall that wrote it"
        )
    return found == newest and _journal_mode(connection) == "wal"


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> Path | None:
    """Apply what is missing in one transaction, with the store's lock held. Gives the backup that was made
    of an existing database."""
    if is_current(connection, migrations[-1].version):
        return None
    _use_write_ahead_log(connection)
    found = _version(connection)
    missing = [migration for migration in migrations if migration.version > found]
    if not missing:
        return None
    backup = _back_up(connection, found) if found else None
    failpoint("migrate.backed_up")
    connection.execute("BEGIN IMMEDIATE")
    try:
        for migration in missing:
            _apply(connection, migration)
        failpoint("migrate.before_commit")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return backup


def statements(sql: str) -> Iterator[str]:
    """Split a script at its statements' ends; a trigger's body stays whole."""
    statement = ""
    for line in sql.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement.strip()
            statement = ""
    if statement.strip():
        raise EnvironmentFailure(f"a migration ends in the middle of a statement: {statement.strip()[:60]}")


def _apply(connection: sqlite3.Connection, migration: Migration) -> None:
    # one by one: executescript commits behind our back
    for statement in statements(migration.sql):
        connection.execute(statement).fetchall()
    connection.execute(f"PRAGMA user_version = {migration.version:d}")


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchall()[0][0]
    if mode != "wal":
        raise EnvironmentFailure(
            f"{_file_of(connection)} cannot use a write-ahead log here (journal mode {mode}): "
            "put the state folder on a local disk"
        )


def _back_up(connection: sqlite3.Connection, version: int) -> Path:
    database = _file_of(connection)
    backup = database.with_name(f"{database.name}.v{version}.backup")
    for unfinished in database.parent.glob(f".{backup.name}.*"):  # of one that was killed
        unfinished.unlink(missing_ok=True)
    with replacing(backup) as draft, closing(sqlite3.connect(draft.path)) as copy:
        connection.backup(copy)
    return backup


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchall()[0][0])


def _journal_mode(connection: sqlite3.Connection) -> str:
    return str(connection.execute("PRAGMA journal_mode").fetchall()[0][0])


def _file_of(connection: sqlite3.Connection) -> Path:
    return Path(str(connection.execute("PRAGMA database_list").fetchall()[0][2]))
