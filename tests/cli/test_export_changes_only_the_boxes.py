"""`recall export` shows the lists as they stand, and writes nothing but boxes and status fields."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall.cli.report import run
from recall.cli.root import recall
from tests.support.hermetic_git import Repo

LIST = b"# Tasks\r\n\r\n- [ ] T-1: First\r\n- [ ] T-2: Second (after: T-1)\r\n\r\nProse with [ ] a box.\r\n"


@pytest.fixture
def project(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Path:
    (repo.path / "TASKS.md").write_bytes(LIST)
    (repo.path / "recall.toml").write_text('main = "main"\nverify = "none"\n')
    monkeypatch.chdir(repo.path)
    assert run(recall, "recall", ["import"]) == 0
    assert run(recall, "recall", ["cancel", "T-2"]) == 0
    return repo.path / "TASKS.md"


def test_printing_leaves_the_file_alone(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(recall, "recall", ["export"]) == 0
    assert "- [-] T-2: Second" in capsys.readouterr().out
    assert project.read_bytes() == LIST


def test_writing_changes_one_box_and_keeps_mode_and_line_ends(project: Path) -> None:
    project.chmod(0o640)
    assert run(recall, "recall", ["export", "--write"]) == 0
    assert project.read_bytes() == LIST.replace(b"- [ ] T-2", b"- [-] T-2")
    assert project.stat().st_mode & 0o777 == 0o640


def test_an_unknown_region_names_the_known_ones(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(recall, "recall", ["export", "--region", "web"]) == 2
    assert "main" in capsys.readouterr().err
