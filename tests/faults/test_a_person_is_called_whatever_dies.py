"""A call of a person is made over the death of the dispatcher: none is forgotten, none that went out is made anew."""

from __future__ import annotations

import json
from pathlib import Path
from signal import SIGKILL

import pytest

from recall.domain.receipts import ReceiptState
from tests.support.workshop import Workshop

pytestmark = [pytest.mark.faults, pytest.mark.timeout(120)]


_CALL = """\
echo "$RECALL_EFFECT_KEY $RECALL_SIGNAL_TITLE" >> "$(dirname "$0")/called"
[ ! -e "$(dirname "$0")/broken" ] || exit 3
"""


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    """Its agent asks; each call leaves a line with its key."""
    shop = Workshop.create(tmp_path)
    (tmp_path / "call.sh").write_text(_CALL)
    shop.extra = f'[signals]\ndesktop = false\ncommand = "sh {tmp_path}/call.sh"\n'
    shop.agent("ant", '$ASK "which way?"')
    shop.tasks("## T-1 Asks")
    shop.settle()
    return shop


def called(shop: Workshop) -> list[str]:
    file = shop.home / "called"
    return file.read_text().splitlines() if file.exists() else []


@pytest.mark.parametrize(("point", "before", "after"), [
    ("settle.run_settled", 0, 1),
    ("effect.begun", 0, 1),
    ("effect.performed", 1, 2),
    ("effect.recorded", 1, 1),
])  # fmt: skip
def test_a_call_outlives_its_dispatcher(shop: Workshop, point: str, before: int, after: int) -> None:
    assert shop.dispatch(env={"RECALL_FAILPOINT": point}).returncode == -SIGKILL
    assert len(called(shop)) == before
    for _ in range(2):
        assert shop.dispatch().returncode == 1
        assert len(json.loads(shop.recall("status", "--json").stdout)["needs_you"]) == 1
    assert len(called(shop)) == after
    assert len(set(called(shop))) == 1, "one that is repeated has the same key"
    assert called(shop)[0].startswith("notice:needs-you:")
    assert called(shop)[0].endswith(" T-1 needs you")
    with shop.store() as store:
        assert [receipt.state for receipt in store.receipts(open_only=False)] == [ReceiptState.DONE]


def test_what_was_answered_meanwhile_calls_nobody(shop: Workshop) -> None:
    assert shop.dispatch(env={"RECALL_FAILPOINT": "effect.begun"}).returncode == -SIGKILL
    assert shop.recall("cancel", "T-1").returncode == 0
    shop.dispatch()
    assert [line.partition(" ")[2] for line in called(shop)] == ["all done"]
    with shop.store() as store:
        assert store.receipts() == []


def test_a_command_that_fails_is_told_of_and_not_run_again(shop: Workshop) -> None:
    (shop.home / "broken").touch()
    ended = shop.dispatch()
    assert "the command of `signals.command` ended with 3" in ended.stdout + ended.stderr
    assert shop.dispatch().returncode == 1
    assert len(called(shop)) == 1
