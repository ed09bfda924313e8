"""`recall-tui` checks its words before it starts anything."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing

import pytest

from recall.cli.report import run
from recall.cli.tui import recall_tui
from recall.store import open_store
from recall.system import SystemClock, SystemRng
from tests.support.hermetic_git import Repo
from tests.support.workshop import eventually


def test_a_bad_time_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(recall_tui, "recall-tui", ["--grace", "soon"]) == 2
    assert '"90s"' in capsys.readouterr().err


def test_without_a_configuration_it_says_what_writes_one(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.path)
    ended = subprocess.run(
        [sys.executable, "-c", "from recall.cli.tui import main; main()", "--no-ui"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert "recall init" in ended.stderr
    assert ended.stdout == ""


def test_without_a_terminal_it_works_without_a_screen(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo.path / "recall.toml").write_text('main = "main"\nverify = "none"\n[agents.sh]\ncommand = ["false"]\n')
    monkeypatch.chdir(repo.path)
    process = subprocess.Popen(
        [sys.executable, "-c", "from recall.cli.tui import main; main()"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with closing(open_store(repo.path / ".git" / "recall" / "recall.db", SystemClock(), SystemRng())) as store:
        eventually(lambda: bool(store.agents()))  # from then on it heeds signals
    process.terminate()
    said, trouble = process.communicate(timeout=30)
    assert "tasks finished" in said, trouble
    assert "\x1b" not in said
