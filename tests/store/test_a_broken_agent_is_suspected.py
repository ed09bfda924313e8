"""An agent that fails at once on task after task is held, and what that cost is given back."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from recall.domain.agent import Agent, AgentSpec
from recall.domain.progress import standing
from recall.domain.run import Refused
from recall.domain.task import Task, TaskState
from recall.store import SqliteStore
from tests.support.builders import failed, import_specs, landed, make_store, ref, spec
from tests.support.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(tmp_path: Path, clock: FakeClock) -> Generator[SqliteStore]:
    with make_store(tmp_path, clock) as store:
        store.sync_agents([AgentSpec("amy", parallel=9), AgentSpec("bob", parallel=9)])
        import_specs(store, *(spec(f"T-{number}", attempts=1 if number == 1 else 3) for number in range(1, 8)))
        yield store


def look(store: SqliteStore, id_: str) -> Task:
    task = store.task(ref(id_))
    assert task is not None
    return task


def agent(store: SqliteStore, name: str = "amy") -> Agent:
    return next(one for one in store.agents() if one.name == name)


def fail_on_three(store: SqliteStore) -> None:
    for id_ in ("T-1", "T-2", "T-3"):
        failed(store, id_)


def test_three_tasks_in_a_row_hold_it_and_cost_nothing(store: SqliteStore, clock: FakeClock) -> None:
    fail_on_three(store)
    tasks = [look(store, id_) for id_ in ("T-1", "T-2", "T-3")]
    assert [(task.state, task.attempts) for task in tasks] == [(TaskState.TODO, 0)] * 3
    weight = agent(store).weight("general")
    assert (weight.value, weight.failed) == (0.5, 0)
    assert agent(store).cooling_until == clock.wall + 300
    assert isinstance(store.claim(ref("T-4"), "amy", "amy-x", 10.0), Refused)
    (line,) = standing(store.tasks(), store.agents(), [], []).waits
    assert "T-1, T-2, T-3" in line
    assert "exit code 127" in line
    assert "`recall resume amy`" in line
    assert store.check() == []


def test_it_is_the_agent_alone_that_waits(store: SqliteStore) -> None:
    fail_on_three(store)
    assert agent(store, "bob").cooling_until is None


def test_each_pause_in_a_row_is_longer_and_one_failure_is_enough(store: SqliteStore, clock: FakeClock) -> None:
    fail_on_three(store)
    for pause in (600, 1200):
        clock.advance(pause / 2)
        failed(store, "T-4")
        assert agent(store).cooling_until == clock.wall + pause
    assert look(store, "T-4").attempts == 0


def test_one_task_that_nobody_can_do_raises_no_suspicion(store: SqliteStore) -> None:
    for _ in range(2):
        failed(store, "T-2")
    failed(store, "T-3")
    assert agent(store).suspicions == 0
    assert look(store, "T-2").attempts == 2


def test_every_failure_of_the_row_is_given_back(store: SqliteStore) -> None:
    for id_ in ("T-2", "T-2", "T-3", "T-2", "T-4"):
        failed(store, id_)
    assert agent(store).suspicions == 1
    assert [look(store, id_).attempts for id_ in ("T-2", "T-3", "T-4")] == [0, 0, 0]
    assert look(store, "T-2").state is TaskState.TODO, "its three attempts had called a person"
    assert agent(store).weight("general").failed == 0
    assert store.check() == []


@pytest.mark.parametrize("between", ["slow", "landed"])
def test_a_real_try_in_between_ends_the_row(store: SqliteStore, between: str) -> None:
    failed(store, "T-2")
    failed(store, "T-3")
    if between == "slow":
        failed(store, "T-4", quick=False)
    else:
        landed(store, "T-4")
    failed(store, "T-5")
    assert agent(store).suspicions == 0
    assert look(store, "T-5").attempts == 1


def test_a_person_clears_it(store: SqliteStore, clock: FakeClock) -> None:
    fail_on_three(store)
    clock.advance(301)
    assert store.resume_agent("amy", actor="person") is None
    assert standing(store.tasks(), store.agents(), [], []).waits == ()
    failed(store, "T-4")
    assert agent(store).suspicions == 0
