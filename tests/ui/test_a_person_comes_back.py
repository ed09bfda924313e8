"""Who was away is told what happened, and finds it in a report and on a timeline, with the runs a key away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from recall.domain.clock import Instant
from recall.domain.run import RunResult
from recall.store import SqliteStore
from recall.system import SystemClock
from recall.ui.absence import LONG, Absence
from recall.ui.session import Session
from tests.support.builders import ended, landed, settlement, spec, started
from tests.support.driver import Shop, driving, shop_in
from tests.support.pilot import NARROW, TINY, WIDE
from tests.widgets.stage import HOSTILE, assert_harmless


class Later:
    """The system's clock, moved on for the screen alone."""

    def __init__(self) -> None:
        self.by = 0.0

    def now(self) -> Instant:
        real = SystemClock().now()
        return real._replace(wall=real.wall + self.by)


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Iterator[Shop]:
    with shop_in(tmp_path, *(spec(f"T-{n}", title=f"Number {n}") for n in range(1, 5))) as made:
        yield made


def _store(shop: Shop) -> SqliteStore:
    assert isinstance(shop.store, SqliteStore)
    return shop.store


def _ends(shop: Shop, id_: str, result: RunResult, reason: str) -> int:
    claim = ended(_store(shop), id_, agent="ant")
    done = settlement(result, reason)
    assert shop.store.settle_run(claim.run_id, claim.owner, claim.version, done, actor="dispatcher") is None
    return claim.run_id


def _with(session: Session, clock: Later) -> Session:
    return replace(session, clock=clock)


# -- coming back -----------------------------------------------------------------------------------------------
def test_a_long_absence_ends_once_and_a_short_one_never() -> None:
    absence = Absence()
    assert absence.touched(0.0, 1) is None
    assert absence.touched(LONG - 1, 5) is None
    away = absence.touched(2 * LONG, 9)
    assert away is not None
    assert (away.since, away.until, away.seq) == (LONG - 1, 2 * LONG, 5)
    assert absence.touched(2 * LONG + 1, 9) is None
    assert absence.since(2 * LONG + 1) == LONG - 1


def test_who_comes_back_is_told_what_happened_and_which_key_shows_it(shop: Shop) -> None:
    clock = Later()
    with driving(_with(shop.session, clock)) as recall:
        recall.board.shows("T-1").driver.keys("j")
        landed(_store(shop), "T-1", agent="ant")
        _ends(shop, "T-2", RunResult.QUESTION, "Which colour?")
        recall.needs.shows("Which colour?")
        assert recall.notices == []
        clock.by = 8 * 3600.0
        recall.keys("j").says("while you were away (8:00:", "1 landed", "1 did not", "1 came to need you", "w shows")
        recall.press("report")
        recall.screen.shows("Waits for you", "recall answer T-2", "Landed", "T-1", "Number 1", "1 question")


def test_nothing_is_said_when_nothing_happened(shop: Shop) -> None:
    clock = Later()
    with driving(_with(shop.session, clock)) as recall:
        recall.board.shows("T-1").driver.keys("j")
        clock.by = 8 * 3600.0
        recall.keys("j").press("report")
        recall.screen.shows("Nothing came to an end in this time")
        assert recall.notices == []


# -- the report ------------------------------------------------------------------------------------------------
def test_lines_of_the_report_open_what_they_tell_of(shop: Shop) -> None:
    run_id = _ends(shop, "T-3", RunResult.FAILED, "the tests are red")
    with driving(shop.session) as recall:
        recall.board.shows("T-1").driver.press("report")
        recall.screen.shows("1 failed", "the agent said that it failed", "the tests are red", "0 of 1 run landed")
        recall.keys("j", "enter")
        recall.screen.shows(f"run {run_id}", "the tests are red")
        recall.keys("escape").screen.shows("Did not land")
        recall.keys("escape").board.shows("T-1")


@pytest.mark.parametrize("size", [TINY, NARROW, WIDE])
@pytest.mark.parametrize("screen", ["report", "timeline"])
def test_hostile_text_stays_text(shop: Shop, size: tuple[int, int], screen: str) -> None:
    shop.has(*(spec(f"T-{n}", title=text) for n, text in enumerate(HOSTILE, 1)))
    for number, text in enumerate(HOSTILE, 1):
        if number % 2:
            _ends(shop, f"T-{number}", RunResult.FAILED, text)
        else:
            landed(_store(shop), f"T-{number}", agent="ant")
    with driving(shop.session, size=size) as recall:
        words = "Landed" if screen == "report" else "Timeline  "
        recall.board.shows("Ready").driver.press(screen).screen.shows(words)
        assert_harmless(recall.lines)
        recall.keys("G")
        assert_harmless(recall.lines)


# -- the timeline ----------------------------------------------------------------------------------------------
def test_a_timeline_follows_the_store_and_leads_to_its_runs(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1").driver.press("timeline")
        recall.screen.shows("Timeline  0 runs", "ant", "bee")
        claim = started(_store(shop), "T-1", agent="ant")
        recall.screen.shows("1 run, 0 landed", "1 running", "◐", f"ant on T-1, run {claim.run_id}")
        assert shop.store.end_run(claim.run_id, claim.owner, claim.version) is None
        done = settlement(RunResult.FAILED, "the tests are red")
        assert shop.store.settle_run(claim.run_id, claim.owner, claim.version, done, actor="dispatcher") is None
        recall.screen.shows("✗", "failed: the tests are red")
        landed(_store(shop), "T-2", agent="ant")
        recall.screen.shows("2 runs, 1 landed", "1 an hour", "landed")
        recall.keys("right").screen.shows("ant on T-2")
        recall.keys("left").screen.shows("ant on T-1")
        recall.keys("enter").screen.shows(f"run {claim.run_id}", "the tests are red")
        recall.keys("escape").screen.shows("Timeline  2 runs")


def test_an_agent_that_runs_two_at_once_has_two_lanes(shop: Shop) -> None:
    started(_store(shop), "T-1", agent="ant")
    started(_store(shop), "T-2", agent="ant", owner="ant-2")
    with driving(shop.session, size=(160, 30)) as recall:
        recall.board.shows("T-1").driver.press("timeline").screen.shows("2 running")
        recall.screen.shows("◐")
        first, second = [line for line in recall.lines if "◐" in line]
        assert "ant" in first
        assert "ant" not in second
