"""Where signs cannot be drawn, dialogs, palette and history draw none either."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from recall_widgets.glyphs import ASCII
from tests.support.builders import spec
from tests.support.driver import Driver, driving, shop_in

_OPEN: dict[str, Callable[[Driver], object]] = {
    "themes": lambda recall: recall.press("theme").screen.shows("Theme", "enter keeps it"),
    "palette": lambda recall: recall.press("palette").screen.shows("Search for commands", "requeue"),
    "office": lambda recall: recall.press("office").screen.shows("Office", "/|"),
    "history": lambda recall: recall.press("history").screen.shows("History", "->"),
    "question": lambda recall: recall.press("cancel").screen.shows("Cancel T-1?", "enter yes - escape no"),
}


@pytest.fixture
def recall(tmp_path: Path, home: Path) -> Iterator[Driver]:
    with shop_in(tmp_path, spec("T-1", title="Parse")) as shop:
        shop.store.hold(shop.task("T-1").ref, actor="person", reason="")
        with driving(replace(shop.session, symbols=ASCII)) as driver:
            driver.board.shows("T-1")
            yield driver


@pytest.mark.parametrize("name", _OPEN)
def test_nothing_else_is_drawn(recall: Driver, name: str) -> None:
    recall.board.select("T-1")
    _OPEN[name](recall)
    recall.wait(lambda: recall.screen.text.isascii())
