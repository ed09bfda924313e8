"""Who is where in the office follows from the store: no app, no store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from recall.domain.agent import Agent
from recall.domain.merge import MergeEntry, MergeState
from recall.domain.overview import Overview
from recall.domain.run import Run, RunResult, RunState
from recall.domain.snapshot import Snapshot
from recall.domain.task import Task, TaskRef, TaskState
from recall.ui.context import Context
from recall.ui.details.office import card, office_heading
from recall.ui.ledger import Seen
from recall.ui.office import landed_since, office_of, past_of, shown_run
from recall.ui.roll import Roll
from recall_widgets.glyphs import Shown
from recall_widgets.office.people import Office, Place, Pose, Worker
from tests.widgets.stage import HOSTILE

NOW = 1_700_000_000.0


def _task(id_: str, state: TaskState = TaskState.TODO, *, since: float = 60.0) -> Task:
    return Task("main", id_, f"Task {id_}", "", "general", 0, 1, state, "", NOW - since)


def _run(
    id_: int, task: str, state: RunState = RunState.RUNNING, *, agent: str = "ant", result: RunResult | None = None
) -> Run:
    return Run(id_, "main", task, agent, "o", 1, 1, state, result, claimed_at=NOW - 200, started_at=NOW - 65)


def _entry(id_: int, task: str, state: MergeState = MergeState.VERIFYING, *, run_id: int = 1) -> MergeEntry:
    return MergeEntry(id_, "main", task, run_id, id_, state, "", "c" * 40, "b" * 40, changed_at=NOW - 30)


def _seen(
    *agents: Agent,
    tasks: tuple[Task, ...] = (),
    runs: tuple[Run, ...] = (),
    merges: tuple[MergeEntry, ...] = (),
    past: tuple[Run, ...] = (),
) -> Seen:
    """`runs` are open, `past` are settled; both make up each task's newest run."""
    snapshot = Snapshot(now=NOW, ready=(), running=(), agents=agents)
    view = Overview("shop", "main", "3f9c2ab", NOW, True, "", "", snapshot, tasks, agents, runs, merges)
    latest: Mapping[TaskRef, Run] = {run.ref: run for run in sorted((*past, *runs), key=lambda run: run.id)}
    return Seen(view, latest, green=True)


def _office(seen: Seen) -> Office:
    return office_of(seen, Roll.of(seen.overview.tasks), past_of(seen))


def _ant(seen: Seen) -> Worker:
    worker = _office(seen).worker("agent:ant")
    assert worker is not None
    return worker


ANT = Agent("ant")
NEEDY, SETTLED = (_task("T-1", TaskState.NEEDS_PERSON),), (_run(1, "T-1", RunState.SETTLED),)

PLACES = {
    "idle": (_seen(ANT), (Place.DESK, Pose.IDLE, "idle")),
    "running": (_seen(ANT, runs=(_run(1, "T-1"),)), (Place.DESK, Pose.TYPING, "at work")),
    "pulled": (_seen(ANT, runs=(_run(1, "T-1", RunState.PULLED),)), (Place.DESK, Pose.TYPING, "at work")),
    "preparing": (_seen(ANT, runs=(_run(1, "T-1", RunState.PREPARING),)), (Place.DESK, Pose.ARRIVING, "starts")),
    "taking over": (
        _seen(ANT, runs=(replace(_run(1, "T-1", RunState.PREPARING), number=2),)),
        (Place.DESK, Pose.ARRIVING, "takes over"),
    ),
    "ended": (_seen(ANT, runs=(_run(1, "T-1", RunState.ENDED),)), (Place.DESK, Pose.HANDING_IN, "hands in")),
    "landing": (_seen(ANT, runs=(_run(1, "T-1", RunState.LANDING),)), (Place.DESK, Pose.IDLE, "idle")),
    "cooling": (_seen(replace(ANT, cooling_until=NOW + 90)), (Place.SOFA, Pose.DOZING, "cools down")),
    "cooled down": (_seen(replace(ANT, cooling_until=NOW - 1)), (Place.DESK, Pose.IDLE, "idle")),
    "paused": (_seen(replace(ANT, paused=True)), (Place.SOFA, Pose.RESTING, "paused")),
    "disabled": (_seen(replace(ANT, enabled=False)), (Place.SOFA, Pose.RESTING, "disabled")),
    "over budget": (_seen(replace(ANT, over_budget="$5 a day")), (Place.SOFA, Pose.RESTING, "over budget")),
    "stopped": (_seen(replace(ANT, stopped_reason="sign in")), (Place.QUEUE, Pose.WAITING, "blocked")),
    "held as broken": (
        _seen(replace(ANT, suspicions=1, cooling_until=NOW + 90)),
        (Place.QUEUE, Pose.WAITING, "blocked"),
    ),
    "stopped, paused": (
        _seen(replace(ANT, stopped_reason="sign in", paused=True)),
        (Place.QUEUE, Pose.WAITING, "blocked"),
    ),
    "stopped, at work": (
        _seen(replace(ANT, stopped_reason="sign in"), runs=(_run(1, "T-1"),)),
        (Place.DESK, Pose.TYPING, "at work"),
    ),
    "paused, at work": (
        _seen(replace(ANT, paused=True), runs=(_run(1, "T-1"),)),
        (Place.DESK, Pose.TYPING, "at work"),
    ),
    "its last run waits": (_seen(ANT, tasks=NEEDY, past=SETTLED), (Place.QUEUE, Pose.WAITING, "needs you")),
    "its last run waits, cooling": (
        _seen(replace(ANT, cooling_until=NOW + 90), tasks=NEEDY, past=SETTLED),
        (Place.SOFA, Pose.DOZING, "cools down"),
    ),
    "an earlier run waits": (
        _seen(ANT, tasks=NEEDY, past=(*SETTLED, _run(2, "T-2", RunState.SETTLED))),
        (Place.DESK, Pose.IDLE, "idle"),
    ),
    "another's run waits": (
        _seen(ANT, tasks=NEEDY, past=(_run(1, "T-1", RunState.SETTLED, agent="bee"),)),
        (Place.DESK, Pose.IDLE, "idle"),
    ),
}


@pytest.mark.parametrize("case", PLACES)
def test_everybody_is_where_the_work_stands(case: str) -> None:
    seen, expected = PLACES[case]
    worker = _ant(seen)
    assert (worker.place, worker.pose, worker.word) == expected


@pytest.mark.parametrize(
    ("merges", "result", "word"),
    [
        ((_entry(7, "T-1", MergeState.CONFLICT),), None, "conflict"),
        ((), RunResult.QUESTION, "question"),
        ((), RunResult.FAILED, "needs you"),
    ],
)
def test_who_stands_in_line_says_what_for(
    merges: tuple[MergeEntry, ...], result: RunResult | None, word: str
) -> None:
    settled = _run(1, "T-1", RunState.SETTLED, result=result)
    worker = _ant(_seen(ANT, tasks=(_task("T-1", TaskState.NEEDS_PERSON),), merges=merges, past=(settled,)))
    assert (worker.place, worker.word, worker.what) == (Place.QUEUE, word, f"T-1: {word}")


def test_a_result_that_waits_for_the_checkout_brings_its_agent_to_the_boss() -> None:
    runs = (_run(1, "T-1", RunState.LANDING),)
    waiting = (_entry(7, "T-1", MergeState.WAITING_CHECKOUT),)
    worker = _ant(_seen(ANT, tasks=(_task("T-1", TaskState.LANDING),), runs=runs, merges=waiting))
    assert (worker.place, worker.word) == (Place.QUEUE, "your checkout")


def test_what_waits_is_a_badge_while_there_is_something_else_to_do() -> None:
    tasks = (_task("T-1", TaskState.NEEDS_PERSON), _task("T-3", TaskState.NEEDS_PERSON))
    past = (_run(1, "T-1", RunState.SETTLED), _run(3, "T-3", RunState.SETTLED))
    worker = _ant(_seen(ANT, tasks=tasks, past=past, runs=(_run(4, "T-4"),)))
    assert (worker.place, worker.badge) == (Place.DESK, 2)


def test_a_monitor_shows_the_task_and_how_many_more_there_are() -> None:
    tasks = (_task("T-1", TaskState.IN_PROGRESS), _task("T-2", TaskState.IN_PROGRESS))
    worker = _ant(_seen(ANT, tasks=tasks, runs=(_run(1, "T-1"), _run(2, "T-2"))))
    assert (worker.screen, worker.what, worker.time, worker.run) == ("T-1 +1", "Task T-1", "1 min", "run:1")


def test_a_cooldown_counts_down() -> None:
    assert _ant(_seen(replace(ANT, cooling_until=NOW + 2935))).time == "in 48:55"


def test_who_waited_longest_stands_first() -> None:
    tasks = (_task("T-1", TaskState.NEEDS_PERSON, since=60), _task("T-2", TaskState.NEEDS_PERSON, since=600))
    past = (_run(1, "T-1", RunState.SETTLED), _run(2, "T-2", RunState.SETTLED, agent="bee"))
    office = _office(_seen(ANT, Agent("bee"), tasks=tasks, past=past))
    assert [worker.name for worker in sorted(office.workers, key=lambda one: one.since)] == ["bee", "ant"]


def test_the_belt_brings_what_moves_before_what_waits_for_a_person() -> None:
    merges = (
        _entry(7, "T-1", MergeState.CONFLICT, run_id=1),
        _entry(8, "T-2", MergeState.VERIFYING, run_id=2),
        _entry(9, "T-3", MergeState.QUEUED, run_id=3),
    )
    runs = tuple(_run(at, f"T-{at}", RunState.LANDING) for at in (1, 2, 3))
    office = _office(_seen(ANT, runs=runs, merges=merges))
    assert [parcel.id for parcel in office.parcels] == ["T-2", "T-3", "T-1"]
    assert {parcel.sender for parcel in office.parcels} == {"agent:ant"}


def test_the_board_counts_and_names_the_tasks() -> None:
    tasks = (
        _task("T-1", TaskState.NEEDS_PERSON),
        *(_task(f"D-{number}", TaskState.DONE) for number in range(40)),
        _task("T-2"),
    )
    board = {column.title: column for column in _office(_seen(tasks=tasks)).board}
    assert list(board) == ["for you", "ready", "done"]
    assert (board["done"].count, board["done"].ids[:2]) == (40, ("D-39", "D-38"))
    assert board["ready"].ids == ("T-2",)


def test_only_what_was_open_and_has_landed_is_cheered() -> None:
    before = _seen(ANT, Agent("bee"), runs=(_run(1, "T-1", RunState.LANDING), _run(2, "T-2", agent="bee")))
    landed = _run(1, "T-1", RunState.SETTLED, result=RunResult.LANDED)
    failed = _run(2, "T-2", RunState.SETTLED, agent="bee", result=RunResult.FAILED)
    after = _seen(ANT, Agent("bee"), past=(landed, failed))
    assert landed_since(before, after) == {"ant"}
    assert landed_since(after, after) == frozenset()
    anothers = _run(3, "T-1", RunState.SETTLED, agent="bee", result=RunResult.LANDED)
    assert landed_since(before, _seen(ANT, Agent("bee"), past=(anothers,))) == frozenset()


def test_the_run_that_is_shown_is_the_live_one_then_the_waiting_one_then_the_newest() -> None:
    waiting, newest = _run(1, "T-1", RunState.SETTLED), _run(2, "T-2", RunState.SETTLED)
    live = (_run(3, "T-3"), _run(4, "T-4"))
    at_work = _seen(ANT, tasks=NEEDY, past=(waiting, newest), runs=live)
    waits = _seen(ANT, tasks=NEEDY, past=(waiting, newest))
    over = _seen(ANT, past=(waiting, newest))
    shown = [shown_run("ant", seen, past_of(seen)) for seen in (at_work, waits, over, _seen(ANT))]
    assert [run.id if run is not None else None for run in shown] == [3, 1, 2, None]
    following = [shown_run("ant", at_work, past_of(at_work), number) for number in (1, 2)]
    assert [run.id if run is not None else None for run in following] == [4, 3]


def test_names_and_titles_may_be_anything() -> None:
    agents = [Agent(text) for text in HOSTILE]
    tasks = tuple(replace(_task("T-1", TaskState.NEEDS_PERSON), id=text, title=text) for text in HOSTILE)
    runs = tuple(replace(_run(at, "T"), task=text, agent=text) for at, text in enumerate(HOSTILE))
    office = _office(_seen(*agents, tasks=tasks, runs=runs))
    assert [worker.name for worker in office.workers] == HOSTILE
    assert all(worker.pose is Pose.TYPING for worker in office.workers)


def test_words_say_who_is_where() -> None:
    seen = _seen(
        ANT, Agent("bee", paused=True), Agent("cat", stopped_reason="sign in"), runs=(_run(1, "T-1"), _run(2, "T-2"))
    )
    office = _office(seen)
    heading = office_heading(office, (1, 3))
    assert (heading.title, heading.right) == ("1 at work, 1 resting, 1 in line for you", "")
    assert office_heading(office, (1, 2)).right.startswith("desks 1 to 2 of 3")
    run = seen.overview.runs[0]
    words = card(office.worker("agent:ant"), Context(seen.overview, agent=ANT, run=run), 1, 2)
    assert (words.id, words.state, words.word) == ("ant", Shown.RUNNING, "at work 1:05")
    assert words.right == "run 1, 1 of 2, n for the next"


def test_a_halt_is_said() -> None:
    seen = _seen(ANT)
    paused = replace(
        seen, overview=replace(seen.overview, snapshot=replace(seen.overview.snapshot, dispatching=False))
    )
    assert "paused: nothing new starts" in office_heading(_office(paused), (1, 1)).title
