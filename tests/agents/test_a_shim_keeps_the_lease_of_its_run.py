"""The shim renews by itself, stops when the lease is lost, works on when the store is away, and ends the run."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from recall.agents.mailbox import Accepted, Declined, write_report
from recall.domain.launch import LeaseSpec, ShimStoreContract
from tests.agents.bench import Bench, wait_until

WAITING = "while [ ! -e go ]; do sleep 0.02; done"

RENEW = """UPDATE leases SET expires = :expires, expires_wall = :expires_wall, renewals = renewals + 1
 WHERE region = :region AND task = :task AND owner = :owner AND version = :version AND boot = :boot
   AND expires > :now AND state = 'running'"""
END = """UPDATE leases SET state = 'ended', ended_wall = :wall
 WHERE region = :region AND task = :task AND owner = :owner AND version = :version AND run_id = :run_id
   AND state = 'running' AND (boot = :boot AND expires > :now)"""


class LeaseTable:
    """As much of a store as a shim sees."""

    def __init__(self, folder: Path, ttl: float = 60.0) -> None:
        self.path = folder / "store.db"
        self.lock = folder / "store.lock"
        self.lock.touch()
        self.ttl = ttl
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        with closing(sqlite3.connect(self.path)) as db:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute(
                "CREATE TABLE leases (region, task, owner, version, run_id, boot, expires, expires_wall, state, "
                "ended_wall, renewals INTEGER DEFAULT 0)"
            )
            db.execute(
                "INSERT INTO leases VALUES ('main', 'T-1', 'fake-1', 3, 7, ?, ?, 0, 'running', NULL, 0)",
                (boot, time.monotonic() + ttl),
            )
            db.commit()

    def spec(self, **more: Any) -> LeaseSpec:
        contract = ShimStoreContract(self.path, self.lock, RENEW, END)
        values: dict[str, Any] = {"heartbeat": 0.1, "ttl": self.ttl, "version": 3, **more}
        return LeaseSpec("main", "T-1", "fake-1", contract=contract, **values)

    def write(self, statement: str) -> None:
        with closing(sqlite3.connect(self.path, timeout=10)) as db:
            db.execute(statement)
            db.commit()

    def value(self, column: str) -> Any:
        with closing(sqlite3.connect(self.path, timeout=10)) as db:
            return db.execute(f"SELECT {column} FROM leases").fetchone()[0]

    @contextmanager
    def held(self) -> Generator[None]:
        lock = os.open(self.lock, os.O_RDWR)
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            os.close(lock)


@pytest.fixture
def leases(tmp_path: Path) -> LeaseTable:
    return LeaseTable(tmp_path)


def end(bench: Bench) -> Any:
    (bench.tree / "go").touch()
    return bench.finish()


def test_it_is_renewed_at_every_heartbeat(bench: Bench, leases: LeaseTable) -> None:
    before = leases.value("expires")
    bench.start(WAITING, lease=leases.spec())
    wait_until(lambda: leases.value("renewals") >= 3, "three renewals")
    assert leases.value("expires") > before
    assert abs(leases.value("expires_wall") - time.time() - leases.ttl) < 5
    assert end(bench).stopped is None


def test_the_run_is_marked_ended_and_the_record_was_there_before(bench: Bench, leases: LeaseTable) -> None:
    leases.write(
        "CREATE TRIGGER ending AFTER UPDATE OF state ON leases BEGIN "
        "SELECT RAISE(ABORT, 'not yet') WHERE EXISTS (SELECT 1 FROM leases WHERE task = 'T-2'); END"
    )
    leases.write("INSERT INTO leases (task, state) VALUES ('T-2', 'running')")
    bench.start("exit 4", lease=leases.spec())
    wait_until((bench.folder / "exit.json").exists, "the record")
    assert leases.value("state") == "running"
    assert bench.runner.status(bench.folder).live
    leases.write("DELETE FROM leases WHERE task = 'T-2'")
    assert bench.finish().status == 4
    assert leases.value("state") == "ended"
    assert leases.value("ended_wall") is not None


def test_a_lost_lease_stops_the_tree_and_refuses_reports(bench: Bench, leases: LeaseTable) -> None:
    bench.start("trap 'while [ ! -e go ]; do sleep 0.02; done; exit' TERM; while :; do sleep 0.02; done",
                lease=leases.spec(), grace=10.0)  # fmt: skip
    assert write_report(bench.box(), "success", summary="in time") == Accepted()
    leases.write("UPDATE leases SET version = 4, owner = 'other'")
    wait_until(lambda: "lease_lost" in bench.shim_log(), "the loss")
    said = write_report(bench.box(), "success", summary="late")
    assert isinstance(said, Declined)
    assert said.over
    assert "lease was lost" in said.reason
    record = end(bench)
    assert record.stopped == "lease_lost"
    assert record.report is not None
    assert record.report.summary == "in time"
    assert any("lease was lost" in reason for reason in record.refused_reports)
    assert not bench.left()
    assert leases.value("state") == "running"


def test_an_expired_lease_is_lost(bench: Bench, leases: LeaseTable) -> None:
    leases.write("UPDATE leases SET expires = 0")
    assert bench.run("sleep 60", lease=leases.spec()).stopped == "lease_lost"


def test_a_run_never_starts_long_without_its_lease(bench: Bench, leases: LeaseTable) -> None:
    started = time.monotonic()
    assert bench.run("sleep 60", lease=leases.spec(version=2, heartbeat=30.0)).stopped == "lease_lost"
    assert time.monotonic() - started < 5


def test_a_lease_lost_at_the_very_end_is_recorded(bench: Bench, leases: LeaseTable) -> None:
    bench.start(WAITING, lease=leases.spec(heartbeat=30.0))
    wait_until(lambda: leases.value("renewals") == 1, "the first renewal")
    leases.write("UPDATE leases SET version = 4")
    record = end(bench)
    assert (record.status, record.stopped) == (0, "lease_lost")


def test_a_store_held_by_another_is_waited_for(bench: Bench, leases: LeaseTable) -> None:
    with leases.held():
        bench.start(WAITING, lease=leases.spec())
        wait_until(lambda: "store busy" in bench.shim_log(), "a busy store")
        assert write_report(bench.box(), "success") == Accepted()
        (bench.tree / "go").touch()
        wait_until((bench.folder / "exit.json").exists, "the record")
        assert bench.runner.status(bench.folder).live
    assert bench.finish().report is not None
    assert leases.value("state") == "ended"


@pytest.mark.parametrize("trouble", ["missing", "locked", "not a database", "no lock file", "no table"])
def test_a_store_out_of_reach_stops_nothing(bench: Bench, leases: LeaseTable, trouble: str) -> None:
    with closing(sqlite3.connect(leases.path, isolation_level=None)) as other:
        match trouble:
            case "missing":
                leases.path.rename(leases.path.with_name("moved"))
            case "locked":
                other.execute("BEGIN IMMEDIATE")
            case "not a database":
                leases.path.write_bytes(b"something else" * 1000)
            case "no lock file":
                leases.lock.unlink()
            case _:
                leases.write("DROP TABLE leases")
        bench.start(WAITING, lease=leases.spec(ttl=0.2))
        wait_until(lambda: "store unreachable" in bench.shim_log(), "trouble with the store")
        (bench.tree / "go").touch()
        record = bench.finish()
    assert (record.status, record.stopped) == (0, None)
    assert trouble != "missing" or not leases.path.exists()


def test_its_own_limit_still_holds_when_the_store_is_away(bench: Bench, leases: LeaseTable) -> None:
    leases.path.unlink()
    assert bench.run("sleep 60", lease=leases.spec(ttl=1.0), timeout=0.5).stopped == "timeout"


def test_statements_that_give_rows_back_count_them(bench: Bench, leases: LeaseTable) -> None:
    contract = ShimStoreContract(leases.path, leases.lock, RENEW + " RETURNING version", END + " RETURNING 1")
    spec = LeaseSpec("main", "T-1", "fake-1", 3, 60.0, 0.1, contract)
    bench.start(WAITING, lease=spec)
    wait_until(lambda: leases.value("renewals") >= 2, "renewals")
    assert end(bench).stopped is None
    assert leases.value("state") == "ended"


def test_more_than_one_row_is_a_loss_and_changes_nothing(bench: Bench, leases: LeaseTable) -> None:
    leases.write("INSERT INTO leases SELECT * FROM leases")
    assert bench.run("sleep 60", lease=leases.spec()).stopped == "lease_lost"
    assert leases.value("renewals") == 0


def test_an_agent_that_could_not_be_started_ends_its_run_too(bench: Bench, leases: LeaseTable) -> None:
    record = bench.run("", argv=("/nowhere",), shell=False, lease=leases.spec())
    assert record.error
    assert leases.value("state") == "ended"
