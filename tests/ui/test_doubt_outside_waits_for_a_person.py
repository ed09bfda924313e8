"""What may have happened outside stands among what needs a person, until somebody has looked."""

from __future__ import annotations

from pathlib import Path

from recall.domain.receipts import ReceiptState, Wish
from tests.support.builders import ref, spec
from tests.support.driver import driving, shop_in

KEY = "T-1:publish:v1"


def test_doubt_is_shown_with_what_can_be_done_and_goes_when_it_is_settled(tmp_path: Path) -> None:
    with shop_in(tmp_path, spec("T-1")) as shop, driving(shop.session) as recall:
        shop.store.begin_effect(Wish(KEY, "intent", "agent ant", ref=ref("T-1")))
        recall.needs.hides(KEY)
        shop.store.answer_effect(KEY, 1, ReceiptState.IN_DOUBT, actor="dispatcher", reason="its worker was killed")
        recall.needs.shows("outside", KEY)
        recall.keys("n").why.shows("may have happened or not", f"recall effect done {KEY}")
        shop.store.answer_effect(KEY, None, ReceiptState.DONE, actor="cli")
        recall.needs.hides(KEY)


def test_a_push_that_was_refused_says_so(tmp_path: Path) -> None:
    with shop_in(tmp_path, spec("T-1")) as shop, driving(shop.session) as recall:
        key = "push:origin:main:abc"
        shop.store.begin_effect(Wish(key, "intent", "dispatcher"))
        why = "main could not be pushed: origin refuses it"
        shop.store.answer_effect(key, 1, ReceiptState.FAILED, actor="dispatcher", reason=why)
        recall.needs.shows(why)
