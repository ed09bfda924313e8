"""`recall init` writes a recall.toml that loads and a task list that imports, and overwrites nothing."""

from __future__ import annotations

import pytest

from recall.config.load import load_settings
from tests.cli.conftest import Recall, typed
from tests.support.hermetic_git import Repo


@pytest.fixture
def bare_path(monkeypatch: pytest.MonkeyPatch, repo: Repo) -> Repo:
    """A repository in the current folder, no agent on PATH, no task list."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.chdir(repo.path)
    (repo.path / "TASKS.md").unlink()
    return repo


def test_every_guess_is_taken(bare_path: Repo, cli: Recall) -> None:
    bare_path.write("Makefile", "test:\n\ttrue\n")
    ended = cli("init", "--yes")
    assert ended.code == 0
    settings = load_settings(bare_path.path / "recall.toml")
    assert (settings.main, settings.verify) == ("main", "make test")
    assert cli("import").code == 0
    assert {row["task"] for row in cli("status", "--json").json["tasks"]} == {"T-1", "T-2"}


def test_agents_on_the_path_are_found(bare_path: Repo, cli: Recall, monkeypatch: pytest.MonkeyPatch) -> None:
    bare_path.write("bin/claude", "#!/bin/sh\n", mode=0o755)
    monkeypatch.setenv("PATH", f"{bare_path.path}/bin:/usr/bin:/bin")
    assert cli("init", "--yes").code == 0
    assert [agent.name for agent in load_settings(bare_path.path / "recall.toml").agents] == ["claude"]


def test_no_sign_of_tests_is_said_loudly(bare_path: Repo, cli: Recall) -> None:
    ended = cli("init", "--yes")
    assert 'verify is "none"' in ended.out
    assert load_settings(bare_path.path / "recall.toml").verify is None


def test_a_person_decides(bare_path: Repo) -> None:
    ended = typed("trunk\nmake check\nclaude, codex\n", "init")
    assert ended.code == 0, ended.out
    settings = load_settings(bare_path.path / "recall.toml")
    assert (settings.main, settings.verify) == ("trunk", "make check")
    assert [agent.name for agent in settings.agents] == ["claude", "codex"]


def test_nothing_is_overwritten(bare_path: Repo, cli: Recall) -> None:
    bare_path.write("TASKS.md", "mine\n")
    assert cli("init", "--yes").code == 0
    assert (bare_path.path / "TASKS.md").read_text() == "mine\n"
    again = cli("init", "--yes")
    assert again.code == 1
    assert "is there already" in again.err
