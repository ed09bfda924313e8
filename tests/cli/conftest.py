"""A repository set up for Recall, and the real commands run in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from recall.bootstrap import open_store_at, settings_at
from recall.cli.report import run
from recall.cli.root import recall
from recall.engine.ports import Store
from recall.gitops.locate import locate
from tests.support.hermetic_git import Repo

CONFIG = """\
verify = "none"
[agents.ann]
command = ["true"]
[agents.bob]
command = ["true"]
types = ["web"]
"""

TASKS = """\
# Tasks

## T-1 Draw the map

Draw it well.

## T-2 Colour the map

- after: T-1

## T-3 Print it

- type: web
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Recall = Callable[..., Ended]


@pytest.fixture
def project(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A repository with recall.toml and three tasks in its list, and the current folder in it."""
    repo.commit("set up", {"recall.toml": CONFIG, "TASKS.md": TASKS})
    monkeypatch.chdir(repo.path)
    return repo


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Recall:
    """Run `recall` in this process."""

    def call(*args: str) -> Ended:
        code = run(recall, "recall", list(args))
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return call


@pytest.fixture
def imported(project: Repo, cli: Recall) -> Repo:
    assert cli("import").code == 0
    return project


def opened(folder: Path) -> Store:
    """The store of a repository, for a test to close."""
    location = locate(folder)
    return open_store_at(location, settings_at(location))


def typed(runner_input: str, *args: str) -> Ended:
    """Run `recall` with a person typing."""
    ended = CliRunner().invoke(recall, list(args), input=runner_input)
    return Ended(ended.exit_code, ended.output, ended.stderr)
