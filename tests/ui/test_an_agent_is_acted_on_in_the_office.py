"""The office is opened with a key, follows the store, and every act on an agent or its run works there."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from recall.domain.run import Claim, RunResult
from recall.domain.task import TaskState
from recall.ui.screens.office import OfficeScreen
from recall_widgets.glyphs import ASCII
from recall_widgets.office.view import OfficeView
from tests.support.builders import settlement, spec
from tests.support.driver import Driver, Shop, driving, shop_in
from tests.support.pilot import NARROW, TINY


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Iterator[Shop]:
    tasks = (spec("T-1", title="Parse the config"), spec("T-2", title="Validate it"), spec("T-3", title="Help texts"))
    with shop_in(tmp_path, *tasks) as made:
        yield made


def _starts(shop: Shop, id_: str, agent: str = "ant") -> Claim:
    claim = shop.store.claim(shop.task(id_).ref, agent, f"{agent}-{id_}", 1e6)
    assert isinstance(claim, Claim)
    place = {"branch": f"recall/main/{id_}/{claim.number}", "base": shop.repo.tip(), "slot": f"s-{id_}"}
    assert shop.store.start_run(claim.run_id, claim.owner, claim.version, **place) is None
    folder = shop.session.run_folder(claim.run_id)
    folder.mkdir(parents=True)
    (folder / "transcript").write_text("first line\n")
    return claim


def _settles(shop: Shop, claim: Claim, result: RunResult, reason: str) -> None:
    shop.store.end_run(claim.run_id, claim.owner, claim.version)
    done = settlement(result, reason)
    assert shop.store.settle_run(claim.run_id, claim.owner, claim.version, done, actor="dispatcher") is None


def _open(recall: Driver) -> OfficeView:
    recall.board.shows("T-1")
    recall.press("office").wait(lambda: isinstance(recall.app.screen, OfficeScreen))
    recall.screen.shows("Office")
    return recall.app.screen.query_one(OfficeView)


def test_everybody_is_seen_at_work_at_rest_and_in_line_as_it_happens(shop: Shop) -> None:
    with driving(shop.session) as recall:
        _open(recall)
        recall.screen.shows("2 idle", "○ ant", "○ bee", "3 ready")
        claim = _starts(shop, "T-1")
        recall.screen.shows("1 at work, 1 idle", "◐ ant", "T-1 Parse the config", "at work")
        shop.store.set_cooldown("bee", time.time() + 3000, actor="cli", reason="limit resets 11:30pm")
        recall.screen.shows("1 at work, 1 resting", "◔ bee", "in 49:")
        _settles(shop, claim, RunResult.QUESTION, "Keep the old flag?")
        recall.screen.shows("1 in line for you", "⚑ ant", "1 for you", "question")
        recall.screen.hides("◐ ant")
        recall.keys("escape").wait(lambda: recall.app.screen is recall.app.main)


def test_what_lands_is_carried_to_the_belt_and_cheered(shop: Shop) -> None:
    with driving(shop.session) as recall:
        view = _open(recall)
        claim = _starts(shop, "T-1")
        recall.screen.shows("◐ ant")
        recall.wait(lambda: not view.is_moving)
        shop.store.end_run(claim.run_id, claim.owner, claim.version)
        merge = shop.store.enqueue(
            claim.run_id, claim.owner, claim.version, tip="c" * 40, base="b" * 40, actor="dispatcher"
        )
        assert isinstance(merge, int)
        recall.wait(lambda: view.is_moving)
        recall.screen.shows("comes next", "1 landing")
        recall.wait(lambda: not view.is_moving)
        shop.store.merge_verifying(merge, candidate="d" * 40, onto="b" * 40)
        recall.screen.shows("verifying")
        shop.store.merge_intend(merge, old="b" * 40, new="d" * 40)
        shop.store.merge_landed(merge, "d" * 40, settlement=settlement(RunResult.LANDED))
        recall.wait(lambda: any("○ ant" in line and "landed" in line and "run" not in line for line in recall.lines))
        recall.screen.shows("1 done", "nothing is on its way")
        recall.wait(lambda: not view.is_moving)


def test_keys_act_on_the_agent_and_the_run_that_are_selected(shop: Shop) -> None:
    _starts(shop, "T-1")
    _starts(shop, "T-2", "bee")
    with driving(shop.session) as recall:
        view = _open(recall)
        recall.screen.shows("◐ ant", "◐ bee")
        recall.keys("tab").wait(lambda: view.cursor == "agent:bee")
        recall.screen.shows("why bee", "T-2 Validate it")
        recall.press("pause-agent").wait(lambda: [one.name for one in shop.store.agents() if one.paused] == ["bee"])
        recall.press("log").screen.shows("first line", "T-2")
        recall.keys("escape").wait(lambda: isinstance(recall.app.screen, OfficeScreen))
        recall.keys("t").screen.shows("Prerequisites")
        recall.keys("escape").wait(lambda: isinstance(recall.app.screen, OfficeScreen))
        recall.press("stop-run").screen.shows("Stop the run of T-2?")
        recall.keys("1").wait(lambda: shop.task("T-2").state is TaskState.ON_HOLD)
        assert shop.task("T-1").state is TaskState.IN_PROGRESS
        recall.keys("left").wait(lambda: view.cursor == "agent:ant")
        recall.keys("enter").screen.shows("first line", "T-1")


def test_a_cooldown_is_lifted_and_a_question_answered_where_they_are_seen(shop: Shop) -> None:
    _settles(shop, _starts(shop, "T-1"), RunResult.QUESTION, "Keep the old flag?")
    shop.store.set_cooldown("bee", time.time() + 3000, actor="cli", reason="limit resets 11:30pm")
    with driving(shop.session, size=NARROW) as recall:
        view = _open(recall)
        recall.screen.shows("⚑ ant", "question", "a answer")
        recall.press("answer").screen.shows("enter accepts")
        recall.types("yes").keys("enter").wait(lambda: shop.task("T-1").state is TaskState.TODO)
        recall.screen.shows("○ ant")
        recall.click("bee").wait(lambda: view.cursor == "agent:bee")
        recall.press("lift").wait(lambda: all(one.cooling_until is None for one in shop.store.agents()))
        recall.screen.shows("○ bee")


def test_several_runs_of_one_agent_are_gone_through(shop: Shop) -> None:
    first, second = _starts(shop, "T-1"), _starts(shop, "T-2")
    with driving(shop.session) as recall:
        _open(recall)
        recall.screen.shows("T-1 +1", f"run {first.run_id}, 1 of 2")
        recall.keys("n").screen.shows(f"run {second.run_id}, 2 of 2", "T-2 Validate it")
        recall.press("log").screen.shows("first line", "T-2")


def test_a_list_is_left_where_there_is_no_room(shop: Shop) -> None:
    _starts(shop, "T-1")
    with driving(shop.session, size=TINY) as recall:
        _open(recall)
        recall.screen.shows("◐ ant  at work", "○ bee  idle")
        recall.resize(200, 60)
        recall.screen.shows("▀", "Parse the config", "nothing is on its way")
        recall.resize(*NARROW)
        recall.screen.shows("◐ ant", "1 running")


def test_hands_type_when_a_log_grows(shop: Shop) -> None:
    claim = _starts(shop, "T-1")
    with driving(replace(shop.session, symbols=ASCII)) as recall:
        _open(recall)
        recall.screen.shows("__=-_")
        log = shop.session.run_folder(claim.run_id) / "transcript"

        def grown() -> bool:
            with log.open("a") as file:
                file.write("more\n")
            return "__-=_" in recall.screen.text

        recall.wait(grown)
