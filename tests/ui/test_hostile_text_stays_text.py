"""Task titles, reasons, logs, questions and branch names may hold anything: nothing of it is obeyed or crashes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recall.domain.agent import AgentSpec
from recall.domain.run import Claim, RunResult
from recall.domain.task import TaskState
from recall.ui.screens.office import OfficeScreen
from tests.support.builders import settlement, spec
from tests.support.driver import Driver, Shop, driving, shop_in
from tests.support.pilot import NARROW, WIDE
from tests.widgets.stage import HOSTILE, assert_harmless

EVERYTHING = " | ".join(HOSTILE)


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Iterator[Shop]:
    """T-1 asks, T-2 runs with a log, both for everything at once; each further task is named and held by one text."""
    named = [spec(f"H-{number}", title=f"a{text}") for number, text in enumerate(HOSTILE)]
    with shop_in(tmp_path, spec("T-1", title=EVERYTHING), spec("T-2", title=EVERYTHING), *named) as made:
        store = made.store
        store.sync_agents([AgentSpec("ant"), AgentSpec("bee")])
        asks, works = _started(made, "T-1", "ant"), _started(made, "T-2", "bee")
        store.end_run(asks.run_id, asks.owner, asks.version)
        store.settle_run(
            asks.run_id, asks.owner, asks.version, settlement(RunResult.QUESTION, EVERYTHING), actor="dispatcher"
        )
        for number, text in enumerate(HOSTILE):
            store.hold(made.task(f"H-{number}").ref, actor="cli", reason=text)
        store.pause_agent("ant", actor="cli", reason=EVERYTHING)
        folder = made.session.run_folder(works.run_id)
        folder.mkdir(parents=True)
        lines = [text.encode("utf-8", "surrogateescape") for text in HOSTILE]
        (folder / "transcript").write_bytes(b"\n".join([*lines, b"last line\n"]))
        yield made


def _started(shop: Shop, id_: str, agent: str) -> Claim:
    claim = shop.store.claim(shop.task(id_).ref, agent, f"{agent}-{id_}", 1e6)
    assert isinstance(claim, Claim)
    base = shop.repo.git("rev-parse", "HEAD")
    shop.store.start_run(
        claim.run_id, claim.owner, claim.version, branch=f"recall/{EVERYTHING}", base=base, slot=f"s-{agent}"
    )
    return claim


def _looks_harmless(recall: Driver) -> None:
    assert recall.app.return_value is None, "the text left the app"
    assert_harmless(recall.lines)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_wherever_it_is_shown(shop: Shop, size: tuple[int, int]) -> None:
    assert shop.task("T-1").state is TaskState.NEEDS_PERSON
    with driving(shop.session, size=size) as recall:
        recall.needs.shows("T-1")
        recall.board.select("T-2")
        _looks_harmless(recall)
        recall.log.focus().shows("last line")
        _looks_harmless(recall)
        recall.agents.focus().shows("bee")
        _looks_harmless(recall)
        recall.board.select("T-2").keys("enter")
        recall.screen.shows("Events")
        _looks_harmless(recall)
        recall.keys("escape")
        recall.press("office").wait(lambda: isinstance(recall.app.screen, OfficeScreen))
        recall.screen.shows("T-2", "1 at work")
        for _ in range(2):
            recall.keys("tab")
            _looks_harmless(recall)
        recall.keys("escape")
        recall.board.focus()
        recall.press("diff")
        recall.screen.shows("its branch is gone")
        _looks_harmless(recall)
        recall.keys("escape")
        recall.board.select("T-1").press("answer")
        recall.screen.shows("enter accepts")
        _looks_harmless(recall)
        recall.types("[/").keys("enter").says("has your answer")
        _looks_harmless(recall)


def test_a_filter_may_be_anything(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        recall.press("filter").types("[/x]").keys("enter")
        recall.board.shows("filter: [/x]")
        _looks_harmless(recall)


def test_notices_are_no_markup(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        for text in ("[/", "[@click=app.command('quit')]leave[/]", EVERYTHING):
            recall.app.front.say(text, "error")
        recall.wait(lambda: len(recall.notices) == 3)
        recall.screen.shows("[@click=app.command('quit')]leave[/]")
        _looks_harmless(recall)
