"""A budget in recall.toml, with agents whose events tell a price."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recall.domain.task import TaskState
from tests.support.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Workshop:
    """Two tasks; each run tells that it cost $0.60."""
    shop = Workshop.create(tmp_path)
    told = {"total_cost_usd": 0.6, "usage": {"input_tokens": 10, "output_tokens": 5}}
    event = json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": "done", **told})
    script = f'echo "$TASK" > "$TASK.txt"; commit "$TASK"; success > /dev/null; echo \'{event}\''
    shop.agent("ant", script, stream="claude")
    shop.tasks("## T-1 First", "## T-2 Second\n- after: T-1", "## T-3 Third\n- after: T-2")
    return shop


def test_when_the_day_is_spent_nothing_new_starts_and_it_is_said(shop: Workshop) -> None:
    shop.extra = "[budget]\nday_usd = 1.0\n"
    shop.settle()
    ended = shop.dispatch()
    assert ended.returncode == 1
    states = {id_: task.state for id_, task in shop.look().items()}
    assert states == {"T-1": TaskState.DONE, "T-2": TaskState.DONE, "T-3": TaskState.TODO}
    assert "today's budget for all agents is used up: $1.20 of $1.00" in shop.recall("why", "ant").stdout
    assert "budget" in ended.stdout


def test_without_one_all_is_done(shop: Workshop) -> None:
    shop.settle()
    assert shop.dispatch().returncode == 0
