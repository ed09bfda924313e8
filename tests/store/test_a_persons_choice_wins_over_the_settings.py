"""Enabled or not, how many at once: what a person chose holds until it is reset, whatever recall.toml says."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from recall.domain.agent import Agent, AgentChoice, AgentSpec
from recall.domain.run import Claim, Refused
from recall.domain.schedule import decide
from recall.engine import interventions
from recall.store import SqliteStore
from tests.support.builders import FOREVER, SeededRng, import_specs, make_store, ref, spec

AMY = AgentSpec("amy", parallel=1)
OFF = AgentSpec("off", enabled=False)


@pytest.fixture
def store(tmp_path: Path) -> Generator[SqliteStore]:
    with make_store(tmp_path) as store:
        import_specs(store, *(spec(f"T-{number}") for number in range(1, 5)))
        store.sync_agents([AMY, OFF])
        yield store
        assert store.check() == []


def agent(store: SqliteStore, name: str = "amy") -> Agent:
    return next(one for one in store.agents() if one.name == name)


def given(store: SqliteStore) -> list[str]:
    return [assign.agent for assign in decide(store.snapshot(), explore=0.0, rng=SeededRng())]


def test_a_disabled_agent_gets_nothing_and_an_enabled_one_does(store: SqliteStore) -> None:
    assert given(store) == ["amy"]
    assert interventions.choose_agent(store, "amy", actor="person", enabled=False) is None
    assert given(store) == []
    refused = store.claim(ref("T-1"), "amy", "amy-1", FOREVER)
    assert isinstance(refused, Refused)
    assert "amy is disabled by you" in refused.reason
    assert interventions.choose_agent(store, "off", actor="person", enabled=True) is None
    assert given(store) == ["off"]
    assert isinstance(store.claim(ref("T-1"), "off", "off-1", FOREVER), Claim)


def test_more_tasks_at_once(store: SqliteStore) -> None:
    interventions.choose_agent(store, "amy", actor="person", parallel=3)
    assert given(store) == ["amy", "amy", "amy"]


def test_a_choice_outlives_the_settings_and_a_reset_ends_it(store: SqliteStore) -> None:
    interventions.choose_agent(store, "amy", actor="person", parallel=3)
    interventions.choose_agent(store, "amy", actor="person", enabled=False)
    store.sync_agents([AgentSpec("amy", parallel=2), OFF])
    assert (agent(store).enabled, agent(store).parallel, agent(store).listed_parallel) == (False, 3, 2)
    assert interventions.reset_agent(store, "amy", actor="person") is None
    assert (agent(store).enabled, agent(store).parallel) == (True, 2)


def test_each_choice_is_one_event_with_before_and_after(store: SqliteStore) -> None:
    interventions.choose_agent(store, "amy", actor="person", parallel=3)
    interventions.choose_agent(store, "amy", actor="cli", enabled=False)
    interventions.reset_agent(store, "amy", actor="cli")
    found = [
        (event.actor, event.before, event.after) for event in store.events_since(0) if event.kind == "agent.chosen"
    ]
    assert found == [
        ("person", "as recall.toml says", "3 at once"),
        ("cli", "3 at once", "disabled, 3 at once"),
        ("cli", "disabled, 3 at once", "as recall.toml says"),
    ]


@pytest.mark.parametrize(
    ("name", "choice", "word"),
    [
        ("eve", AgentChoice(enabled=True), "no agent"),
        ("amy", AgentChoice(parallel=0), "give 1 or more"),
        ("amy", AgentChoice(), "already"),
    ],
)
def test_what_makes_no_sense_is_refused_and_leaves_no_event(
    store: SqliteStore, name: str, choice: AgentChoice, word: str
) -> None:
    seq = store.last_seq()
    refused = store.choose_agent(name, choice, actor="person")
    assert refused is not None
    assert word in refused.reason
    assert store.last_seq() == seq


def test_an_agent_that_left_the_settings_cannot_be_enabled_and_comes_back_without_its_choice(
    store: SqliteStore,
) -> None:
    interventions.choose_agent(store, "amy", actor="person", parallel=3)
    store.sync_agents([OFF])
    assert not agent(store).enabled
    refused = interventions.choose_agent(store, "amy", actor="person", enabled=True)
    assert refused is not None
    assert "not in recall.toml" in refused.reason
    store.sync_agents([AMY, OFF])
    assert (agent(store).enabled, agent(store).parallel) == (True, 1)


def test_a_weight_is_set_and_forgotten_with_an_event_each(store: SqliteStore) -> None:
    assert interventions.set_weight(store, "amy", "docs", 0.9, actor="cli") is None
    assert agent(store).weight("docs").value == 0.9
    assert interventions.forget_record(store, "amy", "docs", actor="cli") is None
    assert agent(store).weights == {}
    weighed = [event for event in store.events_since(0) if event.kind == "agent.weighed"]
    assert [(event.reason, event.before, event.after) for event in weighed] == [
        ("docs", "0.5", "0.9"),
        ("docs", "0.9", "0.5"),
    ]


@pytest.mark.parametrize(("name", "value"), [("nobody", 0.5), ("amy", 1.5), ("amy", -0.1), ("amy", None)])
def test_a_weight_that_makes_no_sense_is_refused(store: SqliteStore, name: str, value: float | None) -> None:
    assert isinstance(store.set_weight(name, "docs", value, actor="cli"), Refused)
    assert agent(store).weights == {}
