"""Inside a slot `recall outcome` needs nothing but files: no store, no variable, no repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Recall
from tests.support.hermetic_git import Repo


@pytest.fixture
def slot(tmp_path: Path) -> Path:
    folder = tmp_path / "slot"
    (folder / "tree" / "deep").mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"run_id": 7, "task": "T-1", "agent": "ann", "token": "secret"}))
    return folder


def _close(slot: Path, reason: str) -> None:
    (slot / "closed.json").write_text(json.dumps({"token": "secret", "reason": reason}))


def _reports(slot: Path) -> list[dict[str, str]]:
    return [json.loads(file.read_text()) for file in sorted((slot / "tree" / ".recall-run").glob("report-*.json"))]


def test_the_slot_is_found_from_a_folder_inside(slot: Path, cli: Recall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(slot / "tree" / "deep")
    ended = cli("outcome", "--result", "success", "--summary", "all done")
    assert (ended.code, ended.out) == (0, "stored, not yet judged\n")
    (report,) = _reports(slot)
    assert (report["result"], report["summary"], report["token"]) == ("success", "all done", "secret")


def test_the_slot_that_the_prompt_names_works_from_anywhere(slot: Path, cli: Recall) -> None:
    assert cli("ask", "Which colour?", "--slot", str(slot)).code == 0
    (report,) = _reports(slot)
    assert (report["result"], report["question"], report["summary"]) == ("question", "Which colour?", "")


def test_a_run_that_is_over_is_exit_code_11(slot: Path, cli: Recall) -> None:
    _close(slot, "the lease was lost")
    ended = cli("outcome", "--result", "success", "--slot", str(slot))
    assert (ended.code, ended.err) == (11, "refused: the lease was lost\n")
    assert _reports(slot) == []


def test_a_branch_cannot_be_handed_in_from_a_workspace(slot: Path, cli: Recall) -> None:
    assert cli("outcome", "--result", "success", "--branch", "b", "--slot", str(slot)).code == 1
    assert _reports(slot) == []


def test_a_run_is_ended_not_given_back(slot: Path, cli: Recall) -> None:
    ended = cli("release", "--slot", str(slot))
    assert ended.code == 1
    assert "recall outcome --result failure" in ended.err


def test_a_folder_that_is_no_slot_is_named(tmp_path: Path, cli: Recall) -> None:
    ended = cli("heartbeat", "--slot", str(tmp_path))
    assert ended.code == 1
    assert str(tmp_path) in ended.err


@pytest.fixture
def running(imported: Repo) -> Path:
    """A slot of the repository in which ann works on T-1."""
    folder = imported.path / ".recall" / "ws" / "1"
    (folder / "tree").mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"run_id": 7, "task": "T-1", "agent": "ann", "token": "secret"}))
    return folder


def test_a_run_is_found_by_agent_and_task_from_outside(running: Path, cli: Recall) -> None:
    assert cli("outcome", "--result", "success", "--agent", "ann", "--task", "T-1").code == 0
    assert len(_reports(running)) == 1


def test_a_run_is_found_by_its_variable(running: Path, cli: Recall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECALL_RUN_ID", "7")
    assert cli("heartbeat").code == 0
    assert [report["result"] for report in _reports(running)] == ["heartbeat"]


def test_a_claim_of_the_same_agent_is_not_taken_for_its_workspace(running: Path, cli: Recall) -> None:
    claim = cli("next", "--agent", "ann", "--json").json
    ended = cli("outcome", "--result", "failure", "--agent", "ann")
    assert ended.code == 1
    assert f"--slot {running}" in ended.err
    assert f"--run {claim['run_id']}" in ended.err
    assert _reports(running) == []
    assert cli("outcome", "--result", "failure", "--agent", "ann", "--run", str(claim["run_id"])).code == 0
    assert _reports(running) == []
