"""A shim and the real store agree on who holds a task, by the two statements of the contract."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from recall.domain.agent import AgentSpec
from recall.domain.launch import LeaseSpec
from recall.domain.run import Claim, RunState
from recall.domain.task import TaskState
from recall.store import SqliteStore
from recall.system import SystemClock
from tests.agents.bench import Bench, wait_until
from tests.support.builders import import_specs, make_store, ref, spec, started

WAITING = "while [ ! -e go ]; do sleep 0.02; done"


@pytest.fixture
def store(tmp_path: Path) -> Generator[SqliteStore]:
    with make_store(tmp_path, SystemClock()) as store:
        store.sync_agents([AgentSpec("amy")])
        import_specs(store, spec("T-1"))
        yield store


def start(bench: Bench, store: SqliteStore, claim: Claim, script: str, *, ttl: float = 60.0) -> None:
    lease = LeaseSpec(claim.ref.region, claim.ref.id, claim.owner, claim.version, ttl, 0.1, store.shim_contract())
    bench.start(script, run_id=claim.run_id, lease=lease)


def state(store: SqliteStore, claim: Claim) -> RunState:
    run = store.run(claim.run_id)
    assert run is not None
    return run.state


def test_the_lease_moves_on_and_the_run_ends(bench: Bench, store: SqliteStore) -> None:
    claim = started(store, "T-1", ttl=5.0)
    start(bench, store, claim, WAITING)

    def renewed() -> bool:
        task = store.task(ref("T-1"))
        return task is not None and task.lease_expires is not None and task.lease_expires > claim.expires + 30

    wait_until(renewed, "a renewal")
    assert state(store, claim) is RunState.RUNNING
    (bench.tree / "go").touch()
    assert bench.finish().stopped is None
    assert state(store, claim) is RunState.ENDED
    task = store.task(ref("T-1"))
    assert task is not None
    assert (task.state, task.lease_expires) == (TaskState.IN_PROGRESS, None)
    assert [event.kind for event in store.events_since(0)][-1].startswith("run")


def test_a_task_taken_back_by_a_person_stops_its_agent(bench: Bench, store: SqliteStore) -> None:
    claim = started(store, "T-1")
    start(bench, store, claim, "sleep 60")
    assert store.hold(ref("T-1"), actor="person") is None
    record = bench.finish()
    assert record.stopped == "lease_lost"
    assert state(store, claim) is RunState.SETTLED


def test_a_lease_that_ran_out_is_not_taken_up_again(bench: Bench, store: SqliteStore) -> None:
    claim = started(store, "T-1", ttl=1.5)
    wait_until(lambda: SystemClock().now().mono > claim.expires, "its end")
    start(bench, store, claim, "sleep 60")
    assert bench.finish().stopped == "lease_lost"
    assert store.recycle() in ([ref("T-1")], [])
    task = store.task(ref("T-1"))
    assert task is not None
    assert task.state is TaskState.TODO


def test_a_busy_store_does_not_starve_a_shim(bench: Bench, store: SqliteStore) -> None:
    claim = started(store, "T-1", ttl=5.0)
    start(bench, store, claim, WAITING)

    def renewed_while_busy() -> bool:
        store.put_setting("load", "another", actor="test")
        task = store.task(ref("T-1"))
        return task is not None and task.lease_expires is not None and task.lease_expires > claim.expires

    wait_until(renewed_while_busy, "a renewal between other writes", pause=0.0)
    (bench.tree / "go").touch()
    assert bench.finish().stopped is None
    assert state(store, claim) is RunState.ENDED


def test_a_shim_that_comes_up_late_starts_no_agent(bench: Bench, store: SqliteStore) -> None:
    claim = started(store, "T-1")
    assert store.hold(ref("T-1"), actor="person") is None
    start(bench, store, claim, "touch began")
    record = bench.finish()
    assert (record.stopped, record.status, record.signal) == ("lease_lost", None, None)
    assert not (bench.tree / "began").exists()
