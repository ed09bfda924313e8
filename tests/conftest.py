"""What every test gets: an environment in which git sees nothing of this machine, and repositories on demand."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.hermetic_git import Repo, isolate, make_home
from tests.support.kept import Kept

#: In continuous integration the same examples every time: a new one is found by people, not by an unrelated change.
settings.register_profile("steady", derandomize=True, deadline=None, database=None)
if os.environ.get("CI"):
    settings.load_profile("steady")


@pytest.fixture(scope="session", autouse=True)
def hermetic_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Cut the whole session off from the user's and the system's git configuration."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a suite in the background of a shell has it ignored,
        signal.signal(signal.SIGINT, signal.default_int_handler)  # and so would every program that a test interrupts
    before = dict(os.environ)
    isolate(os.environ, make_home(tmp_path_factory.mktemp("home")))
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of this test's own, already in force."""
    folder = make_home(tmp_path / "home")
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def repo(tmp_path: Path, home: Path) -> Repo:
    """A repository with one commit on `main`: README.md and TASKS.md."""
    repo = Repo.create(tmp_path / "repo")
    repo.commit("start", {"README.md": "hello\n", "TASKS.md": "# Tasks\n"})
    return repo


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """Scenes that are made once and put back for each test."""
    return Kept(tmp_path_factory.mktemp("kept"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Sum up what the fault tests said of themselves."""
    passed: list[pytest.TestReport] = terminalreporter.stats.get("passed", [])
    said = "\n".join(report.capstdout for report in passed if report.when == "call")
    figures = {
        "failpoints visited": len(set(re.findall(r"^(?:\d+ shims )?killed at (\w+\.\w+)", said, re.MULTILINE))),
        "kills survived": _total(r"^(\d+) kills survived", said)
        + len(re.findall(r"^killed at ", said, re.MULTILINE)),
        "crash points of git survived": _total(r"^(\d+) of \d+ crash points", said),
        "rule steps": _total(r"^(\d+) rule steps", said),
    }
    if any(figures.values()):
        terminalreporter.write_line(", ".join(f"{count} {name}" for name, count in figures.items()))


def _total(pattern: str, said: str) -> int:
    return sum(int(count) for count in re.findall(pattern, said, re.MULTILINE))
