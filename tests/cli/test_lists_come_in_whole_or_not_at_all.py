"""`recall import` shows the difference, and a list with an error changes nothing and names file, line and column."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import TASKS, Recall
from tests.support.hermetic_git import Repo


def test_the_difference_is_shown(project: Repo, cli: Recall) -> None:
    first = cli("import")
    assert first.code == 0
    assert "new" in first.out
    assert "T-1, T-2, T-3" in first.out
    project.write("TASKS.md", TASKS.replace("Draw the map", "Draw a map") + "\n## T-4 More\n")
    diff = cli("import", "--json").json["main"]
    assert (diff["new"], diff["changed"], diff["unchanged"]) == (["T-4"], ["T-1"], 2)


@pytest.mark.usefixtures("project")
def test_a_dry_run_writes_nothing(cli: Recall) -> None:
    shown = cli("import", "--dry-run")
    assert shown.code == 0
    assert "T-1" in shown.out
    assert cli("status", "--json").json["tasks"] == []


def test_an_error_names_its_place_and_nothing_comes_in(project: Repo, cli: Recall) -> None:
    project.write("TASKS.md", TASKS + "\n## T-1 Again\n\n## T-5 Lost\n\n- after: T-99\n")
    ended = cli("import")
    assert ended.code == 2
    assert "TASKS.md:19:" in ended.err
    assert "T-99" in ended.err
    assert cli("status", "--json").json["tasks"] == []


def test_what_vanished_is_cancelled_by_a_persons_import(project: Repo, cli: Recall) -> None:
    cli("import")
    project.write("TASKS.md", "# Tasks\n\n## T-1 Draw the map\n\nDraw it well.\n")
    assert set(cli("import", "--json").json["main"]["vanished"]) == {"T-2", "T-3"}
    states = {row["task"]: row["state"] for row in cli("status", "--json").json["tasks"]}
    assert states == {"T-1": "todo", "T-2": "cancelled", "T-3": "cancelled"}


def test_another_list_has_a_region_of_its_own(project: Repo, cli: Recall) -> None:
    cli("import")
    project.write("web/TODO.md", "## T-1 Same id, other list\n")
    ended = cli("import", "--region", "web", "web/TODO.md")
    assert ended.code == 0
    assert "not watched" in ended.err
    assert cli("why", "web:T-1").code == 0


def test_a_file_can_be_read_without_a_repository(
    tmp_path: Path, cli: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.md").write_text("## T-1 One\n")
    ended = cli("import", "--dry-run", "--json", "list.md")
    assert ended.code == 0
    assert ended.json["problems"] == []
    (one,) = ended.json["tasks"]
    assert list(one) == ["id", "title", "status", "prereqs", "type", "priority", "runnable"]
    assert list(one.values()) == ["T-1", "One", "todo", [], "general", 0, True]
    (tmp_path / "list.md").write_text("## T-1 One\n\n## T-1 Two\n")
    doubled = cli("import", "--dry-run", "--json", "list.md")
    assert doubled.code == 2
    assert {frozenset(problem) for problem in doubled.json["problems"]} == {
        frozenset(("type", "line", "column", "id", "message"))
    }


def test_a_missing_list_is_named(project: Repo, cli: Recall) -> None:
    (project.path / "TASKS.md").unlink()
    ended = cli("import")
    assert ended.code == 2
    assert "TASKS.md cannot be read" in ended.err


def test_a_region_needs_a_file(cli: Recall) -> None:
    assert cli("import", "--region", "web").code == 2
