"""From every released schema, each table full: a migration changes no row and no run id, and one that is killed
leaves the old database as it was."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from recall.store.connection import connect
from recall.store.migrate import known_migrations, migrate
from tests.support.builders import make_store

NEWEST = known_migrations()[-1].version
#: Tables that once had another name.
RENAMED = {"receipts": ("landings", 8)}  # its new name, since which version
ROWS = 3
#: What only goes together with a value in another column that is filled.
_TIED = {("runs", "state"): "settled"}

Rows = list[tuple[object, ...]]


def query(connection: sqlite3.Connection, sql: str) -> Rows:
    return [tuple(row) for row in connection.execute(sql).fetchall()]


def tables(connection: sqlite3.Connection) -> list[str]:
    named = query(connection, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    return sorted(str(name) for (name,) in named)


def is_lookup(connection: sqlite3.Connection, table: str) -> bool:
    return len(query(connection, f"PRAGMA table_info({table})")) == 1


def fill(connection: sqlite3.Connection) -> None:
    """Put rows into every table, a value into every column; the n-th row of one refers to the n-th of another."""
    connection.execute("PRAGMA foreign_keys = OFF")
    for table in tables(connection):
        if not is_lookup(connection, table):
            for number in range(1, ROWS + 1):
                row = dict(values(connection, table, number))
                marks = ", ".join("?" * len(row))
                connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", list(row.values()))
    connection.execute("PRAGMA foreign_keys = ON")
    assert query(connection, "PRAGMA foreign_key_check") == []


def values(connection: sqlite3.Connection, table: str, number: int) -> Iterator[tuple[str, object]]:
    for _, name, *_ in query(connection, f"PRAGMA table_info({table})"):
        yield str(name), cell(connection, table, str(name), number)


def cell(connection: sqlite3.Connection, table: str, name: str, number: int) -> object:
    """Give the value of one column in the n-th row of a table."""
    if (table, name) in _TIED:
        return _TIED[table, name]
    for _, _, other, column, there, *_ in query(connection, f"PRAGMA foreign_key_list({table})"):
        if column == name and is_lookup(connection, str(other)):
            return query(connection, f"SELECT name FROM {other} ORDER BY name LIMIT 1 OFFSET {number}")[0][0]
        if column == name and (other, there) != (table, name):
            return cell(connection, str(other), str(there), number)
    described = query(connection, f"PRAGMA table_info({table})")
    kind, default = next((str(kind), default) for _, column, kind, _, default, _ in described if column == name)
    if default == "'[]'":
        return f'["{number}"]'
    return {"TEXT": f"{table}.{name}.{number}", "INTEGER": number, "REAL": number / 10}[kind]


def contents(connection: sqlite3.Connection, made: int, columns: dict[str, list[str]]) -> dict[str, Rows]:
    """Give the rows of the tables that `columns` names, as the version that the store was `made` with called them."""
    here = int(str(query(connection, "PRAGMA user_version")[0][0]))
    found: dict[str, Rows] = {}
    for table, names in columns.items():
        name, since = RENAMED.get(table, (table, made))
        asked = name if made < since <= here else table
        found[table] = sorted(query(connection, f"SELECT {', '.join(names)} FROM {asked}"), key=repr)
    return found


def columns_of(connection: sqlite3.Connection) -> dict[str, list[str]]:
    return {
        table: [str(column[1]) for column in query(connection, f"PRAGMA table_info({table})")]
        for table in tables(connection)
    }


def make_old(database: Path, version: int) -> tuple[dict[str, list[str]], dict[str, Rows]]:
    database.parent.mkdir()
    with closing(connect(database)) as connection:
        migrate(connection, known_migrations()[:version])
        fill(connection)
        columns = columns_of(connection)
        before = contents(connection, version, columns)
    assert len(columns) > 10
    assert all(len(before[table]) >= ROWS for table in columns)
    return columns, before


def rows_lost(database: Path, made: int, columns: dict[str, list[str]], before: dict[str, Rows]) -> dict[str, Rows]:
    """Open the store as any program does; gives what it does not have any more."""
    with make_store(database.parent.parent) as store:
        assert len(store.tasks()) == len(store.runs()) == len(store.agents()) == ROWS
        assert sorted(run.id for run in store.runs()) == [1, 2, 3]
    with closing(sqlite3.connect(database)) as connection:
        assert query(connection, "PRAGMA user_version") == [(NEWEST,)]
        assert query(connection, "PRAGMA integrity_check") == [("ok",)]
        assert query(connection, "PRAGMA foreign_key_check") == []
        after = contents(connection, made, columns)
    lost = {table: [row for row in rows if row not in after[table]] for table, rows in before.items()}
    return {table: rows for table, rows in lost.items() if rows}


@pytest.mark.parametrize("version", range(1, NEWEST))
def test_every_row_and_every_run_id_is_there(tmp_path: Path, version: int) -> None:
    database = tmp_path / "state" / "recall.db"
    columns, before = make_old(database, version)
    assert rows_lost(database, version, columns, before) == {}


@pytest.mark.faults
@pytest.mark.parametrize("version", range(1, NEWEST))
def test_a_migration_that_is_killed_at_any_step_leaves_the_old_database_in_use(tmp_path: Path, version: int) -> None:
    """Also one that finds what others left that were killed before it. In the end it goes through."""
    database = tmp_path / "state" / "recall.db"
    columns, before = make_old(database, version)
    spent = shutil.copytree(database.parent, tmp_path / "spent") / database.name
    done = subprocess.run(
        [sys.executable, "-m", "tests.store.killed_migration", str(database), str(spent), "8"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["wrong"] == []
    assert 10 < told["killed"] <= told["steps"]
    assert told["placed"] != []
    print(f"{told['killed']} kills survived of a migration from version {version}")
    with closing(sqlite3.connect(database.with_name(f"recall.db.v{version}.backup"))) as backup:
        assert contents(backup, version, columns) == before
    with closing(connect(database)) as connection:
        connection.execute("UPDATE agents SET configured = 0")
        connection.execute("UPDATE agents SET configured = 1 WHERE name = 'agents.name.1'")
        columns, before = columns_of(connection), contents(connection, version, columns)
    assert rows_lost(database, version, columns, before) == {}
