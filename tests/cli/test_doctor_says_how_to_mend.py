"""`recall doctor` finds what is wrong, says how to mend it, and changes nothing."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from recall.cli.report import run
from recall.cli.root import recall
from tests.support.hermetic_git import Repo


@pytest.fixture
def project(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    repo.write("TASKS.md", "# Tasks\n\n- [ ] T-1: First\n- [ ] T-2: Second (after: T-1)\n")
    repo.write("recall.toml", 'main = "main"\nverify = "none"\n[agents.sh]\ncommand = ["sh"]\n')
    monkeypatch.chdir(repo.path)
    assert run(recall, "recall", ["import"]) == 0
    return repo


def findings(capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, str]]:
    capsys.readouterr()
    code = run(recall, "recall", ["doctor", "--json"])
    rows = json.loads(capsys.readouterr().out)
    return code, {row["about"]: row["what"] for row in rows if not row["good"]}


def test_a_sound_project_has_nothing_to_mend(project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    assert findings(capsys) == (0, {})


def test_a_missing_program_and_a_broken_list_are_named(project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    project.write("recall.toml", 'main = "main"\nverify = "none"\n[agents.gone]\ncommand = ["no-such-agent"]\n')
    project.write("TASKS.md", "- [ ] T-1: First (after: T-9)\n")
    code, wrong = findings(capsys)
    assert code == 1
    assert "no-such-agent" in wrong["agent gone"]
    assert "T-9" in wrong["task list"]


def test_a_wrong_counter_in_the_store_is_found(project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    database = Path(project.git_dir) / "recall" / "recall.db"
    connection = sqlite3.connect(database)
    connection.execute("UPDATE tasks SET unmet = 5 WHERE id = 'T-2'")
    connection.commit()
    connection.close()
    code, wrong = findings(capsys)
    assert code == 1
    assert "T-2" in wrong["store"]


def test_a_repository_without_the_branch_is_told(project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    project.write("recall.toml", 'main = "trunk"\nverify = "none"\n[agents.sh]\ncommand = ["sh"]\n')
    code, wrong = findings(capsys)
    assert code == 1
    assert "trunk" in wrong["repository"]
