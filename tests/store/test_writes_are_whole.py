"""Kills, full disks and threads: a write happens wholly or not at all, and is never lost once acknowledged."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from recall.domain.errors import EnvironmentFailure, RecallError
from recall.domain.run import Claim
from recall.domain.task import TaskState
from recall.store.connection import Connections
from recall.store.lock import StoreLock
from recall.store.patience import Patience
from recall.store.transaction import Access, Transaction
from recall.system import SystemClock
from tests.support.builders import SeededRng, claimed, import_specs, make_store, ref, spec
from tests.support.clock import FakeClock

ROOT = Path(__file__).parents[2]
CLAIMER = """
import sys
from pathlib import Path
from recall.store import open_store
from recall.system import SystemClock, SystemRng
store = open_store(Path(sys.argv[1]), SystemClock(), SystemRng())
number = 0
while claim := store.claim_next("amy", f"amy-{number}", 1000.0):
    number += 1
    print(claim.ref.id, flush=True)
"""


def claim_until_killed(database: Path, failpoint: str) -> list[str]:
    """Gives the claims that were acknowledged before the process was killed at the failpoint."""
    done = subprocess.run(
        [sys.executable, "-c", CLAIMER, str(database)],
        cwd=ROOT,
        env={"RECALL_FAILPOINT": failpoint, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == -9, done.stderr
    return done.stdout.split()


@pytest.mark.faults
@pytest.mark.parametrize(("place", "lost"), [("store.before_commit", 0), ("store.after_commit", 1)])
def test_a_kill_takes_back_what_was_not_committed_and_nothing_else(tmp_path: Path, place: str, lost: int) -> None:
    database, done = tmp_path / "state" / "recall.db", list[str]()
    with make_store(tmp_path, SystemClock()) as store:
        import_specs(store, *(spec(f"T-{number}") for number in range(20)))
        for nth in (1, 2, 4):
            acknowledged = claim_until_killed(database, f"{place}#{nth}")
            taken = [task.id for task in store.tasks() if task.state is TaskState.IN_PROGRESS]
            done += acknowledged
            assert set(done) <= set(taken)
            assert len(acknowledged) == nth - 1
            done = taken
            assert store.check() == []
            assert len(store.open_runs()) == len(taken)
        assert len(done) == (0 + 1 + 3) + 3 * lost


def access_to(folder: Path) -> tuple[Connections, Access]:
    path = folder / "state" / "recall.db"
    connections = Connections(path)
    lock = StoreLock(path.with_name("recall.db.lock"), 1.0)
    return connections, Access(path, connections, lock, FakeClock(), Patience(path, 0.1, SeededRng()), lambda tx: [])


def add_bulk(tx: Transaction) -> None:
    tx.change("INSERT INTO settings VALUES (:key, :value)", {"key": "bulk", "value": "x" * 1_000_000})


def test_a_full_disk_is_said_and_leaves_the_store_whole(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        import_specs(store, spec("T-1"))
        connections, access = access_to(tmp_path)
        with closing(connections):
            pages = connections.mine().execute("PRAGMA page_count").fetchall()[0][0]
            connections.mine().execute(f"PRAGMA max_page_count = {pages + 20}")
            with pytest.raises(EnvironmentFailure, match="no space is left for the store"):
                access.write(add_bulk)
            connections.mine().execute("PRAGMA max_page_count = 1000000")
            assert access.read(lambda rows: rows.all("SELECT * FROM settings")) == []
            access.write(add_bulk)
        assert store.setting("bulk") is not None
        assert store.check() == []


def test_a_body_that_fails_changes_nothing(tmp_path: Path) -> None:
    def fail(tx: Transaction) -> None:
        add_bulk(tx)
        raise RecallError("not this time")

    with make_store(tmp_path) as store:
        connections, access = access_to(tmp_path)
        with closing(connections):
            with pytest.raises(RecallError, match="not this time"):
                access.write(fail)
            with pytest.raises(EnvironmentFailure, match="no such table"):
                access.write(lambda tx: tx.change("INSERT INTO nowhere VALUES (1)", {}))
            access.write(add_bulk)
        assert store.setting("bulk") is not None


def test_the_log_is_folded_back_while_the_store_works(tmp_path: Path) -> None:
    log = tmp_path / "state" / "recall.db-wal"
    with make_store(tmp_path) as store:
        for number in range(12):
            store.put_setting("bulk", str(number) * 1_000_000, actor="test")
        assert log.stat().st_size < 10_000_000, "of some 30 million bytes that were written"
        with closing(sqlite3.connect(tmp_path / "state" / "recall.db", isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM events").fetchall()
            for number in range(12):
                store.put_setting("bulk", f"{number}" * 1_000_000, actor="test")
            reader.execute("COMMIT")
            assert log.stat().st_size > 20_000_000, "a reader is in the way"
        store.put_setting("bulk", "12" * 1_000_000, actor="test")
        assert log.stat().st_size < 10_000_000
        assert store.setting("bulk") == "12" * 1_000_000


def test_threads_write_side_by_side(tmp_path: Path) -> None:
    with make_store(tmp_path, SystemClock()) as store:
        import_specs(store, *(spec(f"T-{number}") for number in range(40)))
        won = list[str]()

        def work(name: str) -> None:
            while claim := store.claim_next(name, f"{name}-{len(won)}", 1000.0):
                won.append(claim.ref.id)

        threads = [threading.Thread(target=work, args=(f"agent{number}",)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(won) == sorted(f"T-{number}" for number in range(40))
        assert store.check() == []


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        store.close()
        for use in (store.tasks, store.recycle, store.data_version):
            with pytest.raises(RecallError, match="was closed"):
                use()
        store.close()


def test_the_data_version_sees_every_commit(tmp_path: Path) -> None:
    with make_store(tmp_path) as store, make_store(tmp_path) as other:
        import_specs(store, spec("T-1"), spec("T-2"))
        seen = [store.data_version()]
        assert store.data_version() == seen[-1]
        claimed(store, "T-1")
        seen.append(store.data_version())
        claimed(other, "T-2")
        seen.append(store.data_version())
        assert store.data_version() == seen[-1]
        assert len(set(seen)) == 3


def test_events_are_read_on_from_a_number(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        assert store.last_seq() == 0
        import_specs(store, spec("T-1"), spec("T-2"))
        store.note("dispatcher.started", actor="dispatcher", reason="hello\x1b]0;x\x07", ref=ref("T-1"), run_id=3)
        events = store.events_since(0)
        assert [event.seq for event in events] == [1, 2, 3, 4]
        assert store.events_since(2, limit=1) == [events[2]]
        assert store.events_since(4) == []
        assert (events[3].kind, events[3].reason, events[3].task, events[3].run_id) == (
            "dispatcher.started",
            "hello",
            "T-1",
            3,
        )


def test_a_setting_is_told_when_it_changes(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        assert store.setting("trusted") is None
        for value in ("one", "one", "two"):
            store.put_setting("trusted", value, actor="person")
        assert store.setting("trusted") == "two"
        told = [(event.before, event.after, event.reason) for event in store.events_since(0)]
        assert told == [(None, "one", "trusted"), ("one", "two", "trusted")]


def test_a_snapshot_has_what_is_ready_and_what_runs(tmp_path: Path) -> None:
    clock = FakeClock()
    with make_store(tmp_path, clock) as store:
        import_specs(
            store, spec("T-1"), spec("T-2"), spec("T-3", "T-1"), spec("T-4", "T-3"), spec("G-1", is_group=True)
        )
        claimed(store, "T-2")
        snapshot = store.snapshot()
        assert [task.id for task in snapshot.ready] == ["T-1"]
        assert [task.id for task in snapshot.running] == ["T-2"]
        assert snapshot.behind == {ref("T-1"): 2, ref("T-2"): 0}
        assert [(agent.name, agent.running) for agent in snapshot.agents] == [("amy", 1)]
        assert snapshot.now == clock.wall


def test_check_finds_a_counter_that_is_wrong(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        import_specs(store, spec("T-1"), spec("T-2", "T-1"))
        assert isinstance(store.claim(ref("T-1"), "amy", "amy-1", 10.0, pulled=True), Claim)
        with closing(sqlite3.connect(tmp_path / "state" / "recall.db", isolation_level=None)) as database:
            database.execute("UPDATE tasks SET unmet = 0 WHERE id = 'T-2'")
            database.execute("UPDATE tasks SET lease_expires = NULL WHERE id = 'T-1'")
        assert store.check() == [
            "T-2: counts 0 unmet prerequisites, has 1",
            "T-1: lease and open run (pulled) do not fit",
        ]
