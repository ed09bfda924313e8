"""An agent that made itself known by claiming is no agent of recall.toml: it claims by itself, or not at all."""

from __future__ import annotations

from dataclasses import replace

from recall.domain.agent import Agent
from recall.domain.progress import standing
from recall.domain.schedule import decide, why_agent, why_task
from recall.domain.snapshot import Snapshot
from recall.domain.task import Task, TaskState
from tests.support.builders import SeededRng

READY = Task("main", "T-1", "T-1", "", "general", 0, 0, TaskState.TODO, "", 0.0)
ZOE = Agent("zoe", driven=True)
ALONE = Snapshot(0.0, ready=(READY,), agents=(ZOE,))


def test_it_is_given_nothing() -> None:
    assert decide(ALONE, explore=0.5, rng=SeededRng()) == []
    both = replace(ALONE, agents=(ZOE, Agent("ann")))
    assert [assign.agent for assign in decide(both, explore=0.5, rng=SeededRng())] == ["ann"]


def test_a_list_that_only_it_could_work_on_stands_still() -> None:
    found = standing([READY], [ZOE], [], [])
    assert not found.moving
    assert "no agent may take it" in found.waits[0]
    assert standing([READY], [ZOE, Agent("ann")], [], []).moving


def test_the_words_say_so() -> None:
    assert why_task(READY, ALONE) == "ready, but no agent can take it: none is configured"
    assert "free" in why_agent(ZOE, ALONE)
