"""View models are plain functions of an overview: no app, no store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from recall.domain.agent import Agent, Weight
from recall.domain.merge import RED_MAIN, MergeEntry, MergeState
from recall.domain.overview import Overview
from recall.domain.run import Run, RunResult, RunState
from recall.domain.snapshot import Snapshot
from recall.domain.task import Task, TaskRef, TaskState
from recall.ui.board_views import BoardView
from recall.ui.roll import Roll, task_key, task_of
from recall.ui.view_models import agent_rows, header, log_titles, need_rows, queue_rows
from recall_widgets.glyphs import Shown
from recall_widgets.rows import BoardRow
from tests.support.builders import ref

NOW = 1_700_000_000.0


def _task(id_: str, state: TaskState = TaskState.TODO, *after: str, reason: str = "", since: float = 60.0) -> Task:
    return Task(
        region="main",
        id=id_,
        title=f"Task {id_}",
        body="",
        type="general",
        priority=0,
        position=1,
        state=state,
        prerequisites=tuple(ref(name) for name in after),
        unmet=len(after),
        reason=reason,
        changed_at=NOW - since,
    )


def _run(id_: int, task: str, agent: str = "ant", state: RunState = RunState.RUNNING) -> Run:
    return Run(id_, "main", task, agent, "o", 1, 1, state, claimed_at=NOW - 200, started_at=NOW - 65)


def _entry(id_: int, task: str, state: MergeState, reason: str = "", run_id: int = 1) -> MergeEntry:
    return MergeEntry(
        id=id_,
        region="main",
        task=task,
        run_id=run_id,
        position=id_,
        state=state,
        tip="c" * 40,
        base="b" * 40,
        reason=reason,
        changed_at=NOW - 30,
    )


def _overview(
    *tasks: Task, agents: tuple[Agent, ...] = (), runs: tuple[Run, ...] = (), merges: tuple[MergeEntry, ...] = ()
) -> Overview:
    snapshot = Snapshot(now=NOW, ready=tasks, running=(), agents=agents)
    return Overview("shop", "main", "3f9c2ab0000", NOW, True, "", "", snapshot, tasks, agents, runs, merges)


def _by_state(view: Overview, *folded: str, needle: str = "") -> Sequence[BoardRow]:
    return BoardView.of(view, Roll.of(view.tasks), folded, needle).by_state()


def _tree(view: Overview, needle: str = "") -> Sequence[BoardRow]:
    return BoardView.of(view, Roll.of(view.tasks), (), needle).by_prerequisite()


def test_groups_come_in_the_order_in_which_they_matter() -> None:
    view = _overview(
        _task("T-1", TaskState.DONE),
        _task("T-2"),
        _task("T-3", TaskState.NEEDS_PERSON, reason="asks: which?"),
        _task("T-4", TaskState.TODO, "T-2"),
    )
    headings = [(row.title, row.count) for row in _by_state(view) if row.kind == "group"]
    assert headings == [("Needs you", 1), ("Ready", 1), ("Waiting", 1), ("Done", 1)]


def test_a_folded_group_keeps_its_heading_and_its_count() -> None:
    rows = _by_state(_overview(_task("T-1"), _task("T-2")), "group:ready")
    assert [(row.key, row.count, row.folded) for row in rows] == [("group:ready", 2, True)]


def test_a_filter_opens_every_group_with_a_match() -> None:
    rows = _by_state(_overview(_task("T-1"), _task("T-22")), "group:ready", needle="t-22")
    assert [row.id for row in rows if row.kind == "task"] == ["T-22"]


def test_a_row_says_the_most_useful_fact_of_its_state() -> None:
    view = _overview(
        _task("T-1", TaskState.IN_PROGRESS),
        _task("T-2", TaskState.TODO, "T-1", "T-9", "T-8"),
        _task("T-3", TaskState.ON_HOLD, reason="too early\nsecond line"),
        replace(_task("T-4", TaskState.DONE), done_commit="abcdef0123"),
        runs=(_run(1, "T-1"),),
    )
    facts = {row.id: (row.detail, row.time) for row in _by_state(view) if row.kind == "task"}
    assert facts["T-1"] == ("ant", "1:05")
    assert facts["T-2"] == ("after T-1, T-9 +1", "")
    assert facts["T-3"] == ("too early", "1 min")
    assert facts["T-4"][0] == "abcdef0"


def test_a_task_that_waits_for_one_that_needs_you_is_marked() -> None:
    view = _overview(_task("T-1", TaskState.NEEDS_PERSON), _task("T-2", TaskState.TODO, "T-1"))
    assert [row.id for row in _by_state(view) if row.needs_you] == ["T-2"]


def test_a_tree_puts_each_task_once_below_its_first_prerequisite() -> None:
    view = _overview(_task("T-1"), _task("T-2", TaskState.TODO, "T-1"), _task("T-3", TaskState.TODO, "T-2", "T-1"))
    assert [(row.id, len(row.branch)) for row in _tree(view)] == [("T-1", 0), ("T-2", 1), ("T-3", 2)]


def test_keys_of_rows_lead_back_to_the_task() -> None:
    for name in (TaskRef("main", "T-1"), TaskRef("web", "A:B")):
        assert task_of(task_key(name)) == name
    assert task_of("group:ready") is None


def test_an_agent_shows_its_weight_for_the_selected_type_only() -> None:
    agents = (Agent("ant", weights={"docs": Weight(0.8)}),)
    assert [row.weight for row in agent_rows(_overview(agents=agents), "docs")] == [0.8]
    assert [row.weight for row in agent_rows(_overview(agents=agents), "code")] == [None]


def test_a_cooling_agent_shows_when_it_resets_and_the_line_it_was_read_from() -> None:
    agents = (Agent("ant", cooling_until=NOW + 2935, cooling_line="limit resets 11:30pm"),)
    (row,) = agent_rows(_overview(agents=agents))
    assert (row.state, row.quote) == (Shown.COOLING, "limit resets 11:30pm")
    assert row.what.startswith("resets ")
    assert row.time == "in 48:55"


def test_only_a_verification_of_known_length_has_a_share() -> None:
    view = _overview(_task("T-1", TaskState.LANDING), merges=(_entry(1, "T-1", MergeState.VERIFYING),))
    assert [row.share for row in queue_rows(view)] == [None]
    assert [row.share for row in queue_rows(view, typical=60.0)] == [0.5]
    assert [row.share for row in queue_rows(view, typical=3.0)] == [0.99], "overdue is not over"


def test_what_needs_you_comes_oldest_first_with_the_keys_that_act_on_it() -> None:
    view = _overview(
        _task("T-1", TaskState.NEEDS_PERSON, reason="asks: keep it?", since=60),
        _task("T-2", TaskState.NEEDS_PERSON, reason="conflict with T-1", since=120),
        _task("T-3", TaskState.NEEDS_PERSON, reason="3 attempts failed", since=30),
        merges=(_entry(7, "T-2", MergeState.CONFLICT),),
    )
    asked = replace(_run(1, "T-1", state=RunState.SETTLED), result=RunResult.QUESTION)
    rows = need_rows(view, {ref("T-1"): asked})
    assert [(row.id, [f"{key.key} {key.does}" for key in row.keys]) for row in rows] == [
        ("T-2", ["c resolve", "s send back", "u start over"]),
        ("T-1", ["a answer"]),
        ("T-3", ["r requeue", "X cancel"]),
    ]


def test_queue_dispatch_and_agents_can_need_you_too() -> None:
    view = replace(
        _overview(
            _task("T-1", TaskState.LANDING),
            agents=(Agent("ant", stopped_reason="sign in again"),),
            merges=(_entry(7, "T-1", MergeState.WAITING_CHECKOUT, "a.py is changed"),),
        ),
        queue_held="main was rewritten",
        dispatch_held="commands changed",
    )
    assert [row.id for row in need_rows(view)] == ["recall.toml", "merge queue", "T-1", "ant"]


def test_a_red_main_needs_you_unless_something_in_the_queue_may_mend_it() -> None:
    stuck = _entry(7, "T-1", MergeState.QUEUED, RED_MAIN)
    view = _overview(_task("T-1", TaskState.LANDING), _task("T-2", TaskState.LANDING), merges=(stuck,))
    assert [row.id for row in need_rows(view)] == ["main"]
    assert "mend it on main" in " ".join(view.standing.waits)
    untried = replace(view, merges=(stuck, _entry(8, "T-2", MergeState.VERIFYING)))
    assert need_rows(untried) == []


def test_the_header_says_what_this_process_is() -> None:
    view = _overview(_task("T-1"))
    assert header(view, mode="dispatching", clock="22:41").dispatcher == "dispatching"
    paused = replace(view, snapshot=replace(view.snapshot, dispatching=False))
    assert header(paused, mode="dispatching", clock="").dispatcher == "paused"
    assert header(view, mode="viewing", clock="").dispatcher == "viewing"
    alone = replace(view, dispatcher=False)
    assert header(alone, mode="viewing", clock="").dispatcher == "nobody dispatches, E takes over"


def test_the_log_says_whose_it_is_and_whether_it_is_followed() -> None:
    run = _run(41, "T-1")
    assert log_titles(run, following=True) == ("4 Log  run 41 · T-1 · ant · attempt 1", "following")
    assert log_titles(run, following=False)[1] == "f follows"
    assert log_titles(None, following=True) == ("4 Log", "")
