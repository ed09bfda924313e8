"""Opening a store: making it, bringing it up to date, refusing what it cannot be."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from recall.domain.errors import ConfigError, EnvironmentFailure
from recall.domain.merge import MergeState
from recall.domain.receipts import ReceiptState, Wish
from recall.domain.run import RunResult, RunState
from recall.domain.task import DoneBy, TaskState
from recall.engine.ports import Store
from recall.store.connection import connect
from recall.store.migrate import Migration, known_migrations, migrate, refuse_old_sqlite, statements
from tests.support.builders import import_specs, make_store, ref, spec
from tests.support.clock import FakeClock

NEWEST = known_migrations()[-1].version
NEXT = Migration(
    NEWEST + 1,
    "next.sql",
    "ALTER TABLE tasks ADD COLUMN note TEXT NOT NULL DEFAULT '';\nUPDATE tasks SET note = 'old';",
)
BROKEN = Migration(NEWEST + 2, "broken.sql", "CREATE TABLE half (x);\nINSERT INTO nowhere VALUES (1);")


def version_of(connection: sqlite3.Connection) -> int:
    return connection.execute("PRAGMA user_version").fetchall()[0][0]


def test_the_store_keeps_the_contract(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        contract: Store = store
        assert contract.last_seq() == 0


def test_the_state_folder_is_for_its_owner_only(tmp_path: Path) -> None:
    with make_store(tmp_path):
        assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700
        files = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "state").iterdir()}
        assert files.keys() >= {"recall.db", "recall.db-wal", "recall.db.lock"}
        assert set(files.values()) == {0o600}, files


def test_connections_are_durable_and_checked(tmp_path: Path) -> None:
    with make_store(tmp_path), closing(connect(tmp_path / "state" / "recall.db")) as connection:
        found = {
            name: connection.execute(f"PRAGMA {name}").fetchall()[0][0]
            for name in ("journal_mode", "synchronous", "foreign_keys", "wal_autocheckpoint")
        }
        strict = connection.execute("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND strict = 0")
        assert [row[0] for row in strict.fetchall()] == [2], "sqlite_schema and sqlite_sequence only"
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "wal_autocheckpoint": 0}


@pytest.mark.parametrize(
    ("table", "states"),
    [
        ("task_states", TaskState),
        ("done_ways", DoneBy),
        ("run_states", RunState),
        ("run_results", RunResult),
        ("merge_states", MergeState),
        ("receipt_states", ReceiptState),
    ],
)
def test_every_state_of_the_domain_has_its_row(tmp_path: Path, table: str, states: type[TaskState]) -> None:
    with make_store(tmp_path), closing(sqlite3.connect(tmp_path / "state" / "recall.db")) as connection:
        rows = connection.execute(f"SELECT name FROM {table}").fetchall()
    assert {row[0] for row in rows} == {state.value for state in states}


def test_many_may_open_a_new_store_at_once(tmp_path: Path) -> None:
    def open_and_read(_number: int) -> int:
        with make_store(tmp_path) as store:
            return store.last_seq()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(open_and_read, range(8))) == [0] * 8


def test_a_migration_keeps_rows_and_versions_and_makes_a_backup_first(tmp_path: Path) -> None:
    with make_store(tmp_path, FakeClock()) as store:
        import_specs(store, spec("T-1"))
        store.claim(ref("T-1"), "amy", "amy-1", 10.0, pulled=True)
    with closing(connect(tmp_path / "state" / "recall.db")) as connection:
        backup = migrate(connection, [*known_migrations(), NEXT])
        assert version_of(connection) == NEWEST + 1
        rows = connection.execute("SELECT lease_version, note FROM tasks").fetchall()
        assert [tuple(row) for row in rows] == [(1, "old")]
        assert migrate(connection, [*known_migrations(), NEXT]) is None
    assert backup is not None
    assert backup == tmp_path / "state" / f"recall.db.v{NEWEST}.backup"
    with closing(sqlite3.connect(backup)) as old:
        assert version_of(old) == NEWEST
        assert old.execute("SELECT lease_version FROM tasks").fetchall() == [(1,)]


def test_the_backup_and_its_name_are_on_disk_before_anything_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with make_store(tmp_path):
        pass
    done: list[str] = []
    sync = os.fsync

    def synced(file: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(file).st_mode) else "file")
        sync(file)

    with closing(connect(tmp_path / "state" / "recall.db")) as connection, monkeypatch.context() as patch:
        patch.setattr(os, "fsync", synced)
        connection.set_trace_callback(lambda sql: done.extend(["begun"] if sql.startswith("BEGIN") else []))
        migrate(connection, [*known_migrations(), NEXT])
    assert done[: done.index("begun")] == ["file", "folder"]


@pytest.mark.parametrize("version", range(1, NEWEST))
def test_every_older_version_is_brought_up_to_date(tmp_path: Path, version: int) -> None:
    (tmp_path / "state").mkdir()
    with closing(connect(tmp_path / "state" / "recall.db")) as connection:
        migrate(connection, known_migrations()[:version])
        connection.execute("INSERT INTO agents (name, configured) VALUES ('old', 0)")
    with make_store(tmp_path) as store:
        import_specs(store, spec("T-1"))
        assert [agent.name for agent in store.agents()] == ["old"]
        assert store.check() == []


def test_what_had_landed_is_kept_beside_the_receipts_of_outside_actions(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    with closing(connect(tmp_path / "state" / "recall.db")) as connection:
        migrate(connection, known_migrations()[:7])
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(
            "INSERT INTO receipts VALUES (3, 2, 'main', 'T-1', 'amy', 1, 'tip', 'onto', 'landed', 5.0)"
        )
    with closing(connect(tmp_path / "state" / "recall.db")) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        migrate(connection, known_migrations())
        assert [tuple(row) for row in connection.execute("SELECT task, landed_commit FROM landings").fetchall()] == [
            ("T-1", "landed")
        ]
        assert connection.execute("SELECT count(*) FROM receipts").fetchall()[0][0] == 0


@pytest.mark.parametrize("statement", ["UPDATE receipts SET answer = 'other'", "DELETE FROM receipts"])
def test_a_receipt_of_what_happened_is_final(tmp_path: Path, statement: str) -> None:
    with make_store(tmp_path) as store:
        store.begin_effect(Wish("key", "intent", "cli"))
        assert store.answer_effect("key", 1, ReceiptState.DONE, actor="cli", answer="yes") is None
    with (
        closing(sqlite3.connect(tmp_path / "state" / "recall.db")) as connection,
        pytest.raises(sqlite3.IntegrityError, match=r"is final|never deleted"),
    ):
        connection.execute(statement)


def test_a_failed_migration_leaves_nothing_behind(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        import_specs(store, spec("T-1"))
    with closing(connect(tmp_path / "state" / "recall.db")) as connection:
        before = list(connection.iterdump())
        with pytest.raises(sqlite3.OperationalError, match="nowhere"):
            migrate(connection, [*known_migrations(), NEXT, BROKEN])
        assert not connection.in_transaction
        assert version_of(connection) == NEWEST
        assert list(connection.iterdump()) == before
    with make_store(tmp_path) as store:
        assert store.check() == []


def test_a_newer_database_is_refused_with_both_versions(tmp_path: Path) -> None:
    with make_store(tmp_path):
        pass
    with closing(sqlite3.connect(tmp_path / "state" / "recall.db")) as connection:
        connection.execute("PRAGMA user_version = 99")
    with (
        pytest.raises(ConfigError, match=rf"schema version 99, Recall \S+ knows versions up to {NEWEST}"),
        make_store(tmp_path),
    ):
        pytest.fail("it was opened")


def test_an_old_sqlite_is_refused() -> None:
    with pytest.raises(EnvironmentFailure, match=r"SQLite 3\.36\.0 was found, Recall needs 3\.37"):
        refuse_old_sqlite((3, 36, 0))
    refuse_old_sqlite((3, 37, 0))


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "recall.db").write_text("not a database, but long enough to look like one\n" * 100)
    with pytest.raises(EnvironmentFailure, match="is damaged"), make_store(tmp_path):
        pytest.fail("it was opened")


def test_a_script_is_split_at_its_statements_ends() -> None:
    script = "CREATE TABLE a (x); -- a; b\nCREATE TRIGGER t AFTER INSERT ON a\nBEGIN\n  SELECT 1;\nEND;\n"
    assert list(statements(script)) == [
        "CREATE TABLE a (x); -- a; b",
        "CREATE TRIGGER t AFTER INSERT ON a\nBEGIN\n  SELECT 1;\nEND;",
    ]
    with pytest.raises(EnvironmentFailure, match="middle of a statement"):
        list(statements("SELECT 1"))


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("DELETE FROM tasks", "never deleted"),
        ("UPDATE tasks SET lease_version = 0", "never falls"),
        ("UPDATE events SET reason = ''", "append-only"),
        ("DELETE FROM events", "append-only"),
    ],
)
def test_the_database_itself_keeps_what_must_be_kept(tmp_path: Path, statement: str, words: str) -> None:
    with make_store(tmp_path, FakeClock()) as store:
        import_specs(store, spec("T-1"))
        store.claim(ref("T-1"), "amy", "amy-1", 10.0, pulled=True)
    with (
        closing(sqlite3.connect(tmp_path / "state" / "recall.db")) as connection,
        pytest.raises(sqlite3.IntegrityError, match=words),
    ):
        connection.execute(statement)


@pytest.mark.faults
@pytest.mark.parametrize("place", ["migrate.backed_up", "migrate.before_commit"])
def test_a_store_that_was_being_made_when_it_was_killed_is_made_again(tmp_path: Path, place: str) -> None:
    program = (
        "import sys; from pathlib import Path; from recall.store import open_store; "
        "from recall.system import SystemClock, SystemRng; "
        "open_store(Path(sys.argv[1]), SystemClock(), SystemRng()).close()"
    )
    killed = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "state" / "recall.db")],
        env={"RECALL_FAILPOINT": place, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        timeout=50,
        check=False,
    )
    assert killed.returncode == -9, killed.stderr
    with make_store(tmp_path) as store:
        import_specs(store, spec("T-1"))
        assert store.check() == []
