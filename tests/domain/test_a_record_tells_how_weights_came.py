"""An agent's record: told again from its runs, by task type."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from recall.domain.agent import Agent, AgentSpec, Weight
from recall.domain.record import records
from recall.domain.run import Run, RunResult, RunState
from recall.domain.task import TaskRef
from recall.store import SqliteStore
from tests.support.builders import ended, import_specs, make_store, ref, settlement, spec

_TYPES = {ref("T-1"): "web"}


def run(number: int, result: RunResult | None, task: str = "T-1", agent: str = "amy") -> Run:
    state = RunState.SETTLED if result else RunState.RUNNING
    return Run(number, "main", task, agent, "o", 1, number, state, result, settled_at=float(number))


@pytest.fixture
def store(tmp_path: Path) -> Generator[SqliteStore]:
    with make_store(tmp_path) as store:
        import_specs(store, *(spec(f"T-{number}") for number in range(1, 9)))
        store.sync_agents([AgentSpec("amy")])
        yield store


def test_a_record_counts_what_said_something_of_ability() -> None:
    results = [RunResult.FAILED, RunResult.RATE_LIMITED, RunResult.LANDED, RunResult.LANDED, None]
    agent = Agent("amy", weights={"web": Weight(0.9, 2, 1)})
    (web,) = records(agent, [run(number, result) for number, result in enumerate(results, 1)], _TYPES)
    assert (web.type, web.runs, web.counted, web.landed) == ("web", 4, 3, 2)
    assert web.success == pytest.approx(2 / 3)
    assert web.weights == (0.5, 0.3, 0.6, 0.9)
    assert web.results[0] == (RunResult.LANDED, 2)


def test_the_weight_in_force_has_the_last_word() -> None:
    agent = Agent("amy", weights={"web": Weight(0.1)})
    (web,) = records(agent, [run(1, RunResult.LANDED)], _TYPES)
    assert web.weights == (0.5, 0.8, 0.1)


def test_the_runs_of_others_and_of_other_types_are_kept_apart() -> None:
    runs = [run(1, RunResult.LANDED, agent="ben"), run(2, RunResult.FAILED, "T-2"), run(3, RunResult.FAILED)]
    found = {record.type: record.runs for record in records(Agent("amy"), runs, _TYPES)}
    assert found == {"web": 1, "general": 1}


def test_without_a_run_there_is_no_share() -> None:
    (web,) = records(Agent("amy", weights={"web": Weight(0.5)}), [], _TYPES)
    assert (web.runs, web.success, web.weights) == (0, None, (0.5,))


@pytest.mark.parametrize("results", [[RunResult.FAILED] * 4, [RunResult.FAILED, RunResult.TIMED_OUT]], ids=len)
def test_the_path_ends_where_the_store_is(store: SqliteStore, results: list[RunResult]) -> None:
    for number, result in enumerate(results, 1):
        claim = ended(store, f"T-{number}")
        assert (
            store.settle_run(claim.run_id, claim.owner, claim.version, settlement(result), actor="dispatcher") is None
        )
    agent = next(agent for agent in store.agents() if agent.weights)
    types: dict[TaskRef, str] = {task.ref: task.type for task in store.tasks()}
    (record,) = records(agent, store.runs(), types)
    assert len(record.weights) == len(results) + 1
    assert record.weight == agent.weight("general").value
