"""Renewing a lease tells no event; what the length of leases should be chosen from is kept with its run."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from recall.domain.agent import AgentSpec
from recall.domain.run import Claim, Run
from recall.store import SqliteStore
from tests.support.builders import claimed, import_specs, make_store, ref, spec, started
from tests.support.clock import FakeClock

TTL = 300.0


def _renew(store: SqliteStore, claim: Claim) -> None:
    assert isinstance(store.renew(claim.ref, claim.owner, claim.version, TTL), Claim)


def _run(store: SqliteStore, claim: Claim) -> Run:
    run = store.run(claim.run_id)
    assert run is not None
    return run


def test_the_longest_gap_is_kept_not_the_last(tmp_path: Path) -> None:
    clock = FakeClock()
    with make_store(tmp_path, clock) as store:
        import_specs(store, spec("T-1"))
        claim = claimed(store, "T-1", ttl=TTL)
        assert (_run(store, claim).renewals, _run(store, claim).longest_gap) == (None, None)
        for seconds in (30.0, 95.0, 31.0):
            clock.advance(seconds)
            _renew(store, claim)
        run = _run(store, claim)
    assert run.renewals == 3
    assert run.longest_gap == pytest.approx(95.0)
    assert run.clock_step == pytest.approx(0.0)


@pytest.mark.parametrize("step", [7200.0, -7200.0])
def test_a_step_of_the_wall_clock_is_seen_and_is_no_gap(tmp_path: Path, step: float) -> None:
    clock = FakeClock()
    with make_store(tmp_path, clock) as store:
        import_specs(store, spec("T-1"))
        claim = claimed(store, "T-1", ttl=TTL)
        for moved in (0.0, step, 0.0, 2.0):
            clock.advance(30.0)
            clock.wall += moved
            _renew(store, claim)
        run = _run(store, claim)
    assert run.clock_step == pytest.approx(step)
    assert run.longest_gap == pytest.approx(30.0)


def test_each_run_of_a_task_has_its_own_figures(tmp_path: Path) -> None:
    clock = FakeClock()
    with make_store(tmp_path, clock) as store:
        import_specs(store, spec("T-1"))
        first = claimed(store, "T-1", ttl=TTL)
        clock.advance(200.0)
        _renew(store, first)
        assert store.release(first.ref, first.owner, first.version, actor="agent amy", reason="later") is None
        second = claimed(store, "T-1", owner="amy-again", ttl=TTL)
        clock.advance(10.0)
        _renew(store, second)
        assert _run(store, first).longest_gap == pytest.approx(200.0)
        assert (_run(store, second).renewals, _run(store, second).longest_gap) == (1, pytest.approx(10.0))


def test_a_refused_renewal_counts_for_nobody(tmp_path: Path) -> None:
    clock = FakeClock()
    with make_store(tmp_path, clock) as store:
        import_specs(store, spec("T-1"))
        claim = claimed(store, "T-1", ttl=TTL)
        clock.advance(TTL)
        assert not isinstance(store.renew(claim.ref, claim.owner, claim.version, TTL), Claim)
        assert _run(store, claim).renewals is None


def test_a_shims_own_statement_is_measured_too_and_still_changes_one_row(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        store.sync_agents([AgentSpec("ant")])
        import_specs(store, spec("T-1"))
        claim = started(store, "T-1", agent="ant")
        contract = store.shim_contract()
        task = store.task(ref("T-1"))
        assert task is not None
        assert task.lease_expires is not None
        assert task.lease_expires_wall is not None
        values = {
            "region": "main", "task": "T-1", "owner": claim.owner, "version": claim.version, "run_id": claim.run_id,
            "boot": claim.boot, "now": 0.0, "expires": task.lease_expires + 42.0,
            "wall": time.time(), "expires_wall": task.lease_expires_wall + 42.0,
        }  # fmt: skip
        with closing(sqlite3.connect(os.fspath(contract.database), isolation_level=None)) as connection:
            assert connection.execute(contract.renew_sql, values).rowcount == 1
        run = _run(store, claim)
    assert (run.renewals, run.longest_gap, run.clock_step) == (1, 42.0, 0.0)
