"""What waits for a person has one line on the screen; enter shows all of it, and what can be done."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from recall.domain.run import Claim, RunResult
from recall.engine.trust import TRUSTED
from tests.support.builders import settlement, spec
from tests.support.driver import Shop, driving, shop_in
from tests.support.pilot import NARROW

_LONG = "out of credit: " + " ".join(f"word{number}" for number in range(20)) + " the-end"


def _stop(shop: Shop) -> None:
    claim = shop.store.claim(shop.task("T-1").ref, "ant", "ant-1", 1e6)
    assert isinstance(claim, Claim)
    run = claim.run_id, claim.owner, claim.version
    shop.store.start_run(*run, branch="recall/x", base="0" * 40, slot="s-1")
    shop.store.end_run(*run)
    done = replace(settlement(RunResult.VERIFY_FAILED, "red", now=1.0), agent_stopped=_LONG)
    assert shop.store.settle_run(*run, done, actor="dispatcher") is None


def test_of_an_agent_and_nothing_is_done_before_a_choice(tmp_path: Path, home: Path) -> None:
    with shop_in(tmp_path, spec("T-1")) as shop:
        _stop(shop)
        with driving(shop.session, size=NARROW) as recall:
            recall.needs.shows("ant").hides("the-end")
            recall.calls(lambda: recall.app.main.set_focus(recall.app.main.query_one("#needs")))
            recall.keys("enter").screen.shows("the-end", "1  resume", "2  close")
            recall.keys("2").screen.hides("the-end")
            assert next(one for one in shop.store.agents() if one.name == "ant").stopped_reason
            recall.calls(lambda: recall.app.main.set_focus(recall.app.main.query_one("#needs")))
            recall.keys("enter").screen.shows("the-end")
            recall.keys("1").says("ant is not paused any more")


def test_of_commands_to_confirm_it_leads_to_them(tmp_path: Path, home: Path) -> None:
    with shop_in(tmp_path, spec("T-1")) as shop:
        shop.store.put_setting(TRUSTED, "another", actor="test")
        with driving(shop.session, size=NARROW) as recall:
            recall.needs.shows("recall.toml")
            recall.calls(lambda: recall.app.main.set_focus(recall.app.main.query_one("#needs")))
            recall.keys("enter").screen.shows("no person confirmed it", "1  confirm")
            recall.keys("1").screen.shows("Let Recall run these commands?", "agents.ant: /bin/true")
