"""Scheduling decisions: order, choice of agent, hand-over, exploration, files, and the words for all of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.domain.agent import Agent, Weight
from recall.domain.globs import overlapping
from recall.domain.schedule import decide, score, why_agent, why_task
from recall.domain.snapshot import Assign, Snapshot
from recall.domain.task import DoneBy, Task, TaskRef, TaskState
from recall.domain.words import moment

NOW = 1_800_000_000.0


@dataclass
class Dice:
    """Chance that a test decides."""

    rolls: list[float] = field(default_factory=list[float])

    def random(self) -> float:
        return self.rolls.pop(0) if self.rolls else 0.99

    def token(self, length: int = 8) -> str:
        return "0" * length


def ref(id_: str) -> TaskRef:
    return TaskRef("main", id_)


def task(id_: str, **changes: object) -> Task:
    plain = Task(
        region="main",
        id=id_,
        title=id_,
        body="",
        type="general",
        priority=0,
        position=0,
        state=TaskState.TODO,
        reason="",
        changed_at=0.0,
    )
    return replace(plain, **changes)  # pyright: ignore[reportArgumentType]  # keyword builder


def given_out(snapshot: Snapshot, explore: float = 0.0, rolls: Iterable[float] = ()) -> dict[str, str]:
    return {a.ref.id: a.agent for a in decide(snapshot, explore=explore, rng=Dice(list(rolls)))}


def only(snapshot: Snapshot, explore: float = 0.0, rolls: Iterable[float] = ()) -> Assign:
    (assign,) = decide(snapshot, explore=explore, rng=Dice(list(rolls)))
    return assign


def test_priority_then_the_longest_chain_behind_then_the_order_in_the_file() -> None:
    ready = (
        task("T-1", position=1),
        task("T-2", position=2),
        task("T-3", position=3),
        task("T-4", position=4, priority=5),
    )
    agents = (Agent("a", parallel=9),)
    snapshot = Snapshot(NOW, ready, agents=agents, behind={ref("T-2"): 1, ref("T-3"): 4})
    assert [a.ref.id for a in decide(snapshot, explore=0, rng=Dice())] == ["T-4", "T-3", "T-2", "T-1"]


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (Agent("a", enabled=False), "disabled"),
        (Agent("a", paused=True, paused_reason="lunch"), "paused: lunch"),
        (
            Agent("a", cooling_until=NOW + 60, cooling_reason="usage limit"),
            f"cooling until {moment(NOW + 60, NOW)}: usage",
        ),
        (Agent("a", stopped_reason="out of credit"), "stopped until a person acts: out of credit"),
        (Agent("a", running=2, parallel=2), "busy: runs 2 of 2"),
        (Agent("a", types=("docs",)), "no ready task is for it"),
    ],
)
def test_an_agent_that_may_not_start_gets_nothing_and_says_why(agent: Agent, words: str) -> None:
    snapshot = Snapshot(NOW, (task("T-1"),), agents=(agent,))
    assert given_out(snapshot) == {}
    assert words in why_agent(agent, snapshot)
    assert "no agent can take it: a " in why_task(snapshot.ready[0], snapshot)


def test_a_cooldown_that_is_over_holds_nobody() -> None:
    assert given_out(Snapshot(NOW, (task("T-1"),), agents=(Agent("a", cooling_until=NOW),))) == {"T-1": "a"}


def test_a_task_goes_only_to_the_agents_it_names() -> None:
    snapshot = Snapshot(NOW, (task("T-1", agents=("b",)),), agents=(Agent("a"), Agent("b")))
    assert given_out(snapshot) == {"T-1": "b"}


def test_an_agent_takes_no_more_than_it_may_run_at_once() -> None:
    ready = tuple(task(f"T-{n}", position=n) for n in range(5))
    assert len(given_out(Snapshot(NOW, ready, agents=(Agent("a", parallel=3, running=1),)))) == 2


def test_the_higher_weight_for_the_type_wins_and_is_named() -> None:
    agents = (
        Agent("codex", weights={"backend": Weight(0.5), "docs": Weight(1.0, 9, 0)}),
        Agent("claude", weights={"backend": Weight(0.8, 1, 0)}),
    )
    assign = only(Snapshot(NOW, (task("T-1", type="backend"),), agents=agents))
    assert (assign.agent, assign.reason) == ("claude", "claude: highest weight 0.80 for backend")


@pytest.mark.parametrize("weight", [0.4, 0.7, 1.0])
def test_seventeen_of_twenty_beat_one_of_one(weight: float) -> None:
    long, short = Weight(weight, 17, 3), Weight(0.8, 1, 0)
    assert score(long) > score(short)
    agents = (Agent("new", weights={"general": short}), Agent("old", weights={"general": long}))
    assign = only(Snapshot(NOW, (task("T-1"),), agents=agents))
    assert assign.agent == "old"
    assert ("17 of 20 landed" in assign.reason) == (weight < 0.8)


def test_an_agent_that_nobody_has_tried_beats_one_that_fails() -> None:
    assert score(Weight()) == 0.5
    assert score(Weight(0.3, 0, 1)) < 0.5 < score(Weight(0.8, 1, 0))


def test_equals_share_the_work() -> None:
    agents = (Agent("a", parallel=2), Agent("b", parallel=2))
    ready = (task("T-1", position=1), task("T-2", position=2))
    assert given_out(Snapshot(NOW, ready, agents=agents)) == {"T-1": "a", "T-2": "b"}


def test_a_stated_share_of_the_choices_goes_to_others() -> None:
    agents = (Agent("best", weights={"general": Weight(1.0, 9, 0)}), Agent("a"), Agent("b"))
    snapshot = Snapshot(NOW, (task("T-1"),), agents=agents)
    assert only(snapshot, 0.1, [0.11]).agent == "best"
    tried = only(snapshot, 0.1, [0.09, 0.6])
    assert (tried.agent, tried.reason) == ("b", "b: tried out, a share of 0.10 goes to others than best")
    assert only(snapshot, 0.1, [0.09, 0.0]).agent == "a"


def test_work_is_handed_over_to_an_agent_that_did_none_of_the_prerequisites() -> None:
    agents = (Agent("codex", weights={"general": Weight(1.0, 9, 0)}), Agent("claude"), Agent("gemini"))
    ready = (task("T-2", prerequisites=(ref("T-1"),)),)
    assign = only(Snapshot(NOW, ready, agents=agents, done_by_agent={ref("T-1"): "codex"}))
    assert assign.agent == "claude"
    assert assign.reason.endswith("codex did T-1, so handed over")


def test_two_agents_that_would_both_yield_do_not_wait_for_each_other() -> None:
    ready = (task("T-3", prerequisites=(ref("T-1"), ref("T-2"))),)
    did = {ref("T-1"): "a", ref("T-2"): "b"}
    assign = only(Snapshot(NOW, ready, agents=(Agent("a"), Agent("b")), done_by_agent=did))
    assert assign.reason.startswith("a: ")
    assert assign.reason.endswith("did T-1 itself, and nobody else is free for it")


def test_a_task_waits_for_the_files_that_a_running_task_touches() -> None:
    running = (task("T-1", touches=("src/api/**",), state=TaskState.IN_PROGRESS),)
    waiting, other = task("T-2", touches=("src/*/x.py",)), task("T-3", touches=("docs/**",), position=1)
    snapshot = Snapshot(NOW, (waiting, other), running, (Agent("a", parallel=5),))
    assert given_out(snapshot) == {"T-3": "a"}
    assert why_task(waiting, snapshot) == "waits for T-1, which touches src/api/** (this one src/*/x.py)"


def test_two_tasks_on_the_same_files_are_not_given_out_together() -> None:
    ready = (task("T-1", touches=("a",), position=1), task("T-2", touches=("a/b",), position=2))
    snapshot = Snapshot(NOW, ready, agents=(Agent("a"), Agent("b")))
    assert given_out(snapshot) == {"T-1": "a"}
    assert why_task(ready[1], snapshot) == "waits for T-1, which touches a (this one a/b)"
    assert why_agent(snapshot.agents[1], snapshot) == "free; T-2 waits for T-1, which touches a (this one a/b)"


def test_a_held_back_task_waits_for_its_time() -> None:
    held = task("T-1", retry_at=NOW + 30, reason="attempt 1 failed")
    snapshot = Snapshot(NOW, (held,), agents=(Agent("a"),))
    assert given_out(snapshot) == {}
    assert why_task(held, snapshot) == f"held back until {moment(NOW + 30, NOW)}: attempt 1 failed"


def test_nothing_is_given_out_while_dispatch_is_paused() -> None:
    snapshot = Snapshot(NOW, (task("T-1"),), agents=(Agent("a"),), dispatching=False, paused_reason="main is red")
    assert given_out(snapshot) == {}
    assert why_task(snapshot.ready[0], snapshot).endswith("dispatch is paused: main is red")
    assert why_agent(snapshot.agents[0], snapshot).endswith("dispatch is paused: main is red")


def test_a_ready_task_names_who_takes_it_or_who_goes_first() -> None:
    ready = (task("T-1", position=1), task("T-2", position=2), task("T-3", position=3))
    snapshot = Snapshot(NOW, ready, agents=(Agent("a"), Agent("b", types=("docs",))))
    assert why_task(ready[0], snapshot) == "ready; next for a: the only free agent for it"
    assert why_task(ready[1], snapshot) == "ready; the free agents take T-1 first"
    assert why_agent(snapshot.agents[0], snapshot) == "free; starts T-1 next"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"state": TaskState.ON_HOLD, "reason": "by eva"}, "on hold: by eva"),
        ({"state": TaskState.LANDING}, "landing"),
        (
            {"state": TaskState.DONE, "done_by": DoneBy.LANDED, "done_commit": "0123456789abcdef"},
            "done (landed, 0123",
        ),
        ({"is_group": True}, "a group"),
        ({"unmet": 1, "prerequisites": (ref("T-1"),)}, "waits for T-1 (cancelled, so this can never run)"),
    ],
)
def test_a_task_that_is_not_ready_says_what_holds_it(changes: dict[str, object], words: str) -> None:
    others = [task("T-1", state=TaskState.CANCELLED), task("T-0", state=TaskState.DONE)]
    assert why_task(task("T-2", **changes), Snapshot(NOW), others).startswith(words)


NAMES = ["a", "b", "c"]
AGENTS = st.lists(
    st.builds(
        Agent,
        name=st.sampled_from(NAMES),
        enabled=st.sampled_from([True, True, True, False]),
        parallel=st.integers(0, 2),
        running=st.integers(0, 2),
        paused=st.sampled_from([False, False, True]),
        cooling_until=st.sampled_from([None, NOW - 1, NOW + 1]),
        types=st.sampled_from([(), (), ("x",), ("y",)]),
        weights=st.dictionaries(st.sampled_from("xy"), st.builds(Weight, st.floats(0, 1), st.integers(0, 9))),
    ),
    unique_by=lambda agent: agent.name,
    max_size=3,
).map(tuple)


@st.composite
def graphs(draw: st.DrawFn) -> Snapshot:
    """A random moment: done tasks by random agents, ready tasks behind them, some running on files."""
    done = [ref(f"D-{n}") for n in range(draw(st.integers(0, 4)))]
    files = st.sampled_from([(), (), ("s/a",), ("s/*",), ("d/**", "s/b")])
    ready = tuple(
        task(
            f"T-{n}",
            position=n,
            type=draw(st.sampled_from("xy")),
            priority=draw(st.integers(-1, 1)),
            prerequisites=tuple(draw(st.lists(st.sampled_from(done), unique=True)) if done else ()),
            agents=draw(st.sampled_from([(), (), ("a",), ("b", "c")])),
            touches=draw(files),
            retry_at=draw(st.sampled_from([None, NOW, NOW + 9])),
        )
        for n in range(draw(st.integers(0, 6)))
    )
    running = tuple(task(f"R-{n}", touches=draw(files)) for n in range(draw(st.integers(0, 2))))
    did = {one: draw(st.sampled_from(NAMES)) for one in done}
    return Snapshot(NOW, ready, running, draw(AGENTS), done_by_agent=did)


@given(graphs(), st.floats(0, 1), st.lists(st.floats(0, 1, exclude_max=True)))
def test_no_free_agent_is_left_beside_a_task_it_may_take(
    snapshot: Snapshot, explore: float, rolls: list[float]
) -> None:
    assigns = decide(snapshot, explore=explore, rng=Dice(rolls))
    tasks = {one.ref: one for one in snapshot.ready}
    agents = {agent.name: agent for agent in snapshot.agents}
    busy = list(snapshot.running)
    for assign in assigns:
        taken = tasks.pop(assign.ref)
        assert startable(agents[assign.agent], taken)
        assert not any(overlapping(taken.touches, other.touches) for other in busy)
        busy.append(taken)
        agents[assign.agent] = replace(agents[assign.agent], running=agents[assign.agent].running + 1)
        assert assign.reason.startswith(f"{assign.agent}: ")
    for left in tasks.values():
        if not any(overlapping(left.touches, other.touches) for other in busy):
            assert not any(startable(agent, left) for agent in agents.values())
    for one in snapshot.ready:
        assert why_task(one, snapshot)
    for agent in snapshot.agents:
        assert why_agent(agent, snapshot)


def startable(agent: Agent, one: Task) -> bool:
    cooling = agent.cooling_until is not None and agent.cooling_until > NOW
    allowed = (not one.agents or agent.name in one.agents) and (not agent.types or one.type in agent.types)
    due = one.retry_at is None or one.retry_at <= NOW
    return agent.enabled and not agent.paused and not cooling and agent.running < agent.parallel and allowed and due
