"""Borders move by keys and by the mouse, within limits, and are where they were at the next start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.geometry import Region

from recall.ui.layout import Splits, load_layout
from tests.support.builders import spec
from tests.support.driver import Driver, Shop, driving, shop_in
from tests.support.pilot import NARROW


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Iterator[Shop]:
    with shop_in(tmp_path, spec("T-1", title="Parse the config"), spec("T-2", title="Help")) as made:
        yield made


def _region(recall: Driver, name: str) -> Region:
    return recall.app.main.query_one(f"#{name}").region


@pytest.mark.parametrize(
    ("pane", "command", "part", "grows"),
    [
        ("1", "pane-wider", "tasks", True),
        ("1", "pane-narrower", "tasks", False),
        ("2", "pane-wider", "agents", True),
        ("2", "pane-higher", "agents", True),
        ("3", "pane-higher", "queue", True),
        ("3", "pane-lower", "queue", False),
        ("4", "pane-higher", "log", True),
        ("4", "pane-lower", "log", False),
    ],
)
def test_a_key_moves_the_nearest_border(shop: Shop, pane: str, command: str, part: str, grows: bool) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        before = _region(recall, part).area
        recall.keys(pane).press(command)
        recall.wait(lambda: _region(recall, part).area != before)
        assert (_region(recall, part).area > before) is grows


def test_borders_are_remembered_and_can_be_put_back(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        recall.press("pane-wider", "pane-wider", "pane-higher")
        recall.wait(lambda: load_layout(shop.session.state).splits == Splits(upper=65, tasks=60))
        width = _region(recall, "tasks").width
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        assert _region(recall, "tasks").width == width
        recall.press("pane-reset").wait(lambda: load_layout(shop.session.state).splits == Splits())
        assert _region(recall, "tasks").width < width


def test_no_pane_is_pushed_off_the_screen(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        recall.press(*["pane-wider"] * 20, *["pane-higher"] * 20)
        assert _region(recall, "agents").width >= 20
        assert _region(recall, "log").height >= 4
        recall.press(*["pane-narrower"] * 40, *["pane-lower"] * 40)
        assert _region(recall, "tasks").width >= 20
        assert _region(recall, "tasks").height >= 4


@pytest.mark.parametrize(
    ("part", "by"),
    [("tasks", (-20, 0)), ("tasks", (15, 0)), ("upper", (0, 4)), ("upper", (0, -5)), ("agents", (0, 3))],
)
def test_a_border_is_dragged(shop: Shop, part: str, by: tuple[int, int]) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        before = _region(recall, part)
        edge = (before.right - 1, before.y + 2) if by[0] else (before.x + 2, before.bottom - 1)
        recall.drags(edge, (edge[0] + by[0], edge[1] + by[1]))
        after = _region(recall, part)
        moved = after.width - before.width if by[0] else after.height - before.height
        assert abs(moved - sum(by)) <= 1
        recall.wait(lambda: load_layout(shop.session.state).splits != Splits())


def test_a_click_beside_the_borders_moves_nothing(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        inside = _region(recall, "tasks").shrink((3, 3, 3, 3))
        recall.drags((inside.x, inside.y), (inside.x + 15, inside.y))
        assert recall.app.main.layout_now("").splits == Splits()


def test_columns_have_the_full_width_and_a_border_of_their_own(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        recall.press("view")
        recall.wait(lambda: _region(recall, "tasks").width == recall.app.size.width)
        before = _region(recall, "tasks").height
        recall.press("pane-higher").wait(lambda: _region(recall, "tasks").height > before)
        assert recall.app.main.layout_now("").splits == Splits(columns=67)


def test_a_zoomed_pane_leaves_what_needs_a_person_in_sight(shop: Shop) -> None:
    shop.store.sync_agents(shop.session.settings.agent_specs)
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        recall.keys("4").press("zoom")
        recall.screen.shows("─ 4 Log", "RECALL", "why").hides("─ 1 Tasks")
        recall.keys("2")
        recall.screen.shows("─ 2 Agents").hides("─ 4 Log")
        recall.keys("escape")
        recall.screen.shows("─ 1 Tasks", "─ 4 Log")


def test_a_tab_is_clicked(shop: Shop) -> None:
    with driving(shop.session, size=NARROW) as recall:
        recall.board.shows("T-1")
        top = _region(recall, "tabs").y
        recall.clicks(recall.lines[top].index("2 Agents") + 1, top)
        recall.screen.shows("─ 2 Agents")
