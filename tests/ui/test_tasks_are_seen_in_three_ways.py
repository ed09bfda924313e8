"""A list by state, columns, a tree of prerequisites: what is selected, filtered and done is the same in each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recall.domain.task import TaskRef, TaskState
from recall.ui.layout import load_layout
from tests.support.builders import spec
from tests.support.driver import Driver, Shop, driving, shop_in
from tests.support.pilot import NARROW, WIDE


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Iterator[Shop]:
    with shop_in(
        tmp_path,
        spec("T-1", title="Parse the config"),
        spec("T-2", "T-1", title="Validate it"),
        spec("T-3", "T-2", title="Help texts"),
        spec("T-4", title="Cache headers"),
    ) as made:
        yield made


def _columns(recall: Driver) -> Driver:
    recall.board.shows("T-1")
    recall.press("view")
    recall.screen.shows("○ 2 Ready", "◌ 2 Waiting")
    return recall


def test_the_view_goes_round_and_is_remembered(shop: Shop) -> None:
    with driving(shop.session) as recall:
        _columns(recall).press("view")
        recall.screen.shows("1 Tasks by prerequisite", "└ ◌ T-2", "  └ ◌ T-3")
        recall.press("view")
        recall.screen.shows("▾ Ready")
        recall.press("view").wait(lambda: load_layout(shop.session.state).view == "columns")
    with driving(shop.session) as recall:
        recall.screen.shows("○ 2 Ready")


def test_the_selected_task_stays_selected_from_view_to_view(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.select("T-3")
        for _ in range(3):
            recall.press("view")
            recall.why.shows("T-3: waits for T-2")


def test_keys_act_on_the_task_that_is_selected_in_a_column(shop: Shop) -> None:
    with driving(shop.session) as recall:
        _columns(recall).keys("right", "down")
        recall.why.shows("T-3:")
        recall.keys("left", "down")
        recall.why.shows("T-4:")
        recall.press("hold").wait(lambda: shop.task("T-4").state is TaskState.ON_HOLD)
        recall.screen.shows("‖ 1 On hold", "○ 1 Ready")
        recall.why.shows("T-4: on hold")
        recall.press("hold").wait(lambda: shop.task("T-4").state is TaskState.TODO)
        recall.why.shows("T-4:")


def test_a_task_in_a_column_is_opened_with_enter(shop: Shop) -> None:
    with driving(shop.session) as recall:
        _columns(recall).keys("right", "enter")
        recall.screen.shows("T-2", "Validate it", "Waits for")
        recall.keys("escape")
        recall.why.shows("T-2:")


def test_a_filter_thins_columns_out(shop: Shop) -> None:
    with driving(shop.session) as recall:
        _columns(recall).press("filter").types("help").keys("enter")
        recall.screen.shows("◌ 1 Waiting", "filter: help").hides("Ready")
        recall.why.shows("T-3:")
        recall.keys("escape")
        recall.screen.shows("○ 2 Ready")


def test_a_column_is_folded_to_its_count_and_opened_again(shop: Shop) -> None:
    with driving(shop.session) as recall:
        _columns(recall).keys("right", "space")
        recall.screen.hides("T-2", "Waiting").shows("◌ 2")
        recall.keys("space")
        recall.screen.shows("◌ 2 Waiting", "T-2")


@pytest.mark.parametrize("size", [NARROW, WIDE, (200, 60)], ids=str)
def test_every_state_is_in_sight_whatever_the_width(shop: Shop, size: tuple[int, int]) -> None:
    shop.store.hold(shop.task("T-4").ref, actor="cli")
    with driving(shop.session, size=size) as recall:
        recall.press("view")
        recall.screen.shows("○ 1", "◌ 2", "‖ 1")


def test_a_task_that_is_folded_away_is_opened_by_what_leads_to_it(shop: Shop) -> None:
    shop.store.hold(shop.task("T-4").ref, actor="cli")
    with driving(shop.session) as recall:
        recall.board.select("On hold").keys("space")
        recall.board.hides("T-4")
        assert recall.app.main.tasks.select("task:main:T-4")
        recall.board.shows("T-4")


# -- regions -------------------------------------------------------------------------------------------------------
@pytest.fixture
def regions(shop: Shop) -> Shop:
    diff = shop.store.import_tasks(
        "web", [spec("W-1", title="A page"), spec("W-2", title="Another")], actor="test", cancel_vanished=True
    )
    assert not diff.refused
    return shop


def test_tasks_are_grouped_by_region_when_there_are_several(regions: Shop) -> None:
    with driving(regions.session) as recall:
        recall.board.shows("▾ main", "▾ web", "web:W-1 A page")
        recall.board.select("web").keys("space")
        recall.board.hides("W-2").shows("▸ web", "T-1")
        recall.press("view")
        recall.screen.shows("▾ main", "▸ web").hides("W-2")
        recall.press("view")
        recall.screen.shows("▸ web", "T-1").hides("W-2")
        recall.board.select("web").keys("space")
        recall.board.shows("web:W-1")


def test_a_group_is_folded_in_its_region_only(regions: Shop) -> None:
    with driving(regions.session) as recall:
        recall.board.shows("web:W-1")
        recall.board.select("Ready").keys("space")
        recall.board.hides("T-1 Parse").shows("web:W-1")
        recall.wait(lambda: "group:ready:main" in load_layout(regions.session.state).folded)


def test_done_tasks_are_folded_in_every_region_at_first(regions: Shop) -> None:
    regions.store.finish_manually(TaskRef("web", "W-1"), actor="cli", reason="by hand")
    regions.store.finish_manually(TaskRef("main", "T-4"), actor="cli", reason="by hand")
    with driving(regions.session) as recall:
        recall.board.shows("▸ Done").hides("T-4", "W-1")
        recall.board.select("Done").keys("space")
        recall.board.shows("T-4").hides("W-1")
