"""Leaving the answer's dialog throws away nothing that was typed."""

from __future__ import annotations

from pathlib import Path

from recall.domain.run import Claim, RunResult
from recall.domain.task import TaskState
from tests.support.builders import settlement, spec
from tests.support.driver import Shop, driving, shop_in


def _asks(shop: Shop, question: str) -> None:
    claim = shop.store.claim(shop.task("T-1").ref, "ant", "ant-1", 1e6)
    assert isinstance(claim, Claim)
    run = claim.run_id, claim.owner, claim.version
    shop.store.start_run(*run, branch="recall/x", base="0" * 40, slot="s-1")
    shop.store.end_run(*run)
    shop.store.settle_run(*run, settlement(RunResult.QUESTION, question, now=1.0), actor="dispatcher")


def test_it_stands_there_the_next_time_until_it_is_sent(tmp_path: Path, home: Path) -> None:
    with shop_in(tmp_path, spec("T-1", title="Parse")) as shop:
        _asks(shop, "Keep the alias?")
        with driving(shop.session) as recall:
            recall.needs.shows("Keep the alias?")
            recall.board.select("T-1").press("answer").screen.shows("enter accepts")
            recall.types("yesplease").keys("escape").screen.hides("enter accepts")
            recall.press("answer").screen.shows("yesplease")
            recall.keys("enter").says("T-1 has your answer")
            recall.wait(lambda: shop.task("T-1").state is TaskState.TODO)
            _asks(shop, "Which name?")
            recall.needs.shows("Which name?")
            recall.board.select("T-1").press("answer").screen.shows("enter accepts", "Which name?")
            recall.screen.hides("yesplease")
