"""History pages: the newest events first, of all, of one task, of one agent, of one kind."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from recall.domain.agent import AgentSpec
from recall.store import SqliteStore
from tests.support.builders import import_specs, make_store, ref, spec


@pytest.fixture
def store(tmp_path: Path) -> Generator[SqliteStore]:
    with make_store(tmp_path) as store:
        import_specs(store, spec("T-1"), spec("T-2"))
        store.sync_agents([AgentSpec("amy"), AgentSpec("ben")])
        for number in range(5):
            store.pause_agent("amy", actor="person", reason=str(number))
            store.resume_agent("amy", actor="person")
        yield store


def test_pages_follow_each_other_without_gap_or_double(store: SqliteStore) -> None:
    every = [event.seq for event in store.events_since(0)]
    found: list[int] = []
    before = None
    while page := store.events_back(before, 4):
        found += [event.seq for event in page]
        before = page[-1].seq
    assert found == every[::-1]


def test_one_task_one_agent_one_kind(store: SqliteStore) -> None:
    assert {event.task for event in store.events_back(ref=ref("T-1"))} == {"T-1"}
    assert store.events_back(ref=ref("T-1", "web")) == []
    assert {event.agent for event in store.events_back(agent="ben")} == {"ben"}
    paused = store.events_back(agent="amy", kind="agent.paused")
    assert [event.reason for event in paused] == ["4", "3", "2", "1", "0"]
    assert store.events_back(agent="ben", kind="agent.paused") == []
