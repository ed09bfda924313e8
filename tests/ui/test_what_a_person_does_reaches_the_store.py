"""Keys change the store, and the store's changes reach the screen, whoever made them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recall.domain.task import TaskState
from tests.support.builders import failed, spec
from tests.support.driver import Shop, driving, shop_in


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Iterator[Shop]:
    with shop_in(
        tmp_path,
        spec("T-1", title="Parse the config"),
        spec("T-2", "T-1", title="Validate it"),
        spec("T-3", title="Help texts"),
    ) as made:
        yield made


def test_the_board_groups_tasks_by_state_and_says_what_each_waits_for(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("Ready", "T-1 Parse the config", "Waiting", "T-2 Validate it", "after T-1")
        recall.header.shows("shop", "2 ready", "1 waiting", "nobody dispatches")


def test_the_cursor_starts_on_the_first_task_and_the_why_line_is_about_it(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.why.shows("T-1:")
        recall.keys("j")
        recall.why.shows("T-3:")
        recall.board.select("T-2")
        recall.why.shows("T-2: waits for T-1")


def test_a_task_is_put_on_hold_and_let_go_on(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.select("T-3").press("hold").says("T-3 is on hold")
        recall.board.shows("On hold", "put on hold by you")
        assert shop.task("T-3").state is TaskState.ON_HOLD
        recall.board.select("T-3").press("hold")
        recall.board.hides("On hold")
        assert shop.task("T-3").state is TaskState.TODO


def test_cancelling_asks_first(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.select("T-3").press("cancel")
        recall.screen.shows("Cancel T-3?")
        recall.keys("escape")
        recall.board.shows("T-3")
        assert shop.task("T-3").state is TaskState.TODO
        recall.press("cancel")
        recall.screen.shows("Cancel T-3?")
        recall.keys("enter").wait(lambda: shop.task("T-3").state is TaskState.CANCELLED)


def test_a_key_that_is_pressed_twice_at_once_counts_twice(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.select("T-3").press("raise", "raise", "raise", "lower")
        recall.wait(lambda: len(recall.notices) == 4)
        assert shop.task("T-3").priority == 2
        recall.press("hold", "hold").wait(lambda: len(recall.notices) == 6)
        assert shop.task("T-3").state is TaskState.TODO


def test_an_agent_is_paused_and_resumed(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.agents.select("bee").press("pause-agent")
        recall.agents.shows("‖ bee")
        recall.press("pause-agent")
        recall.agents.hides("‖ bee")


def test_an_agent_that_is_held_for_failing_at_once_goes_on_with_the_key_that_is_offered(shop: Shop) -> None:
    shop.has(spec("T-1"), spec("T-2"), spec("T-3"))
    for id_ in ("T-1", "T-2", "T-3"):
        failed(shop.store, id_, agent="ant")
    with driving(shop.session) as recall:
        recall.screen.shows("it failed within 60 s", "p resume")
        recall.agents.select("ant").press("pause-agent").says("ant is not held back any more")
        recall.wait(lambda: not any(one.cooling_until or one.paused for one in shop.store.agents()))
        recall.press("pause-agent").says("ant is paused")


def test_everything_can_be_paused(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        recall.press("pause").says("dispatching is paused")
        recall.why.shows("paused")


def test_a_change_made_elsewhere_is_seen(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-3")
        shop.store.hold(shop.task("T-3").ref, actor="cli", reason="too early")
        recall.board.shows("On hold", "too early")


def test_a_filter_shows_what_matches_and_escape_takes_it_back(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        recall.press("filter").types("help")
        recall.board.shows("T-3 Help texts").hides("T-1 Parse")
        recall.why.shows("esc take back").hides("X cancel")
        recall.keys("enter")
        recall.board.shows("filter: help")
        recall.keys("escape")
        recall.board.shows("T-1 Parse").hides("filter:")


def test_keys_that_count_everywhere_can_be_typed_into_the_filter(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        recall.press("filter").types("nl")
        recall.screen.shows("nl")
        recall.board.hides("T-1")


def test_a_task_is_opened_with_all_that_is_known_of_it(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.select("T-2").keys("enter")
        recall.screen.shows("T-2  Validate it", "Waits for", "T-1", "Parse the config", "ready", "4 Events")
        recall.keys("escape")
        recall.board.shows("T-2")


def test_a_command_that_makes_no_sense_says_why(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.select("T-1").press("conflict").says("the selected task has no conflict")
        recall.press("diff").says("the selected task has no run yet")


def test_the_tree_shows_what_hangs_below_what(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("Ready")
        recall.press("view", "view")
        recall.board.hides("Ready").shows("T-1", "T-2", "T-3")


def test_escape_takes_back_a_zoom(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        recall.press("zoom")
        recall.screen.hides("─ 2 Agents")
        recall.keys("escape")
        recall.agents.shows("ant")


def test_the_selection_goes_to_the_nearest_task_when_its_own_is_folded_away(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        recall.why.shows("T-1:")
        shop.store.finish_manually(shop.task("T-1").ref, actor="cli", reason="by hand")
        recall.header.shows("1 done")
        recall.why.shows("T-2:")


def test_history_record_and_settings_can_be_read(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        recall.press("history")
        recall.screen.shows("History", "task imported", "test")
        recall.keys("escape")
        recall.board.focus()
        recall.press("agents")
        recall.screen.shows("ant", "idle", "enabled, 1 at once", "no run is over yet", "no limit met yet")
        recall.keys("escape")
        recall.board.focus()
        recall.press("settings")
        recall.screen.shows("verify", "recall.toml:2", "lease", "ttl")
