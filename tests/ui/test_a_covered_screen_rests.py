"""What lies under another screen is not drawn again before it is seen again; then it has caught up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recall.domain.run import Claim
from recall.domain.task import TaskState
from recall.ui.covered import is_covered
from recall.ui.run_log import RunLog
from recall.ui.screens.office import OfficeScreen
from recall_widgets.task_board import TaskBoard
from tests.support.builders import spec
from tests.support.driver import Shop, driving, shop_in


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Iterator[Shop]:
    with shop_in(tmp_path, spec("T-1", title="Parse"), spec("T-2", title="Validate")) as made:
        yield made


def test_it_catches_up_when_it_is_seen_again(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-2 Validate")
        main = recall.app.main
        before = main.query_one(TaskBoard).rows
        recall.press("history").screen.shows("imported")
        assert is_covered(main)
        shop.store.hold(shop.task("T-2").ref, actor="cli", reason="")
        recall.screen.shows("on hold")
        assert main.query_one(TaskBoard).rows == before
        recall.app._watcher.stop()  # pyright: ignore[reportPrivateUsage] - nothing else brings it later
        recall.keys("escape")
        recall.board.shows("On hold")
        assert not is_covered(main)


def test_a_log_below_is_read_when_it_is_seen_again(shop: Shop) -> None:
    claim = shop.store.claim(shop.task("T-1").ref, "ant", "ant-1", 1e6)
    assert isinstance(claim, Claim)
    place = {"branch": "recall/main/T-1/1", "base": shop.repo.tip(), "slot": "s1"}
    shop.store.start_run(claim.run_id, claim.owner, claim.version, **place)
    log = shop.session.run_folder(claim.run_id) / "transcript"
    log.parent.mkdir(parents=True)
    log.write_text("line 1\n")
    with driving(shop.session) as recall:
        recall.board.select("T-1")
        recall.log.shows("line 1")
        below = recall.app.main.query_one(RunLog)
        known = below.virtual_size
        recall.press("office").screen.shows("Office")
        recall.keys("enter")
        for number in range(2, 5):  # looked at as often as the one below would be
            with log.open("a") as file:
                file.write(f"line {number}\n")
            recall.screen.shows(f"line {number}")
        assert below.virtual_size == known
        recall.keys("escape").wait(lambda: isinstance(recall.app.screen, OfficeScreen))
        recall.keys("escape")
        recall.log.shows("line 4")


def test_a_dialog_covers_nothing(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.select("T-1").press("cancel")
        recall.screen.shows("Cancel T-1?")
        assert not is_covered(recall.app.main)
        shop.store.hold(shop.task("T-2").ref, actor="cli", reason="")
        recall.wait(lambda: shop.task("T-2").state is TaskState.ON_HOLD)
        recall.header.shows("1 ready")
