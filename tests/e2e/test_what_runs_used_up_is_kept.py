"""Session, tokens and price of a run are kept when its agent has ended, however it ended; its log reads as events."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recall.domain.run import RunResult
from tests.support.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

#: Each run tells its session and uses up ten times the number of its task.
AGENT = r"""
NUMBER=${TASK#T-}
printf '{"type":"system","subtype":"init","session_id":"s-%s","cwd":"%s"}\n' "$TASK" "$PWD"
printf '{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"I begin."},'
printf '{"type":"tool_use","id":"t","name":"Write","input":{"file_path":"%s/%s.txt","content":"a\\nb\\n"}}]}}\n' \
  "$PWD" "$TASK"
echo "$TASK" > "$TASK.txt"
printf '{"type":"result","subtype":"success","is_error":false,"result":"","total_cost_usd":0.0%s,' "$NUMBER"
printf '"usage":{"input_tokens":%s0,"output_tokens":5,"cache_read_input_tokens":0}}\n' "$NUMBER"
[ "$TASK" = T-2 ] && exit 3
[ "$TASK" = T-3 ] && { failure "cannot"; exit 0; }
success
"""


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Workshop:
    shop = Workshop.create(tmp_path)
    shop.agent("ant", AGENT, stream="claude")
    shop.tasks("## T-1 First", "## T-2 Second", "## T-3 Third")
    shop.settle()
    text = (shop.repo.path / "recall.toml").read_text()
    shop.repo.commit("events", {"recall.toml": text.replace("[run]", "[run]\nattempts = 1")})
    return shop


def test_every_run_keeps_what_its_agent_told(shop: Workshop) -> None:
    shop.dispatch()
    runs = {run.task: run for run in shop.runs()}
    assert {task: run.result for task, run in runs.items()} == {
        "T-1": RunResult.LANDED,
        "T-2": RunResult.FAILED,
        "T-3": RunResult.FAILED,
    }
    assert {task: (run.session, run.input_tokens, run.output_tokens, run.cost_usd) for task, run in runs.items()} == {
        f"T-{number}": (f"s-T-{number}", number * 10, 5, number / 100) for number in (1, 2, 3)
    }

    shown = json.loads(shop.recall("show", str(runs["T-2"].id), "--json").stdout)
    assert (shown["session"], shown["cost_usd"], shown["cached_tokens"]) == ("s-T-2", 0.02, 0)
    listed = json.loads(shop.recall("runs", "--json").stdout)
    assert sorted(run["input_tokens"] for run in listed) == [10, 20, 30]
    assert "$0.03" in shop.recall("runs").stdout
    assert "30 tokens in, 5 out, $0.03" in shop.recall("show", str(runs["T-3"].id)).stdout

    read = shop.recall("log", "T-1").stdout
    assert read.splitlines()[:2] == ["I begin.", "Wrote T-1.txt  +2"]
    assert "10 tokens in, 5 out, $0.01" in read
    assert '"type"' not in read
    assert shop.recall("log", "T-1", "--follow").stdout == read
    assert '{"type":"system","subtype":"init","session_id":"s-T-1"' in shop.recall("log", "T-1", "--raw").stdout
    lines = [json.loads(line) for line in shop.recall("log", "T-1", "--json").stdout.splitlines()]
    assert lines[0] == {"run": runs["T-1"].id, "text": "I begin."}
    assert "there is no task or run" in shop.recall("log", "T-77").stderr


def test_an_unknown_name_of_a_stream_is_refused(shop: Workshop) -> None:
    shop.repo.commit("x", {"recall.toml": (shop.repo.path / "recall.toml").read_text().replace("claude", "clod")})
    ended = shop.dispatch()
    assert ended.returncode == 2
    assert 'there is no preset "clod"' in ended.stderr
