"""`recall-tui` checks its words before it starts anything."""

from __future__ import annotations

import subprocess
import sys

import pytest

from recall.cli.report import run
from recall.cli.tui import recall_tui
from tests.support.hermetic_git import Repo


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


def test_the_screen_that_is_not_there_is_said_in_one_sentence(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.path)
    ended = subprocess.run(
        [sys.executable, "-c", "from recall.cli.tui import main; main()"], capture_output=True, text=True, check=False
    )
    assert ended.stderr.splitlines()[0] == "This version has no screen yet; working as with --no-ui."
