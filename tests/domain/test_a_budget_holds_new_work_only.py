"""What a budget holds, and what it says."""

from __future__ import annotations

import time
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.domain.agent import Agent
from recall.domain.budget import Allowance, Allowances, Outlay, Spent, day_of, held_agents, within_budget
from recall.domain.schedule import decide, why_agent, why_task
from recall.domain.snapshot import Snapshot
from recall.domain.task import Task, TaskState
from tests.support.builders import SeededRng, ref

ANT, BEE = Agent("ant"), Agent("bee")
READY = tuple(
    Task("main", id_, "Title", "", "general", 0, place, TaskState.TODO, "", 0.0)
    for place, id_ in enumerate(("T-1", "T-2"))
)
TWO = Snapshot(1_000.0, ready=READY, agents=(ANT, BEE))


def given_out(snapshot: Snapshot) -> dict[str, str]:
    return {str(one.ref): one.agent for one in decide(snapshot, explore=0.0, rng=SeededRng())}


def test_an_agent_over_its_day_gets_nothing_and_the_other_goes_on() -> None:
    allowances = Allowances(agents={"ant": Allowance(usd=2.0)})
    held = within_budget(TWO, allowances, Outlay(today={"ant": Spent(2.5, 10)}))
    assert set(given_out(held).values()) == {"bee"}
    (ant, _) = held.agents
    assert why_agent(ant, held) == "today's budget is used up: $2.50 of $2.00; goes on at midnight"


def test_the_day_of_all_agents_holds_them_all() -> None:
    allowances = Allowances(day=Allowance(tokens=1000))
    held = within_budget(TWO, allowances, Outlay(today={"ant": Spent(0, 400), "gone": Spent(0, 700)}))
    assert given_out(held) == {}
    assert "1,100 of 1,000 tokens" in held.agents[1].over_budget
    assert "budget for all agents" in why_task(TWO.ready[0], held)


def test_a_task_that_cost_too_much_is_left_and_says_so() -> None:
    held = within_budget(TWO, Allowances(task=Allowance(usd=1.0)), Outlay(tasks={ref("T-1"): Spent(1.0, 5)}))
    assert set(given_out(held)) == {"T-2"}
    assert why_task(TWO.ready[0], held) == "its budget is used up: $1.00 of $1.00"


@given(st.floats(0, 100), st.floats(0, 100))
def test_without_a_limit_nothing_is_used_up(limit: float, spent: float) -> None:
    assert Allowance(usd=limit).used_up(Spent(spent)) == "" or (limit > 0 and spent >= limit)
    assert Allowance().used_up(Spent(spent, 10**9)) == ""


def test_nothing_is_marked_without_any_allowance() -> None:
    assert not Allowances(agents={"ant": Allowance()}).any
    assert held_agents([ANT], Allowances(), Outlay(today={"ant": Spent(1e6, 10**9)})) == (ANT,)


@pytest.mark.parametrize("zone", ["UTC", "Asia/Taipei", "America/New_York"])
def test_a_day_begins_at_local_midnight(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        begin = datetime.fromtimestamp(day_of(1_767_225_600.0 + 45_000)).astimezone()
        assert (begin.hour, begin.minute, begin.second) == (0, 0, 0)
        assert day_of(begin.timestamp()) == begin.timestamp()
    finally:
        monkeypatch.undo()
        time.tzset()
