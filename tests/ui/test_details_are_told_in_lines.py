"""What the screens about one thing say, line by line; no app is needed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from recall.domain.agent import Agent
from recall.domain.event import Event
from recall.domain.overview import Overview
from recall.domain.record import TypeRecord
from recall.domain.run import Run, RunResult, RunState
from recall.domain.snapshot import Snapshot
from recall.domain.stream.spending import Spending
from recall.domain.task import Task, TaskState
from recall.gitops.diff_sizes import FileChange
from recall.ui.details.agents import agent_lines, limit_rows, record_rows, standing_rows
from recall.ui.details.events import entry_of, event_row, read_query
from recall.ui.details.lines import wrapped
from recall.ui.details.reference import key_rows, setting_rows
from recall.ui.details.run import fact_list as run_facts
from recall.ui.details.run import file_rows
from recall.ui.details.task import fact_list, link_rows, run_rows, shown_run
from recall.ui.diffs import RunWork
from recall_widgets.glyphs import Shown
from recall_widgets.listing import ListRow
from tests.support.builders import ref

NOW = 1_700_000_000.0


def task(id_: str, *after: str, **given: object) -> Task:
    values: dict[str, object] = {"body": "", "type": "general", "state": TaskState.TODO, "reason": ""}
    values |= {"prerequisites": tuple(ref(one) for one in after), **given}
    return Task("main", id_, f"title of {id_}", priority=0, position=1, changed_at=NOW, **values)  # type: ignore[arg-type] - fields by name


def overview(*tasks: Task, agents: Sequence[Agent] = (), runs: Sequence[Run] = ()) -> Overview:
    snapshot = Snapshot(NOW, (), (), ())
    return Overview("shop", "main", "", NOW, True, "", "", snapshot, tasks, tuple(agents), tuple(runs), ())


def run(number: int, result: RunResult | None = None, **given: object) -> Run:
    state = RunState.SETTLED if result else RunState.RUNNING
    return Run(number, "main", "T-1", "ant", "o", 1, number, state, result, claimed_at=NOW - 60, **given)  # type: ignore[arg-type] - fields by name


def said(rows: Sequence[ListRow]) -> list[str]:
    return ["".join(span.text for span in (*row.left, *row.right)) for row in rows]


def opens(rows: Sequence[ListRow]) -> list[str]:
    return [row.opens for row in rows if row.opens]


# -- tasks -----------------------------------------------------------------------------------------------------
def test_prerequisites_are_shown_both_ways_and_open() -> None:
    seen = overview(task("T-1"), task("T-2", "T-1"), task("T-3", "T-2"))
    rows = link_rows(seen.tasks[1], seen)
    assert opens(rows) == ["task:main:T-1", "task:main:T-3"]
    assert [row for row in said(rows) if "title of" not in row and row] == ["Waits for1", "Others wait for it1"]


def test_a_prerequisite_that_no_list_has_is_named_and_opens_nothing() -> None:
    seen = overview(task("T-2", "T-9"))
    rows = link_rows(seen.tasks[0], seen)
    assert "is not in any list" in said(rows)[1]
    assert opens(rows) == []


def test_the_facts_say_what_the_list_said_and_leave_out_what_it_did_not() -> None:
    seen = overview(task("T-1", touches=("src/**",), body="Do it.\n\n    code\n", attempts=1))
    text = "\n".join(said(fact_list(seen.tasks[0], seen, 60, 3)))
    assert "1 of 3 attempts used" in text
    assert "src/**" in text
    assert "    code" in text
    assert "verify" not in text


def test_runs_come_newest_first_with_their_reasons() -> None:
    rows = run_rows([run(1, RunResult.FAILED, reason="red\nagain"), run(2)], NOW)
    assert opens(rows) == ["run:2", "run:1", "run:1"]
    assert "red again" in said(rows)[2]


@pytest.mark.parametrize("result", list(RunResult))
def test_every_result_has_a_look(result: RunResult) -> None:
    assert isinstance(shown_run(run(1, result)), Shown)


def test_work_that_did_not_land_says_how_it_comes_back() -> None:
    work = RunWork("kept", (FileChange("a.py", 3, 1), FileChange("b.png", None, None)), "diff", "",
                   ("refs/recall/parked/7",), ("scratch.txt",))  # fmt: skip
    text = "\n".join(said(run_facts(run(7, RunResult.FAILED), work, Spending(cost_usd=0.41), 80, NOW)))
    assert "recall workspaces restore 7" in text
    assert "scratch.txt" in text
    assert "$0.41" in text
    assert "2 files  +3 −1" in text or "2 files +3 −1" in text
    assert said(file_rows(work)) == ["a.py+3 −1", "b.pngbinary"]


# -- agents ----------------------------------------------------------------------------------------------------
def test_a_choice_is_marked_and_explained() -> None:
    chosen = Agent("ant", parallel=3, listed_parallel=1, chosen_parallel=3)
    plain, marked = said(agent_lines(overview(agents=(Agent("bee"), chosen))))
    assert "*" not in plain
    assert "0/3 *" in marked
    assert "3 at once by your choice (recall.toml: 1)" in "\n".join(said(standing_rows(chosen, NOW, 80)))


def test_a_record_shows_share_and_path() -> None:
    record = TypeRecord("web", 4, 3, 2, (0.5, 0.3, 0.6, 0.9), ((RunResult.LANDED, 2), (RunResult.RATE_LIMITED, 1)))
    first, second = said(record_rows([record]))
    assert "2 landed  67%" in first
    assert first.endswith("0.90")
    assert "2 landed, 1 rate limited" in second


def test_a_limit_shows_until_when_and_the_line() -> None:
    event = Event(9, NOW, "dispatcher", "agent.cooling", agent="ant", run_id=4,
                  after="2023-11-14T23:30:00+00:00", reason="limit resets 11:30pm")  # fmt: skip
    rows = limit_rows([event], NOW)
    assert "until" in said(rows)[0]
    assert '"limit resets 11:30pm"' in said(rows)[1]
    assert opens(rows) == ["run:4", "run:4"]


# -- events ----------------------------------------------------------------------------------------------------
_CLAIMED = Event(3, NOW, "dispatcher", "task.claimed", "main", "T-1", "ant", 4, None, "todo", "in_progress", "Best")


@pytest.mark.parametrize(
    ("text", "takes"),
    [
        ("", True),
        ("best", True),
        ("kind:claimed", True),
        ("KIND:Claimed agent:ant who:disp task:t-1", True),
        ("kind:landed", False),
        ("agent:bee", False),
        ("task:T-1 nothing", False),
        ("in_progress best", True),
        ("other:word", False),
    ],
)
def test_a_query_takes_what_it_says(text: str, takes: bool) -> None:
    assert bool(read_query(text).pick([entry_of(_CLAIMED)])) is takes


def test_an_event_says_everything_in_one_line() -> None:
    (line,) = said([event_row(_CLAIMED, NOW)])
    for word in ("T-1", "task claimed", "todo → in progress", "Best", "ant · dispatcher"):
        assert word in line


# -- looking up ------------------------------------------------------------------------------------------------
def test_keys_and_settings_are_filtered_and_lose_empty_headings() -> None:
    assert said(key_rows("priority up")) == ["The selected task", *said(key_rows("priority up"))[1:]]
    assert len(key_rows("priority up")) == 2
    explained = [("verify", '"true"', "recall.toml:2", "must pass"), ("lease.ttl", '"5m"', "default", "how long")]
    assert len(setting_rows(explained)) == 5
    assert said(setting_rows(explained, "how long"))[0] == "lease"
    assert said(setting_rows(explained, "zzz")) == ["nothing matches"]


@pytest.mark.parametrize("width", [8, 20, 79])
def test_wrapped_lines_fit_and_lose_nothing(width: int) -> None:
    text = "one two 世界世界世界 three-is-a-very-long-word-that-fits-nowhere\n    indented\n\nend"
    lines = wrapped(text, width)
    from rich.cells import cell_len

    assert max(map(cell_len, lines)) <= width
    assert "".join("".join(lines).split()) == "".join(text.split())
