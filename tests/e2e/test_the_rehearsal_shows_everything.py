"""`recall rehearse`: the whole program on its own stage, once through and once killed in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.hermetic_git import Repo
from tests.support.workshop import eventually, processes_in

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]


def rehearse(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "recall", "rehearse", "--no-ui", "--json", "--dir", str(folder)],
        cwd=folder.parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def sights(output: str) -> dict[str, str]:
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return {line["what"]: line["seen"] for line in lines if line["type"] == "sight"}


def test_every_kind_of_situation_is_seen_and_main_ends_green(tmp_path: Path, home: Path) -> None:
    process = rehearse(tmp_path / "stage")
    output, _ = process.communicate()
    assert process.returncode == 0, output
    assert [what for what, seen in sights(output).items() if not seen] == []
    assert processes_in(tmp_path) == []


def test_a_kill_in_the_middle_loses_nothing(tmp_path: Path, home: Path) -> None:
    repo = Repo(tmp_path / "stage" / "shop")
    first = rehearse(tmp_path / "stage")
    eventually(lambda: (repo.path / ".git").exists() and len(landings(repo)) >= 3, 90)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    second = rehearse(tmp_path / "stage")
    output, _ = second.communicate()
    assert second.returncode in (0, 1), output  # one situation may have been cut short by the kill
    tasks = landings(repo)
    assert sorted(tasks) == [f"R-{number:02}" for number in range(1, 13)], output
    assert processes_in(tmp_path) == []


def landings(repo: Repo) -> list[str]:
    if not repo.has("main"):
        return []
    return repo.git("log", "--format=%(trailers:key=Recall-Task,valueonly)", "main").split()
