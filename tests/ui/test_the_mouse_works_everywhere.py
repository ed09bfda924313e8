"""What a key does on the screen, a click does too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recall.domain.task import TaskState
from tests.support.builders import spec
from tests.support.driver import Driver, Shop, driving, shop_in


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Iterator[Shop]:
    tasks = [spec(f"T-{number}", title=f"Task {number}") for number in range(1, 8)]
    with shop_in(tmp_path, *tasks) as made:
        yield made


def _click(recall: Driver, words: str, times: int = 1) -> Driver:
    recall.screen.shows(words)
    y, line = next((y, line) for y, line in enumerate(recall.lines) if words in line)
    return recall.clicks(line.index(words) + 1, y, times)


def test_a_row_is_selected_with_a_click_and_opened_with_two(shop: Shop) -> None:
    with driving(shop.session) as recall:
        _click(recall, "T-3 Task 3")
        recall.why.shows("T-3:")
        _click(recall, "T-4 Task 4", times=2)
        recall.screen.shows("T-4", "Task 4").hides("1 Tasks")


def test_a_heading_is_folded_with_a_click(shop: Shop) -> None:
    with driving(shop.session) as recall:
        _click(recall, "▾ Ready")
        recall.board.hides("T-3").shows("▸ Ready")


def test_a_column_is_opened_with_a_click(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        recall.press("view").keys("space")
        recall.screen.hides("T-3 Task 3")
        _click(recall, "○ 7")
        y = recall.app.main.query_one("#columns").region.y
        recall.clicks(3, y + 2)
        recall.screen.shows("T-3 Task 3")


def test_a_key_on_the_bottom_line_is_pressed_with_a_click(shop: Shop) -> None:
    with driving(shop.session) as recall:
        _click(recall, "T-2 Task 2")
        _click(recall, "X cancel")
        recall.screen.shows("Cancel T-2?")


def test_an_agent_and_its_key_are_clicked(shop: Shop) -> None:
    with driving(shop.session) as recall:
        _click(recall, "bee")
        recall.why.shows("bee:", "p pause")
        _click(recall, "p pause / resume agent")
        recall.agents.shows("‖ bee")


def test_the_header_leads_to_what_needs_a_person_and_its_keys_act(shop: Shop) -> None:
    shop.store.put_setting("queue.held", "main was rewritten", actor="dispatcher")
    with driving(shop.session) as recall:
        recall.needs.shows("merge queue", "main was rewritten", "M accept main")
        _click(recall, "1 needs you")
        recall.wait(lambda: recall.app.main.focused is recall.app.main.query_one("#needs"))
        _click(recall, "M accept main")
        recall.screen.shows("Go on from main as it is now?")


def test_nothing_that_needs_a_person_is_said_to_be_so(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.header.shows("nothing needs you")
        recall.board.shows("T-1")
        recall.press("next-need").says("Nothing waits for you")
        assert all(task.state is TaskState.TODO for task in shop.store.tasks())
