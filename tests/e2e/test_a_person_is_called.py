"""The real dispatcher calls a person by a command of theirs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.workshop import Workshop, eventually

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Workshop:
    shop = Workshop.create(tmp_path)
    (tmp_path / "call.sh").write_text(
        'echo "$RECALL_SIGNAL_KIND|$RECALL_SIGNAL_TITLE|$RECALL_SIGNAL_TEXT" >> "$(dirname "$0")/called"\n'
    )
    shop.extra = f'[signals]\ndesktop = false\ncommand = "sh {tmp_path}/call.sh"\n'
    return shop


def test_a_question_and_the_end_call(shop: Workshop) -> None:
    ask = '[ "$TASK" = T-1 ] && exec $ASK "keep the [/flag]?"; '
    shop.agent("ant", ask + "echo x > x.txt; commit x; success")
    shop.tasks("## T-1 Asks", "## T-2 Works")
    shop.settle()
    assert shop.recall("import").returncode == 0
    assert shop.recall("config", "trust").returncode == 0
    ended = shop.dispatch("--until-done", "--json")
    called = shop.home / "called"
    eventually(lambda: called.exists() and "needs-you|T-1 needs you|asks: keep the [/flag]?" in called.read_text())
    signals = [each for line in ended.stdout.splitlines() if (each := json.loads(line))["type"] == "signal"]
    assert [each["title"] for each in signals] == ["T-1 needs you"]
    shop.recall("cancel", "T-1")
    assert shop.dispatch().returncode == 0


def test_a_new_command_waits_until_a_person_confirmed_it(shop: Workshop) -> None:
    shop.agent("ant", '$ASK "which way?"')
    shop.tasks("## T-1 Asks")
    quiet, shop.extra = shop.extra, ""
    shop.settle()
    shop.recall("import")
    shop.recall("config", "trust")
    shop.extra = quiet
    shop.settle()
    ended = shop.dispatch()
    assert "confirm" in ended.stdout
    assert not (shop.home / "called").exists()
