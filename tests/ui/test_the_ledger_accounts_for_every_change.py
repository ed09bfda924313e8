"""The ledger knows what the store knows, whoever wrote it, and however much happened in between."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recall.config.settings import AgentSettings, Settings
from recall.domain.agent import AgentSpec
from recall.domain.run import RunResult
from recall.domain.task import TaskState
from recall.store import SqliteStore
from recall.ui.ledger import Ledger
from tests.support.builders import import_specs, landed, make_store, queued, ref, settlement, spec, started
from tests.support.clock import FakeClock


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with make_store(tmp_path) as made:
        made.sync_agents([AgentSpec("amy")])
        import_specs(made, spec("T-1"), spec("T-2", "T-1"), spec("T-3"))
        yield made


@pytest.fixture
def ledger(store: SqliteStore) -> Ledger:
    settings = Settings(Path("recall.toml"), "main", "true", agents=(AgentSettings("amy", ("true",)),))
    return Ledger(store, settings, FakeClock(), "shop")


def _states(ledger: Ledger) -> dict[str, TaskState]:
    return {task.id: task.state for task in ledger.refresh(dispatcher=True).overview.tasks}


def test_a_change_made_through_another_store_is_seen(tmp_path: Path, ledger: Ledger) -> None:
    assert _states(ledger)["T-3"] is TaskState.TODO
    with make_store(tmp_path) as other:
        other.hold(ref("T-3"), actor="cli")
    assert _states(ledger)["T-3"] is TaskState.ON_HOLD


def test_a_landing_unlocks_what_waited_for_it(store: SqliteStore, ledger: Ledger) -> None:
    before = {task.id: task.unmet for task in ledger.refresh(dispatcher=True).overview.tasks}
    assert before["T-2"] == 1
    landed(store, "T-1")
    after = {task.id: task.unmet for task in ledger.refresh(dispatcher=True).overview.tasks}
    assert after["T-2"] == 0


def test_more_events_than_one_page_are_all_accounted_for(store: SqliteStore, ledger: Ledger) -> None:
    ledger.refresh(dispatcher=True)
    for number in range(1100):
        store.note("test.noise", actor="test", reason=str(number))
    store.hold(ref("T-3"), actor="cli")
    seen = ledger.refresh(dispatcher=True)
    assert seen.seq == store.last_seq()
    assert {task.id: task.state for task in seen.overview.tasks}["T-3"] is TaskState.ON_HOLD


def test_a_newly_imported_task_is_there(store: SqliteStore, ledger: Ledger) -> None:
    ledger.refresh(dispatcher=True)
    import_specs(store, spec("T-1"), spec("T-2", "T-1"), spec("T-3"), spec("T-4"))
    assert "T-4" in _states(ledger)


def test_the_newest_run_of_a_task_is_known_after_it_was_settled(store: SqliteStore, ledger: Ledger) -> None:
    assert ledger.refresh(dispatcher=True).latest == {}
    claim = started(store, "T-1")
    assert ledger.refresh(dispatcher=True).latest[ref("T-1")].id == claim.run_id
    store.end_run(claim.run_id, claim.owner, claim.version)
    store.settle_run(claim.run_id, claim.owner, claim.version, settlement(RunResult.FAILED, "no"), actor="dispatcher")
    latest = ledger.refresh(dispatcher=True).latest[ref("T-1")]
    assert (latest.id, latest.result) == (claim.run_id, RunResult.FAILED)
    store.requeue(ref("T-1"), actor="cli")
    again = started(store, "T-1")
    assert ledger.refresh(dispatcher=True).latest[ref("T-1")].id == again.run_id


def test_a_ledger_that_starts_late_knows_the_runs_of_before(store: SqliteStore, ledger: Ledger) -> None:
    claim = landed(store, "T-1")
    assert ledger.refresh(dispatcher=True).latest[ref("T-1")].id == claim.run_id


def test_a_ledger_that_starts_late_knows_how_long_verifications_took(tmp_path: Path) -> None:
    clock = FakeClock()
    with make_store(tmp_path / "timed", clock) as store:
        store.sync_agents([AgentSpec("amy")])
        import_specs(store, spec("T-1"))
        _, merge_id = queued(store, "T-1")
        store.merge_verifying(merge_id, candidate="f" * 40, onto="e" * 40)
        clock.advance(42.0)
        store.merge_intend(merge_id, old="e" * 40, new="f" * 40)
        settings = Settings(Path("recall.toml"), "main", "true", agents=(AgentSettings("amy", ("true",)),))
        assert Ledger(store, settings, clock, "shop").refresh(dispatcher=True).typical == 42.0
