"""A task list that cannot be taken in waits for a person, on screens and in `recall status`, until it is mended."""

from __future__ import annotations

from pathlib import Path

from recall.engine.observing import observe
from tests.support.builders import spec
from tests.support.driver import Shop, driving, shop_in

GOOD = "# Tasks\n\n## T-1 First\n"
BROKEN = "# Tasks\n\n## T-1 First\n- after: T-9\n"
LINE = "TASKS.md:4:"


def _waits(shop: Shop) -> tuple[str, ...]:
    session = shop.session
    seen = observe(session.store, session.settings, session.clock, name="shop", dispatcher=True)
    return seen.standing.waits


def test_a_list_that_breaks_is_told_with_its_line_until_it_is_mended(tmp_path: Path) -> None:
    with shop_in(tmp_path, spec("T-1")) as shop, driving(shop.session, host=True) as recall:
        (shop.repo.path / "TASKS.md").write_text(BROKEN)
        recall.needs.shows("task list", LINE, "e edit")
        assert any(LINE in line for line in _waits(shop))
        recall.keys("n").why.shows("why task list", LINE)
        (shop.repo.path / "TASKS.md").write_text(GOOD)
        recall.needs.hides("task list")
        assert not any(LINE in line for line in _waits(shop))


def test_a_list_that_was_broken_before_the_start_is_told_too(tmp_path: Path) -> None:
    with shop_in(tmp_path, spec("T-1")) as shop:
        (shop.repo.path / "TASKS.md").write_text(BROKEN)
        with driving(shop.session, host=True) as recall:
            recall.needs.shows("task list", LINE)


def test_enter_on_what_is_no_task_does_what_its_line_offers(tmp_path: Path) -> None:
    with shop_in(tmp_path, spec("T-1")) as shop:
        shop.store.put_setting("queue.held", "main was rewritten", actor="test")
        with driving(shop.session) as recall:
            recall.needs.shows("main was rewritten")
            recall.keys("n").why.shows("why merge queue: main was rewritten")
            recall.keys("enter").screen.shows("1  accept main", "2  close")
            recall.screen.hides("Confirm the commands")
