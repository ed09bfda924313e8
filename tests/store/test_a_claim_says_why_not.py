"""What a claim respects, and the one reason it gives."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from recall.domain.agent import AgentSpec
from recall.domain.run import Claim, Refused, RunState
from recall.domain.task import TaskRef, TaskState
from recall.store import SqliteStore
from tests.support.builders import claimed, import_specs, landed, make_store, ref, spec


@pytest.fixture
def store(tmp_path: Path) -> Generator[SqliteStore, None, None]:
    with make_store(tmp_path) as store:
        import_specs(
            store,
            spec("T-1"),
            spec("T-2", "T-1", "T-3"),
            spec("T-3", agents=["bob", "cat"]),
            spec("T-4", type_="docs", status=TaskState.ON_HOLD),
            spec("G-1", is_group=True),
            spec("G-1.1", parent="G-1", type_="docs"),
        )
        store.sync_agents(
            [AgentSpec("amy"), AgentSpec("bob", enabled=False), AgentSpec("cat", types=("docs",), parallel=2)]
        )
        yield store


@pytest.mark.parametrize(
    ("id_", "agent", "reason"),
    [
        ("T-9", "amy", "there is no task T-9"),
        ("T-2", "amy", "T-2 waits for T-1, T-3"),
        ("T-3", "amy", "T-3 is for bob, cat only"),
        ("T-4", "amy", "T-4 is on_hold"),
        ("G-1", "amy", "G-1 is a group: done when its sub-tasks are"),
        ("T-1", "bob", "bob is disabled in recall.toml"),
        ("T-1", "cat", "cat takes docs only, T-1 is general"),
        ("T-1", "zoe", "there is no agent zoe: add it to recall.toml"),
    ],
)
def test_one_reason_is_given(store: SqliteStore, id_: str, agent: str, reason: str) -> None:
    seq = store.last_seq()
    assert store.claim(ref(id_), agent, "owner", 10.0) == Refused(reason)
    assert store.last_seq() == seq
    assert store.open_runs() == []


def test_a_paused_agent_gets_nothing_until_it_is_resumed(store: SqliteStore) -> None:
    assert store.pause_agent("amy", actor="person", reason="lunch") is None
    assert store.claim(ref("T-1"), "amy", "amy-1", 10.0) == Refused("amy is paused: lunch")
    assert store.claim_next("amy", "amy-1", 10.0) is None
    assert isinstance(store.pause_agent("amy", actor="person"), Refused)
    assert store.resume_agent("amy", actor="person") is None
    assert isinstance(store.resume_agent("amy", actor="person"), Refused)
    assert isinstance(store.claim(ref("T-1"), "amy", "amy-1", 10.0), Claim)


def test_an_agent_that_a_person_drives_makes_itself_known(store: SqliteStore) -> None:
    claim = store.claim(ref("T-1"), "zoe", "zoe-1", 10.0, why="asked", pulled=True)
    assert isinstance(claim, Claim)
    run = store.run(claim.run_id)
    assert run is not None
    assert (run.state, run.agent, run.why, run.number) == (RunState.PULLED, "zoe", "asked", 1)
    store.sync_agents([AgentSpec("amy")])
    zoe = next(agent for agent in store.agents() if agent.name == "zoe")
    assert (zoe.enabled, zoe.running) == (True, 1)
    [event] = [event for event in store.events_since(0) if event.kind == "task.claimed"]
    assert (event.actor, event.agent, event.before, event.after) == ("agent zoe", "zoe", "todo", "in_progress")


def test_an_agent_that_left_the_configuration_is_disabled_and_keeps_its_record(store: SqliteStore) -> None:
    landed(store, "T-1")
    store.sync_agents([AgentSpec("cat")])
    amy = next(agent for agent in store.agents() if agent.name == "amy")
    assert (amy.enabled, amy.weights["general"].value) == (False, 0.8)
    store.sync_agents([AgentSpec("amy"), AgentSpec("cat")])
    seq = store.last_seq()
    store.sync_agents([AgentSpec("amy"), AgentSpec("cat")])
    assert store.last_seq() == seq
    assert next(agent for agent in store.agents() if agent.name == "amy").enabled


def test_the_next_task_is_the_most_urgent_one(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        import_specs(
            store,
            spec("LAST"),
            spec("CHAIN"),
            spec("CHAIN-2", "CHAIN"),
            spec("SHORT"),
            spec("SHORT-2", "SHORT"),
            spec("CHAIN-3", "CHAIN-2"),
            spec("FIRST", priority=5),
        )
        taken = list[str]()
        while claim := store.claim_next("amy", f"amy-{len(taken)}", 10.0):
            taken.append(claim.ref.id)
        assert taken == ["FIRST", "CHAIN", "SHORT", "LAST"]


def test_the_next_task_is_one_that_this_agent_may_take(store: SqliteStore) -> None:
    claim = store.claim_next("cat", "cat-1", 10.0, pulled=False)
    assert claim is not None
    assert claim.ref == ref("G-1.1")
    assert store.claim_next("cat", "cat-2", 10.0, pulled=False) is None
    assert store.claim_next("zoe", "zoe-1", 10.0, pulled=False) is None


def test_the_next_task_touches_nothing_that_a_running_one_touches(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        import_specs(
            store,
            spec("T-1", touches=["src/*.py"]),
            spec("T-2", touches=["src/a.py"], priority=1),
            *(spec(f"B-{number}", touches=["src/b.py"], priority=1) for number in range(30)),
            spec("T-3", touches=["docs/*.md"]),
        )
        claimed(store, "T-1")
        claim = store.claim_next("amy", "amy-2", 10.0)
        assert claim is not None
        assert claim.ref == ref("T-3")


def test_regions_share_one_queue(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        import_specs(store, spec("T-1"))
        import_specs(store, spec("T-1", "main:T-1"), spec("T-2", priority=1), region="web")
        first = store.claim_next("amy", "amy-1", 10.0)
        second = store.claim_next("amy", "amy-2", 10.0)
        assert first is not None
        assert second is not None
        assert (first.ref, second.ref) == (TaskRef("web", "T-2"), ref("T-1"))
        assert store.claim(TaskRef("web", "T-1"), "amy", "amy-3", 10.0) == Refused("web:T-1 waits for T-1")
