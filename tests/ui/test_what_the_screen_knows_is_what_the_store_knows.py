"""Main's mark, weights over time, a disk that is too full: shown as far as it is known, and no further."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from recall.config.settings import AgentSettings, Settings
from recall.domain.agent import AgentSpec
from recall.domain.merge import MAIN_OID, RED_MAIN
from recall.domain.run import RunResult
from recall.domain.task import Task
from recall.store import SqliteStore
from recall.ui.board_views import BoardView
from recall.ui.ledger import Ledger, Seen
from recall.ui.roll import Roll, task_key
from recall.ui.selection import Cursors, context_of
from recall.ui.view_models import need_rows
from tests.support.builders import import_specs, landed, make_store, queued, ref, settlement, spec, started
from tests.support.clock import FakeClock


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with make_store(tmp_path) as made:
        made.sync_agents([AgentSpec("amy")])
        import_specs(made, spec("T-1"), spec("T-2", "T-1"), spec("T-3"), spec("T-4"))
        yield made


def _ledger(store: SqliteStore, shortage: str = "") -> Ledger:
    settings = Settings(Path("recall.toml"), "main", "true", agents=(AgentSettings("amy", ("true",)),))
    return Ledger(store, settings, FakeClock(), "shop", lambda: shortage)


def _look(ledger: Ledger) -> Seen:
    return ledger.refresh(dispatcher=True)


# -- main ----------------------------------------------------------------------------------------------------------
def test_main_is_green_where_something_landed_and_unknown_elsewhere(store: SqliteStore) -> None:
    ledger = _ledger(store)
    assert _look(ledger).green is None
    landed(store, "T-1")
    assert _look(ledger).green is True
    store.put_setting(MAIN_OID, "e" * 40, actor="dispatcher")
    assert _look(ledger).green is None, "main moved behind our back"


def test_main_is_red_while_an_entry_waits_for_it_to_be_mended(store: SqliteStore) -> None:
    landed(store, "T-1")
    _, merge_id = queued(store, "T-3")
    store.merge_verifying(merge_id, candidate="f" * 40, onto="d" * 40)
    store.merge_requeue(merge_id, RED_MAIN)
    ledger = _ledger(store)
    assert _look(ledger).green is False
    store.merge_verifying(merge_id, candidate="f" * 40, onto="d" * 40)
    assert _look(ledger).green is True


# -- weights -------------------------------------------------------------------------------------------------------
def _fail(store: SqliteStore, task: str) -> None:
    claim = started(store, task)
    store.end_run(claim.run_id, claim.owner, claim.version)
    failed = replace(settlement(RunResult.FAILED, "no"), weight=-0.2)
    store.settle_run(claim.run_id, claim.owner, claim.version, failed, actor="dispatcher")


def test_weights_of_the_past_end_in_the_weight_of_now(store: SqliteStore) -> None:
    ledger = _ledger(store)
    assert _look(ledger).weights == {}
    _fail(store, "T-1")
    seen = _look(ledger)
    (agent,) = seen.overview.agents
    (type_,) = agent.weights
    assert seen.weights == {("amy", type_): (0.5, 0.3)}
    assert agent.weights[type_].value == 0.3
    _fail(store, "T-3")
    assert _look(ledger).weights == {("amy", type_): (0.5, 0.3, 0.1)}
    assert _look(_ledger(store)).weights == {("amy", type_): (0.5, 0.3, 0.1)}, "a late start knows the same"


def test_a_past_that_does_not_lead_to_the_present_is_not_shown(store: SqliteStore) -> None:
    claim = started(store, "T-1")
    store.end_run(claim.run_id, claim.owner, claim.version)
    odd = replace(settlement(RunResult.FAILED, "no"), weight=-0.05)
    store.settle_run(claim.run_id, claim.owner, claim.version, odd, actor="dispatcher")
    assert _look(_ledger(store)).weights == {}


# -- disks ---------------------------------------------------------------------------------------------------------
def test_a_disk_that_is_too_full_needs_a_person_and_no_confirmation(store: SqliteStore) -> None:
    store.put_setting("trusted", "", actor="test")
    view = _look(_ledger(store, "less than 1 GiB is free")).overview
    assert view.dispatch_held
    only_disk = replace(view, dispatch_held="less than 1 GiB is free", shortage="less than 1 GiB is free")
    (row,) = need_rows(only_disk)
    assert (row.id, row.why, row.keys) == ("disk", "less than 1 GiB is free", ())


# -- the roll ------------------------------------------------------------------------------------------------------
def test_a_roll_brought_up_to_date_is_the_roll_made_anew(store: SqliteStore) -> None:
    roll = Roll.of(tuple(store.tasks()))
    for change in (
        lambda: store.hold(ref("T-3"), actor="cli"),
        lambda: store.prioritize(ref("T-4"), 3, actor="cli"),
        lambda: store.finish_manually(ref("T-1"), actor="cli", reason="by hand"),
        lambda: import_specs(store, spec("T-1"), spec("T-2"), spec("T-3", "T-2", title="Other"), spec("T-5")),
    ):
        change()
        tasks = tuple(store.tasks())
        roll, fresh = roll.after(tasks), Roll.of(tasks)
        assert (roll.tasks, roll.groups, roll.counts) == (fresh.tasks, fresh.groups, fresh.counts)
        assert (roll.shape.tree, roll.shape.texts) == (fresh.shape.tree, fresh.shape.texts)
    assert roll.after(tuple(store.tasks())).groups == roll.groups


def test_rows_of_before_do_not_change_with_the_roll(store: SqliteStore) -> None:
    before = tuple(store.tasks())
    roll = Roll.of(before)
    rows = BoardView(roll, 0.0).by_state()
    store.hold(ref("T-3"), actor="cli")
    roll.after(tuple(store.tasks()))
    assert next(row for row in rows if row.id == "T-3").state == "ready"


# -- what is selected ----------------------------------------------------------------------------------------------
def test_the_pane_in_focus_decides_what_is_selected(store: SqliteStore) -> None:
    _, merge_id = queued(store, "T-1")
    started(store, "T-3")
    seen = _look(_ledger(store))
    roll = Roll.of(seen.overview.tasks)
    cursors = Cursors("tasks", task_key(ref("T-4")), "agent:amy", f"merge:{merge_id}", "trust")

    def task_in(pane: str) -> Task | None:
        return context_of(seen, roll, replace(cursors, pane=pane)).task

    assert [task_in(pane) for pane in ("tasks", "log")] == [store.task(ref("T-4"))] * 2
    assert task_in("queue") == store.task(ref("T-1"))
    assert task_in("needs") is None, "what waits to be confirmed is no task"
    assert (found := task_in("agents")) is not None
    assert found.ref in {run.ref for run in seen.overview.runs}
