"""The search for broken histories can find something: faults put into the store on purpose are found."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from recall.domain.outcome import Settlement
from recall.domain.run import RunResult
from recall.domain.task import TaskRef, TaskState
from recall.store import claims, moves, reading, runs
from recall.store.moves import IllegalMove
from recall.store.transaction import Transaction
from tests.engine.histories import Histories

_SEARCH = settings(
    settings.get_profile("ci"),
    max_examples=100,
    phases=[Phase.generate],
    report_multiple_bugs=False,
    print_blob=False,
)
_UNLOCK = """
UPDATE tasks SET unmet = max(unmet - 1, 0) WHERE (region, id) IN
  (SELECT region, task FROM task_prerequisites WHERE needs_region = :region AND needs_task = :id)
"""
_LONG_ENDED = """
SELECT r.id FROM runs r JOIN tasks t ON t.region = r.region AND t.id = r.task
WHERE t.status = 'in_progress' AND r.state = 'ended' AND r.ended_at + 20 <= :now
"""


class Undefended(Histories):
    """The database's own last line of defence is off, so that what is found is found by looking."""

    def __init__(self) -> None:
        super().__init__()
        with closing(sqlite3.connect(self.folder / "recall.db", isolation_level=None)) as connection:
            connection.execute("DROP INDEX runs_open")
            connection.execute("CREATE INDEX runs_open ON runs (region, task) WHERE state <> 'settled'")


def _found(machine: type[Histories] = Histories) -> BaseException:
    """Search until a history breaks something; gives what it broke."""
    with pytest.raises(Exception) as caught:
        run_state_machine_as_test(machine, settings=_SEARCH)
    return caught.value


def test_without_a_fault_nothing_is_found() -> None:
    run_state_machine_as_test(Undefended, settings=settings(_SEARCH, max_examples=15))


def test_a_store_that_does_not_check_the_fence() -> None:
    def anybody(*_: object) -> None:
        return None

    with patch("recall.store.runs._refusal", anybody):
        error = _found()
    assert isinstance(error, AssertionError | IllegalMove), repr(error)


def test_dependants_that_are_unlocked_before_the_landing() -> None:
    enqueue: Callable[..., Any] = runs.enqueue

    def unlocking(tx: Transaction, run_id: int, *rest: Any) -> Any:
        queued = enqueue(tx, run_id, *rest)
        run = reading.run(tx, run_id)
        assert run is not None
        if isinstance(queued, int):
            tx.change(_UNLOCK, run.ref._asdict())
        return queued

    counted: str = vars(moves)["_DEPENDANTS"]
    with (
        patch("recall.store.runs.enqueue", unlocking),
        patch("recall.store.moves._DEPENDANTS", counted.replace("unmet + :by", "max(unmet + :by, 0)")),
        # the counter itself is not looked at: what is to be found is a task that starts too early
        patch.object(Histories, "_the_store_is_consistent", _look_away),
    ):
        error = _found()
    assert "was claimed before" in str(error), repr(error)


def _look_away(_: Histories) -> None:
    return


def test_a_claim_that_decides_by_what_it_read_before() -> None:
    conditions = "AND status = 'todo' AND unmet = 0 AND is_group = 0"
    statement: str = vars(claims)["_CLAIM"]
    assert conditions in statement
    with patch("recall.store.claims._CLAIM", statement.replace(conditions, "")):
        error = _found(Undefended)
    assert isinstance(error, AssertionError), repr(error)


def test_a_store_that_takes_ended_runs_back() -> None:
    recycle = claims.recycle

    def greedy(tx: Transaction) -> list[TaskRef]:
        taken = recycle(tx)
        for row in tx.all(_LONG_ENDED, {"now": tx.now.wall}):
            run = reading.run(tx, row["id"])
            assert run is not None
            runs.close(tx, run, Settlement(RunResult.LEASE_LOST, "ended long ago", TaskState.TODO))
        return taken

    with patch("recall.store.claims.recycle", greedy):
        error = _found()
    assert "had ended, and expired" in str(error), repr(error)
