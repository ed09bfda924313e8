"""Task, run, agents, history, settings, keys: opened with a key, live while open, left with escape."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len

from recall.domain.run import Claim, RunResult
from recall.domain.task import TaskState
from recall.ui.screens.detail import DetailScreen
from tests.support.builders import settlement, spec
from tests.support.driver import Driver, Shop, driving, shop_in
from tests.support.pilot import NARROW, TINY, WIDE
from tests.widgets.stage import HOSTILE, assert_harmless

LARGE = (200, 60)


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Iterator[Shop]:
    with shop_in(
        tmp_path,
        spec("T-1", title="Parse the config", body="Read it from TOML.\n\n- and say so"),
        spec("T-2", "T-1", title="Validate it"),
        spec("T-3", "T-2", title="Help texts", type_="web"),
    ) as made:
        yield made


def _start(shop: Shop, id_: str, agent: str = "ant", *, files: dict[str, str] | None = None) -> Claim:
    """Have an agent at work; with `files`, these are committed on its branch."""
    claim = shop.store.claim(shop.task(id_).ref, agent, f"{agent}-{id_}", 1e6, why="the only free agent")
    assert isinstance(claim, Claim)
    base, branch = shop.repo.git("rev-parse", "HEAD"), f"recall/main/{id_}/{claim.number}"
    refused = shop.store.start_run(claim.run_id, claim.owner, claim.version, branch=branch, base=base, slot="s1")
    assert refused is None
    folder = shop.session.run_folder(claim.run_id)
    folder.mkdir(parents=True)
    (folder / "transcript").write_bytes(b"first line\nsecond line\n")
    if files is not None:
        shop.repo.git("switch", "-q", "-c", branch)
        shop.repo.commit("work", files)
        shop.repo.git("switch", "-q", "main")
    return claim


def _settle(shop: Shop, claim: Claim, result: RunResult, reason: str = "because") -> None:
    shop.store.end_run(claim.run_id, claim.owner, claim.version)
    done = settlement(result, reason)
    assert shop.store.settle_run(claim.run_id, claim.owner, claim.version, done, actor="dispatcher") is None


def _top(recall: Driver) -> DetailScreen:
    screen = recall.app.screen
    assert isinstance(screen, DetailScreen)
    return screen


# -- task ------------------------------------------------------------------------------------------------------
def test_a_task_shows_its_text_and_leads_to_its_neighbours_and_back(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.select("T-2").keys("enter")
        recall.screen.shows("T-2  Validate it", "Waits for", "Others wait for it", "T-3", "waits for T-1")
        recall.keys("2", "enter")
        recall.screen.shows("T-1  Parse the config", "Read it from TOML.")
        recall.keys("escape")
        recall.screen.shows("T-2  Validate it")
        recall.keys("escape")
        recall.board.shows("Ready")


def test_commands_act_on_the_shown_task_whatever_the_board_has_selected(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.select("T-2").keys("enter", "2", "enter")
        recall.screen.shows("T-1  Parse the config")
        recall.press("hold").wait(lambda: shop.task("T-1").state is TaskState.ON_HOLD)
        recall.screen.shows("on hold", "put on hold by you")
        recall.press("raise").wait(lambda: shop.task("T-1").priority == 1)
        recall.screen.shows("priority 1")
        assert shop.task("T-2").state is TaskState.TODO
        recall.press("cancel")
        recall.screen.shows("Cancel T-1?")
        recall.keys("escape")
        recall.screen.shows("T-1  Parse the config")


def test_a_question_is_answered_where_it_is_read(shop: Shop) -> None:
    claim = _start(shop, "T-1")
    _settle(shop, claim, RunResult.QUESTION, "Which colour?")
    with driving(shop.session) as recall:
        recall.board.select("T-1").keys("enter")
        recall.screen.shows("needs you", "Which colour?")
        recall.press("answer")
        recall.screen.shows("enter accepts")
        recall.types("red").keys("enter").wait(lambda: shop.task("T-1").state is TaskState.TODO)
        recall.screen.shows("ready", "answered")


def test_an_open_task_follows_the_store(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.select("T-1").keys("enter")
        recall.screen.shows("no run yet")
        claim = _start(shop, "T-1")
        recall.screen.shows("running", f"run {claim.run_id}", "ant works on it", "claimed")
        _settle(shop, claim, RunResult.FAILED, "the tests are red")
        recall.screen.shows("failed", "the tests are red")


# -- run -------------------------------------------------------------------------------------------------------
def test_a_run_is_opened_from_its_task_with_diff_and_log(shop: Shop) -> None:
    claim = _start(shop, "T-1", files={"a.py": "x = 1\n" * 50, "b.py": "y = 2\n"})
    with driving(shop.session, size=LARGE) as recall:
        recall.board.select("T-1").keys("enter")
        recall.screen.shows("the only free agent", f"run {claim.run_id}")
        recall.keys("3", "enter")
        recall.screen.shows("a.py", "+50 −0", "2 files +51 −0", "second line", "chosen")
        recall.press("diff")
        recall.screen.shows("diff --git a/a.py b/a.py", "+x = 1")
        recall.keys("2", "j")
        recall.screen.shows("diff --git a/b.py b/b.py", "+y = 2")
        recall.press("log")
        recall.screen.shows("first line").hides("+y = 2")
        recall.keys("t")
        recall.screen.shows("Read it from TOML.")


def test_the_diff_of_the_selected_tasks_run_opens_from_the_board(shop: Shop) -> None:
    _start(shop, "T-1", files={"a.py": "x = 1\n"})
    with driving(shop.session) as recall:
        recall.board.select("T-1").press("diff")
        recall.screen.shows("diff --git a/a.py b/a.py", "+x = 1")
        recall.keys("slash").types("x =").keys("enter")
        recall.wait(lambda: _top(recall).needle == "x =")


def test_changes_that_cannot_be_read_are_said_to_be(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    _start(shop, "T-1", files={"a.py": "x = 1\n"})
    with driving(shop.session) as recall:
        recall.board.select("T-1")
        monkeypatch.setenv("PATH", "/nonexistent")
        recall.press("diff")
        recall.screen.shows("what it changed could not be read", "git could not be started")


def test_a_live_runs_log_and_end_are_followed(shop: Shop) -> None:
    claim = _start(shop, "T-1")
    with driving(shop.session) as recall:
        recall.board.select("T-1").keys("enter", "3", "enter")
        recall.screen.shows("second line")
        with (shop.session.run_folder(claim.run_id) / "transcript").open("ab") as log:
            log.write(b"third line\n")
        recall.screen.shows("third line")
        _settle(shop, claim, RunResult.FAILED, "the tests are red")
        recall.screen.shows("failed", "the tests are red")


# -- agents ----------------------------------------------------------------------------------------------------
def test_what_an_agent_may_do_is_chosen_with_keys(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        recall.press("agents")
        recall.screen.shows("2 of 2 may start tasks", "ant", "enabled, 1 at once")
        recall.press("more-parallel", "more-parallel", "less-parallel")
        recall.screen.shows("2 at once by your choice", "(recall.toml: 1)", "0/2 *")
        recall.press("enable-agent")
        recall.screen.shows("1 of 2 may start tasks", "disabled by your choice")
        recall.press("reset-agent")
        recall.screen.shows("2 of 2 may start tasks").hides("your choice")
        recall.press("reset-agent").says("ant is as recall.toml says")


def test_a_record_and_the_limits_come_as_they_happen(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        recall.press("agents")
        recall.screen.shows("no run is over yet", "no limit met yet")
        _settle(shop, _start(shop, "T-1"), RunResult.FAILED)
        recall.screen.shows("general", "1 run", "0 landed", "0.30")
        shop.store.set_cooldown("ant", time.time() + 3000, actor="cli", reason="limit resets 11:30pm")
        recall.screen.shows('"limit resets 11:30pm"', "cooling")
        recall.press("lift")
        recall.screen.shows("lifted")


# -- history ---------------------------------------------------------------------------------------------------
def test_history_is_filtered_as_one_types_and_stays_live(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        recall.press("history")
        recall.screen.shows("task imported", "agent added")
        recall.keys("slash").types("early")
        recall.screen.hides("agent added")
        shop.store.hold(shop.task("T-1").ref, actor="cli", reason="too early")
        recall.screen.shows("too early", "1 of")
        recall.keys("escape")
        recall.screen.shows("agent added", "too early")


def test_thousands_of_events_are_read_page_by_page(shop: Shop) -> None:
    for number in range(2050):
        shop.store.note("note.made", actor="test", reason=f"number {number}")
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        recall.press("history")
        recall.screen.shows("number 2049", "1000+ events")
        recall.keys("end")
        recall.screen.shows("number 1050", "2000+ events")
        recall.keys("slash").types("kind:imported")
        recall.screen.shows("task imported", "of 20", "events match")


def test_an_event_leads_to_its_run(shop: Shop) -> None:
    claim = _start(shop, "T-1")
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        recall.press("history")
        recall.screen.shows("run started")
        recall.keys("enter")
        recall.screen.shows(f"run {claim.run_id}", "second line")


# -- looking up ------------------------------------------------------------------------------------------------
def test_settings_are_filtered_and_explained(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        recall.press("settings")
        recall.screen.shows("recall.toml:2", "default")
        recall.keys("slash").types("heartbeat").keys("enter")
        recall.screen.shows("lease", "heartbeat").hides("verify_timeout")
        recall.keys("escape", "escape")
        recall.board.shows("T-1")


def test_keys_are_found_by_what_they_do(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        recall.press("help")
        recall.screen.shows("Looking", "The selected task")
        recall.keys("slash").types("cooldown")
        recall.screen.shows("lift cooldown").hides("Looking")


# -- all of them -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("size", [WIDE, NARROW, TINY, LARGE], ids=str)
def test_every_screen_fits_and_hostile_text_is_harmless(tmp_path: Path, home: Path, size: tuple[int, int]) -> None:
    everything = " | ".join(HOSTILE)
    with shop_in(tmp_path, spec("T-1", title=everything, body=everything), spec("T-2", "T-1")) as shop:
        claim = _start(shop, "T-1", files={"a [/x].py": everything.encode("utf-8", "replace").decode()})
        shop.store.note(
            "note.made", actor="agent x", reason=everything, ref=shop.task("T-1").ref, run_id=claim.run_id
        )
        shop.store.set_cooldown("ant", time.time() + 3000, actor="cli", reason=everything)
        with driving(shop.session, size=size) as recall:
            recall.board.shows("T-1")
            for keys in (["enter"], ["d"], ["A"], ["O"], ["y"], ["comma"], ["question_mark"]):
                recall.board.select("T-1").keys(*keys).wait(lambda: isinstance(recall.app.screen, DetailScreen))
                for pane in ("1", "2", "3", "4"):
                    recall.keys(pane)
                    assert max(map(cell_len, recall.lines)) <= size[0]
                    assert_harmless(recall.lines)
                recall.keys("escape").wait(lambda: not isinstance(recall.app.screen, DetailScreen))
        assert recall.app.return_value is None or recall.app.return_value == 0


def test_a_narrow_screen_shows_one_part_at_a_time(shop: Shop) -> None:
    with driving(shop.session, size=NARROW) as recall:
        recall.board.select("T-2").keys("enter")
        recall.screen.shows("1 Task", "3 Runs").hides("Others wait for it")
        recall.keys("tab")
        recall.screen.shows("2 Prerequisites", "Others wait for it")
        recall.resize(*WIDE)
        recall.screen.shows("1 Task", "Others wait for it", "no run yet")
