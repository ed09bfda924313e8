"""The workspace of a run that ended at a limit waits for its agent; others may take the task later."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from recall.domain.agent import AgentSpec
from recall.domain.run import Claim, Refused, RunResult
from recall.domain.task import Task
from recall.store import SqliteStore
from tests.support.builders import ended, import_specs, make_store, ref, settlement, spec
from tests.support.clock import FakeClock

AFTER = 3600.0


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(tmp_path: Path, clock: FakeClock) -> Generator[SqliteStore]:
    with make_store(tmp_path, clock) as store:
        store.sync_agents([AgentSpec("amy", account="team"), AgentSpec("bob")])
        import_specs(store, spec("T-1"), spec("T-2"))
        yield store


def limited(store: SqliteStore, clock: FakeClock, result: RunResult = RunResult.RATE_LIMITED) -> int:
    claim = ended(store, "T-1")
    end = settlement(result, "limit", now=clock.wall, failover_after=AFTER)
    assert store.settle_run(claim.run_id, claim.owner, claim.version, end, actor="dispatcher") is None
    return claim.run_id


def task(store: SqliteStore) -> Task:
    found = store.task(ref("T-1"))
    assert found is not None
    return found


def claim(store: SqliteStore, agent: str, *, pulled: bool = False) -> Claim | Refused:
    return store.claim(ref("T-1"), agent, f"{agent}-{store.last_seq()}", 1000.0, pulled=pulled)


def test_its_agent_goes_on_and_others_wait_until_fail_over(store: SqliteStore, clock: FakeClock) -> None:
    run_id = limited(store, clock)
    assert [run.id for run in store.kept_runs()] == [run_id]
    refused = claim(store, "bob")
    assert isinstance(refused, Refused)
    assert "waits for amy, whose work on it is kept" in refused.reason
    found = store.claim_next("bob", "bob-1", 10.0, pulled=False)
    assert found is not None
    assert found.ref == ref("T-2")
    store.lift_cooldown("amy", actor="person")
    won = claim(store, "amy")
    assert isinstance(won, Claim)
    run = store.run(won.run_id)
    assert run is not None
    assert run.continues == run_id


def test_it_is_kept_until_the_run_that_goes_on_is_started(store: SqliteStore, clock: FakeClock) -> None:
    run_id = limited(store, clock)
    store.lift_cooldown("amy", actor="person")
    won = claim(store, "amy")
    assert isinstance(won, Claim)
    store.end_lost_run(won.run_id, reason="killed")
    assert task(store).kept_run == run_id
    again = claim(store, "amy")
    assert isinstance(again, Claim)
    assert store.start_run(again.run_id, again.owner, again.version, branch="b", base="c" * 40, slot="s1") is None
    assert task(store).kept_run is None


def test_after_fail_over_another_agent_starts_afresh(store: SqliteStore, clock: FakeClock) -> None:
    limited(store, clock)
    clock.advance(AFTER)
    won = claim(store, "bob")
    assert isinstance(won, Claim)
    run = store.run(won.run_id)
    assert run is not None
    assert run.continues is None


@pytest.mark.parametrize("way", ["requeue", "cancel", "pull"])
def test_what_nobody_goes_on_with_is_given_up(store: SqliteStore, clock: FakeClock, way: str) -> None:
    limited(store, clock)
    if way == "requeue":
        assert store.requeue(ref("T-1"), actor="person") is None
    elif way == "cancel":
        assert store.cancel(ref("T-1"), actor="person") is None
    else:
        clock.advance(AFTER)
        assert isinstance(claim(store, "bob", pulled=True), Claim)
    assert store.kept_runs() == []


def test_a_hold_keeps_it(store: SqliteStore, clock: FakeClock) -> None:
    run_id = limited(store, clock)
    assert store.hold(ref("T-1"), actor="person") is None
    assert store.unhold(ref("T-1"), actor="person") is None
    assert task(store).kept_run == run_id


@pytest.mark.parametrize("result", [RunResult.FAILED, RunResult.ORPHANED, RunResult.STALLED, RunResult.VERIFY_FAILED])
def test_other_ends_keep_nothing(store: SqliteStore, clock: FakeClock, result: RunResult) -> None:
    limited(store, clock, result)
    assert store.kept_runs() == []


def test_who_joins_an_account_shares_its_limit_and_the_end_of_it(store: SqliteStore, clock: FakeClock) -> None:
    limited(store, clock)
    store.sync_agents([AgentSpec("amy", account="team"), AgentSpec("bob", account="team"), AgentSpec("cat")])
    cooling = {agent.name: agent.cooling_until is not None for agent in store.agents()}
    assert cooling == {"amy": True, "bob": True, "cat": False}
    assert isinstance(claim(store, "bob"), Refused)
    assert store.resume_agent("bob", actor="person") is None
    assert all(agent.cooling_until is None for agent in store.agents())
