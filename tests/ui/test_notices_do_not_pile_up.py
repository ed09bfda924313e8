"""Answers to keys stand one at a time, so that they do not cover what they are about; an error keeps its time."""

from __future__ import annotations

from pathlib import Path

from tests.support.builders import spec
from tests.support.driver import Driver, driving, shop_in

SMALL = (80, 24)
NOT_HELD = "the merge queue is not held"


def _times(recall: Driver, words: str) -> int:
    return "\n".join(recall.lines).count(words)


def test_a_key_that_is_pressed_again_and_again_has_one_answer_on_the_screen(tmp_path: Path) -> None:
    with shop_in(tmp_path, spec("T-1")) as shop, driving(shop.session, size=SMALL) as recall:
        recall.board.shows("T-1")
        recall.press("release-queue", "release-queue", "release-queue")
        recall.wait(lambda: recall.notices.count(NOT_HELD) == 3).wait(lambda: _times(recall, NOT_HELD) == 1)
        recall.press("answer").says("asks nothing").wait(lambda: _times(recall, "waits for its turn") == 1)
        assert not _times(recall, NOT_HELD)


def test_an_error_stands_beside_the_answers_that_follow_it(tmp_path: Path) -> None:
    with shop_in(tmp_path, spec("T-1")) as shop, driving(shop.session, size=SMALL) as recall:
        recall.board.shows("T-1")
        recall.app.front.say("the disk is full", "error")
        recall.press("release-queue").screen.shows("the disk is full", NOT_HELD)


def test_a_notice_is_read_to_its_end(tmp_path: Path) -> None:
    with shop_in(tmp_path, spec("T-1")) as shop, driving(shop.session, size=SMALL) as recall:
        for letters in range(33, 45):
            words = f"{'one two three four five six seven eight'[: letters - 5]} last"
            recall.app.front.say(words)
            recall.screen.shows("one two", "last")
            recall.app.clear_notifications()
            recall.screen.hides("last")
