"""The two statements that shims run with nothing but sqlite3 from the standard library."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from recall.domain.agent import AgentSpec
from recall.domain.launch import ShimStoreContract
from recall.domain.run import Claim, Refused, RunState
from recall.domain.task import TaskState
from recall.store import SqliteStore
from tests.support.builders import import_specs, make_store, ref, spec, started
from tests.support.clock import FakeClock

T1 = ref("T-1")


@dataclass(frozen=True)
class Shim:
    """Does to the store what a shim does."""

    contract: ShimStoreContract
    claim: Claim

    def renew(self, clock: FakeClock, **changed: str | int | float) -> int:
        return self._change(self.contract.renew_sql, clock, changed)

    def end(self, clock: FakeClock, **changed: str | int | float) -> int:
        return self._change(self.contract.end_sql, clock, changed)

    def _change(self, sql: str, clock: FakeClock, changed: dict[str, str | int | float]) -> int:
        values: dict[str, str | int | float] = {
            "region": self.claim.ref.region,
            "task": self.claim.ref.id,
            "owner": self.claim.owner,
            "version": self.claim.version,
            "run_id": self.claim.run_id,
            "boot": clock.boot,
            "now": clock.mono,
            "expires": clock.mono + 10.0,
            "wall": clock.wall,
            "expires_wall": clock.wall + 10.0,
        }
        with closing(sqlite3.connect(self.contract.database, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            rows = connection.execute(sql, values | changed).rowcount
            connection.execute("COMMIT")
            return rows


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(mono=100.0)


@pytest.fixture
def store(tmp_path: Path, clock: FakeClock) -> Generator[SqliteStore, None, None]:
    with make_store(tmp_path, clock) as store:
        import_specs(store, spec("T-1"))
        store.sync_agents([AgentSpec("amy")])
        yield store


@pytest.fixture
def shim(store: SqliteStore) -> Shim:
    return Shim(store.shim_contract(), started(store, "T-1", ttl=10.0))


def test_a_renewal_moves_the_end_and_tells_nothing(store: SqliteStore, shim: Shim, clock: FakeClock) -> None:
    seq = store.last_seq()
    clock.advance(9.0)
    assert shim.renew(clock) == 1
    task = store.task(T1)
    assert task is not None
    assert (task.lease_expires, task.lease_expires_wall) == (119.0, clock.wall + 10.0)
    assert store.last_seq() == seq


@pytest.mark.parametrize(
    "changed", [{"owner": "bob"}, {"version": 2}, {"boot": "boot-2"}, {"run_id": 99}, {"task": "T-2"}]
)
def test_who_does_not_hold_the_lease_changes_nothing(
    store: SqliteStore, shim: Shim, clock: FakeClock, changed: dict[str, str | int]
) -> None:
    before = store.task(T1)
    assert shim.renew(clock, **changed) == 0
    assert shim.end(clock, **changed) == 0
    assert store.task(T1) == before


def test_at_its_end_a_lease_can_neither_be_renewed_nor_ended(
    store: SqliteStore, shim: Shim, clock: FakeClock
) -> None:
    clock.mono = 110.0
    assert shim.renew(clock) == 0
    assert shim.end(clock) == 0


def test_an_ended_run_never_expires_and_is_told_once(store: SqliteStore, shim: Shim, clock: FakeClock) -> None:
    assert shim.end(clock) == 1
    assert shim.end(clock) == 0
    assert shim.renew(clock) == 0
    run = store.run(shim.claim.run_id)
    assert run is not None
    assert (run.state, run.ended_at) == (RunState.ENDED, clock.wall)
    told = [event for event in store.events_since(0) if event.kind == "run.ended"]
    assert [(event.actor, event.at, event.run_id) for event in told] == [("shim", clock.wall, run.id)]
    clock.advance(1_000_000.0)
    clock.reboot()
    assert store.recycle() == []
    queued = store.enqueue(run.id, run.owner, run.version, tip="c", base="b", actor="dispatcher")
    assert isinstance(queued, int)
    assert store.check() == []


def test_a_cancelled_run_loses_its_lease_at_once(store: SqliteStore, shim: Shim, clock: FakeClock) -> None:
    assert store.cancel(T1, actor="person", reason="not needed") is None
    assert shim.renew(clock) == 0
    assert shim.end(clock) == 0
    task = store.task(T1)
    assert task is not None
    assert task.state is TaskState.CANCELLED


def test_ending_in_place_of_a_shim_does_the_same(store: SqliteStore, shim: Shim, clock: FakeClock) -> None:
    claim = shim.claim
    assert isinstance(store.end_run(claim.run_id, "bob", claim.version), Refused)
    assert store.end_run(claim.run_id, claim.owner, claim.version) is None
    clock.advance(60.0)
    assert store.recycle() == []
    run = store.run(claim.run_id)
    assert run is not None
    assert run.state is RunState.ENDED
