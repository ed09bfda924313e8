"""How agents were seen to behave as processes and to report, each with the real program: the run ends, is called what
it was, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import pty
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recall.domain.run import Run, RunResult
from recall.domain.task import TaskState
from tests.support.overheard import Overheard
from tests.support.workshop import Workshop, eventually

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

CASES: dict[str, dict[str, Any]] = {
    case["id"]: case
    for case in json.loads((Path(__file__).parents[1] / "cases" / "agent-behaviour.json").read_text("utf-8"))
}
LANDS = 'echo "$TASK" > "$TASK.txt"; commit "$TASK: write"; success'

#: What a case says in words, as shell.
IN_WORDS = {
    "write a report of 50 MB, or of deep nesting, or with control characters, or for another task id": """
B=.recall-run; H='{"token": "none", "task": "T-1", "result": "success", "summary": "'
{ printf '%s' "$H"; head -c 50M /dev/zero | tr '\\0' x; printf '"}'; } > $B/report-1-large.json
{ head -c 60K /dev/zero | tr '\\0' '['; } > $B/report-2-deep.json
printf '%s\\033]52;c;ZXZpbA==\\007\\033[2J"}' "$H" > $B/report-3-raw.json
$REPORT --task T-9 --result success
failure "$(printf 'fine \\033[2J\\033]52;c;ZXZpbA==\\007 really')"
""",
}


def shop_for(home: Path, script: str, *, task: str = "## T-1 Try\n- attempts: 1", **settings: str) -> Workshop:
    """A project whose agent `ant` is that script. `settings` replace lines of recall.toml, by their key."""
    shop = Workshop.create(home)
    shop.agent("ant", script)
    shop.tasks(task)
    shop.settle()
    file = shop.repo.path / "recall.toml"
    lines = file.read_text().splitlines()
    for key, value in settings.items():
        lines = [f'{key} = "{value}"' if line.startswith(f"{key} =") else line for line in lines]
    file.write_text("\n".join(lines) + "\n")
    return shop


def script_of(case: str) -> str:
    text: str = CASES[case]["input"]["fake_agent_sh"]
    return IN_WORDS.get(text, text)


def only_run(shop: Workshop) -> Run:
    runs = shop.runs()
    assert len(runs) == 1, runs
    return runs[0]


def record(shop: Workshop) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((shop.state / "runs" / "1" / "exit.json").read_text("utf-8"))
    return read


def transcript(shop: Workshop) -> bytes:
    return b"".join(part.read_bytes() for part in sorted((shop.state / "runs" / "1").glob("transcript*")))


def check_slot_is_free(shop: Workshop) -> None:
    assert shop.strays() == []
    assert any("went back to the pool" in reason for reason in shop.reasons("workspace.closed"))


def keeps_the_pipe_open(shop: Workshop) -> None:
    ended = record(shop)
    assert ended["ended_at"] - ended["started_at"] < 5
    assert (ended["status"], ended["strays"]) == (0, 1)
    assert only_run(shop).result is RunResult.NO_REPORT


def is_killed(shop: Workshop) -> None:
    assert record(shop)["signal"] == 9
    assert "killed by signal 9" in only_run(shop).reason
    assert only_run(shop).result is RunResult.NO_REPORT


def is_killed_alone(shop: Workshop) -> None:
    is_killed(shop)
    assert record(shop)["strays"] >= 1


def prints_bytes(shop: Workshop) -> None:
    assert transcript(shop).startswith(b"\xff\xfe\x80 caf\xe9\n")
    assert only_run(shop).result is RunResult.NO_REPORT


def prints_tags(shop: Workshop) -> None:
    written = "[/bold] [/usr/bin/env] {p}/{t}[/{n}...]/read [@click=app.quit]x[/] [red]"
    assert transcript(shop).decode() == f"{written}\n"
    assert shop.recall("show", "1").returncode == 0


def reports_with_hostility(shop: Workshop) -> None:
    assert only_run(shop).result is RunResult.FAILED
    refused = "\n".join(record(shop)["refused"])
    for reason in ("at most 65536 are read", "nested deeper than 8", "not JSON", "for another task"):
        assert reason in refused
    shown = shop.recall("show", "1").stdout + shop.recall("log").stdout
    assert "fine" in shown
    assert "\x1b" not in shown
    assert "\x07" not in shown


@pytest.mark.parametrize(
    ("case", "code", "check"),
    [
        ("AG-001", 1, keeps_the_pipe_open),
        ("AG-005", 1, is_killed_alone),
        ("AG-007", 1, prints_bytes),
        ("AG-013", 1, is_killed),
        ("AG-017", 1, prints_tags),
        ("AG-035", 1, reports_with_hostility),
    ],
)
def test_a_run_ends_and_is_called_what_it_was(
    tmp_path: Path, home: Path, case: str, code: int, check: Callable[[Workshop], None]
) -> None:
    shop = shop_for(tmp_path / "shop", script_of(case))
    ended = shop.dispatch()
    assert ended.returncode == code, ended.stdout + ended.stderr
    check(shop)
    check_slot_is_free(shop)


def test_what_a_killed_agent_left_is_kept(tmp_path: Path, home: Path) -> None:
    shop = shop_for(tmp_path / "shop", "echo half > half.txt; " + script_of("AG-013"))
    assert shop.dispatch().returncode == 1
    assert shop.repo.file("half.txt", "refs/recall/parked/1") == b"half\n"


def test_an_agent_that_ignores_signals_is_killed_at_its_time_limit(tmp_path: Path, home: Path) -> None:
    shop = shop_for(tmp_path / "shop", script_of("AG-003"), timeout="1s")
    assert shop.dispatch().returncode == 1
    assert only_run(shop).result is RunResult.TIMED_OUT
    assert (record(shop)["stopped"], record(shop)["signal"]) == ("timeout", 9)
    check_slot_is_free(shop)


def test_endless_output_is_capped_and_disturbs_no_other_run(tmp_path: Path, home: Path) -> None:
    both = f'if [ "$TASK" = T-1 ]; then {script_of("AG-009")}; else {LANDS}; fi'
    tasks = "## T-1 Talk\n- attempts: 1\n\n## T-2 Work"
    shop = shop_for(tmp_path / "shop", both, task=tasks, timeout="2s")
    file = shop.repo.path / "recall.toml"
    file.write_text(
        file.read_text()
        .replace("[run]\n", '[run]\ntranscript_cap = "1MiB"\n')
        .replace("[agents.ant]\n", "[agents.ant]\nparallel = 2\n")
    )
    assert shop.dispatch().returncode == 1
    results = {run.ref.id: run.result for run in shop.runs()}
    assert results == {"T-1": RunResult.TIMED_OUT, "T-2": RunResult.LANDED}
    talker = next(run.id for run in shop.runs() if run.ref.id == "T-1")
    kept = sum(part.stat().st_size for part in (shop.state / "runs" / str(talker)).glob("transcript*"))
    assert 256 * 1024 < kept <= 1024 * 1024


def test_the_dispatchers_terminal_is_out_of_reach(tmp_path: Path, home: Path) -> None:
    shop = shop_for(tmp_path / "shop", script_of("AG-015"))
    ours, theirs = pty.openpty()
    with shop.dispatching("--until-done", terminal=theirs) as process:
        os.close(theirs)
        shown = _everything(ours)
        assert process.wait(30) == 1
    assert b"T-1" in shown
    assert b"Overwrite?" not in shown
    assert only_run(shop).result is RunResult.NO_REPORT


def _everything(terminal: int) -> bytes:
    shown = b""
    try:
        while data := os.read(terminal, 65536):
            shown += data
    except OSError:  # the other end is closed
        pass
    os.close(terminal)
    return shown


def test_a_killed_dispatchers_agent_is_adopted_and_never_doubled(tmp_path: Path, home: Path) -> None:
    shop = shop_for(tmp_path / "shop", f'echo $$ >> "{tmp_path}/starts"; ' + script_of("AG-037"))
    starts = tmp_path / "starts"
    with shop.dispatching() as process:
        eventually(starts.exists)
        process.kill()
        process.wait()
        assert shop.strays(), "the agent works on"
    with shop.dispatching("--until-done", "--grace", "0s") as process:
        dispatcher = Overheard(process)
        eventually(lambda: shop.reasons("run.adopted") != [])
        assert dispatcher.stop() == 1
    assert len(starts.read_text().split()) == 1
    assert shop.strays() == []
    task = shop.look()["T-1"]
    assert (task.state, task.attempts) == (TaskState.TODO, 0)
