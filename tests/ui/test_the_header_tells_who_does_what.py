"""A screen that only views tells of a pause too, and the dispatcher's own screen says that it is the dispatcher."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall.engine import interventions
from recall.engine.observing import observe
from recall.ui.view_models import header
from tests.support.builders import spec
from tests.support.driver import driving, shop_in


@pytest.mark.parametrize(
    ("paused", "dispatcher", "word"),
    [
        (False, True, "viewing"),
        (True, True, "viewing, paused"),
        (True, False, "nobody dispatches, E takes over"),
    ],
)
def test_a_viewer_tells_of_a_pause(tmp_path: Path, *, paused: bool, dispatcher: bool, word: str) -> None:
    with shop_in(tmp_path, spec("T-1")) as shop:
        if paused:
            interventions.pause_dispatching(shop.store, actor="person", reason="lunch")
        session = shop.session
        seen = observe(session.store, session.settings, session.clock, name="shop", dispatcher=dispatcher)
        assert header(seen, mode="viewing", clock="").dispatcher == word


def test_taking_over_what_is_taken_over_is_answered(tmp_path: Path) -> None:
    with shop_in(tmp_path, spec("T-1")) as shop, driving(shop.session, host=True) as recall:
        recall.header.shows("dispatching")
        recall.press("engine").says("this screen is the dispatcher already")


def test_a_pause_of_a_person_is_told_once(tmp_path: Path) -> None:
    with shop_in(tmp_path, spec("T-1")) as shop, driving(shop.session) as recall:
        recall.agents.select("ant").press("pause-agent")
        recall.why.shows("paused by you").hides("paused: paused")
