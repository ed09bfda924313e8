"""A key that means one thing or its opposite says which of them happened."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recall.domain.run import Claim
from recall.domain.task import TaskState
from tests.support.builders import spec
from tests.support.driver import Shop, driving, shop_in


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Iterator[Shop]:
    with shop_in(tmp_path, spec("T-1", title="Parse"), spec("T-2", title="Print")) as made:
        yield made


def test_of_a_task(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.select("T-2").press("hold").says("T-2 is on hold")
        recall.press("hold").says("T-2 is not on hold any more")
        recall.press("raise").says("T-2 has priority 1")
        recall.press("cancel").keys("y").says("T-2 is cancelled")
        recall.wait(lambda: shop.task("T-2").state is TaskState.CANCELLED)


def test_of_an_agent(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.agents.select("bee").press("pause-agent", "pause-agent")
        recall.says("bee is paused").says("bee is not paused any more")
        recall.press("enable-agent", "enable-agent").says("bee is disabled").says("bee is enabled")
        recall.press("more-parallel").says("bee may run 2 at once")


def test_of_dispatching_though_the_key_is_pressed_before_the_screen_follows(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        recall.press("pause", "pause").says("dispatching is paused").says("dispatching is not paused any more")
        assert shop.store.snapshot().dispatching


@pytest.mark.parametrize(("way", "came"), [("1", "the task is on hold"), ("2", "may be started again")])
def test_of_a_run(shop: Shop, way: str, came: str) -> None:
    assert isinstance(shop.store.claim(shop.task("T-1").ref, "ant", "ant-1", 1e6), Claim)
    with driving(shop.session) as recall:
        recall.board.shows("Running")
        recall.board.select("T-1").press("stop-run").keys(way).says("the run of T-1 is stopped", came)
