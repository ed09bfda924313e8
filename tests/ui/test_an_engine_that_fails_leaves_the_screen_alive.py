"""An engine that fails says why; the screen lives, what a person does still counts, and it can be started again."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from recall.bootstrap import open_engine
from recall.domain.task import TaskState
from recall.engine.dispatcher import Dispatcher, Listener
from tests.support.builders import spec
from tests.support.driver import driving, shop_in


def test_it_says_why_and_can_be_started_again(tmp_path: Path, home: Path) -> None:
    tries: list[int] = []

    @contextmanager
    def fails_at_first(start: Path, listener: Listener, *, restart_conflicts: bool = True) -> Generator[Dispatcher]:
        tries.append(1)
        if len(tries) == 1:
            raise ZeroDivisionError("the engine met something")
        with open_engine(start, listener, restart_conflicts=restart_conflicts) as dispatcher:
            yield dispatcher

    with shop_in(tmp_path, spec("T-1")) as shop:
        shop.store.pause_dispatching(actor="test", reason="only the engine is looked at")
        with driving(replace(shop.session, open_engine=fails_at_first), host=True) as recall:
            recall.says("the engine failed: ZeroDivisionError: the engine met something", "ui.log")
            recall.header.shows("nobody dispatches, E takes over")
            recall.board.shows("T-1")
            recall.press("hold").wait(lambda: shop.task("T-1").state is TaskState.ON_HOLD)
            recall.press("engine")
            recall.header.shows("paused")
            recall.press("quit").leaves()
    assert "the engine met something" in (shop.session.state / "ui.log").read_text()
