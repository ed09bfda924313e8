"""`recall explain-log` gives what the engine makes of a log: over every real log tail, through the real command."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from recall.cli.root import recall as command
from tests.domain.test_limits_from_the_wild_are_read_right import CASES, CLASSES, is_near

KEYS = ["class", "limited", "reset_at", "matched", "source", "reason"]


def arguments(case: dict[str, Any], log: Path) -> list[str]:
    given = case["input"]
    log.write_text(given["log_tail"])
    chosen = ["--agent", given["agent"], "--exit-code", str(given["exit_code"])]
    chosen += ["--now", given["now"], "--tz", given["local_tz"], "--json", str(log)]
    return ["explain-log", *(["--reported"] if given["outcome_report_present"] else []), *chosen]


def agrees(found: dict[str, Any], expected: dict[str, Any]) -> bool:
    if list(found) != KEYS or found["limited"] != expected["limited"]:
        return False
    if expected["class"] in CLASSES and found["class"] not in CLASSES[expected["class"]]:
        return False
    right = expected.get("reset_at_any", [expected.get("reset_at")])
    reset = None if found["reset_at"] is None else datetime.fromisoformat(found["reset_at"]).timestamp()
    return not found["limited"] or any(is_near(reset, one, expected["tolerance_s"]) for one in right)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_log_from_the_wild_is_explained_outside_any_repository(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = CliRunner().invoke(command, arguments(case, tmp_path / "run.log"))
    assert ended.exit_code == 0, ended.output
    assert agrees(json.loads(ended.stdout), case["expected"]), ended.stdout


def test_the_real_program_says_the_same_from_standard_input(tmp_path: Path) -> None:
    case = next(case for case in CASES if case["id"] == "UL-001")
    arguments_ = [*arguments(case, tmp_path / "run.log")[:-1], "-"]
    ended = subprocess.run(
        [sys.executable, "-m", "recall", *arguments_],
        cwd=tmp_path,
        input=case["input"]["log_tail"].encode(),
        capture_output=True,
        check=True,
    )
    assert json.loads(ended.stdout) == {
        "class": "limit",
        "limited": True,
        "reset_at": "2025-12-23T15:00:00Z",
        "matched": "Claude AI usage limit reached|1766502000",
        "source": "text",
        "reason": "usage limit reached until 2025-12-23 15:00 UTC",
    }


def explain(*args: str) -> tuple[int, str]:
    ended = CliRunner().invoke(command, ["explain-log", *args])
    return ended.exit_code, ended.output


def test_people_are_told_the_line_and_when_it_ends(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text("working\n" * 100_000 + "You've hit your limit · resets 5pm (UTC)\n")
    code, said = explain("--agent", "claude", "--now", "2026-03-16T14:10:00Z", str(log))
    assert code == 0
    assert "limit: usage limit reached until 2026-03-16 17:00 UTC" in said
    assert '"You\'ve hit your limit · resets 5pm (UTC)"' in said
    assert "in 2:50:00" in said


def test_an_agent_of_recall_toml_brings_its_own_patterns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    for name, text in (("HEAD", "ref: refs/heads/main\n"), ("config", "")):
        (tmp_path / ".git" / name).write_text(text)
    (tmp_path / ".git" / "objects").mkdir()
    (tmp_path / ".git" / "refs").mkdir()
    (tmp_path / "recall.toml").write_text(
        'verify = "none"\n[agents.mine]\ncommand = ["x"]\npatterns = { limit = ["budget is spent"] }\n'
    )
    (tmp_path / "run.log").write_text("Error: today's budget is spent\n")
    monkeypatch.chdir(tmp_path)
    assert json.loads(explain("--agent", "mine", "--json", "run.log")[1])["class"] == "limit"
    assert json.loads(explain("--agent", "codex", "--json", "run.log")[1])["class"] == "none"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--agent", "nobody"], "there is no agent or preset nobody; there are aider"),
        (["--agent", "claude", "--tz", "Mars/Base"], "is no time zone"),
        (["--agent", "claude", "--now", "soon"], "is no moment"),
    ],
)
def test_what_cannot_be_meant_is_said(args: list[str], words: str, tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text("x\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        ended = CliRunner().invoke(command, ["explain-log", *args, "run.log"], standalone_mode=False)
    assert ended.exception is not None
    assert words in getattr(ended.exception, "message", str(ended.exception))
