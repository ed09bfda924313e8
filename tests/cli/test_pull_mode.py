"""An agent that a person drives: claim, stay alive, hand in, give back. A claim that ran out is never honoured."""

from __future__ import annotations

from typing import Any

import pytest

from recall.gitops.locate import locate
from tests.cli.conftest import Recall, opened
from tests.support.hermetic_git import Repo

pytestmark = pytest.mark.usefixtures("imported")


@pytest.fixture
def claim(imported: Repo, cli: Recall) -> Any:
    """The first task, claimed for ann."""
    assert imported
    return cli("next", "--agent", "ann", "--json").json


def _task(cli: Recall, name: str) -> Any:
    return next(row for row in cli("status", "--json").json["tasks"] if row["task"] == name)


def test_a_claim_says_everything(claim: Any) -> None:
    assert (claim["task"], claim["region"], claim["agent"], claim["version"]) == ("T-1", "main", "ann", 1)
    assert claim["owner"].startswith("ann.")
    assert claim["title"] == "Draw the map"
    assert "Draw it well." in claim["body"]
    assert claim["expires_at"] > 0


def test_two_agents_never_get_the_same_task(cli: Recall, claim: Any) -> None:
    other = cli("next", "--agent", "bob", "--json").json
    assert other["task"] == "T-3"
    assert other["task"] != claim["task"]


def test_nothing_left_is_exit_code_10_and_says_why(cli: Recall) -> None:
    codes = [cli("next", "--agent", "ann").code for _ in range(3)]
    assert codes == [0, 0, 10]
    assert "nothing to claim for ann" in cli("next", "--agent", "ann").err


def test_a_mistyped_agent_gets_nothing(cli: Recall) -> None:
    ended = cli("next", "--agent", "anm")
    assert ended.code == 1
    assert "did you mean ann?" in ended.err


def test_a_person_needs_no_configuration(cli: Recall) -> None:
    assert cli("next", "--agent", "zoe", "--json").json["task"] == "T-1"


def test_the_configuration_binds_before_any_dispatcher_ran(cli: Recall) -> None:
    assert cli("next", "--agent", "bob", "--json").json["type"] == "web"
    assert cli("next", "--agent", "bob").code == 10


def test_a_heartbeat_extends_the_claim(cli: Recall, claim: Any) -> None:
    assert cli("heartbeat", "--agent", "ann", "--task", claim["task"]).code == 0
    assert cli("heartbeat", "--run", str(claim["run_id"])).code == 0


@pytest.mark.usefixtures("claim")
def test_giving_back_uses_no_attempt(cli: Recall) -> None:
    assert cli("release", "--agent", "ann", "--task", "T-1").code == 0
    task = _task(cli, "T-1")
    assert (task["state"], task["attempts"]) == ("todo", 0)


@pytest.mark.usefixtures("claim")
def test_a_failure_uses_an_attempt_and_keeps_its_words(cli: Recall) -> None:
    assert cli("outcome", "--agent", "ann", "--result", "failure", "--summary", "no compiler").code == 0
    assert _task(cli, "T-1")["attempts"] == 1
    (run,) = cli("runs", "T-1", "--json").json
    assert (run["result"], "no compiler" in run["reason"]) == ("failed", True)


@pytest.mark.usefixtures("claim")
def test_a_question_waits_for_a_person(cli: Recall) -> None:
    assert cli("ask", "--agent", "ann", "Keep the old flag?").code == 0
    task = _task(cli, "T-1")
    assert (task["state"], task["attempts"]) == ("needs_person", 0)
    assert any("Keep the old flag?" in line for line in cli("status", "--json").json["needs_you"])


@pytest.mark.usefixtures("claim")
def test_success_must_say_where_the_work_is(cli: Recall) -> None:
    for extra in ([], ["--branch", "b", "--no-merge"]):
        ended = cli("outcome", "--agent", "ann", "--result", "success", *extra)
        assert ended.code == 1
        assert "--branch" in ended.err
        assert "--no-merge" in ended.err
    assert _task(cli, "T-1")["state"] == "in_progress"


@pytest.mark.usefixtures("claim")
def test_success_without_a_commit_is_marked(cli: Recall) -> None:
    assert cli("outcome", "--agent", "ann", "--result", "success", "--no-merge").code == 0
    task = _task(cli, "T-1")
    assert (task["state"], task["done_by"]) == ("done", "manual")
    assert _task(cli, "T-2")["why"]


@pytest.mark.usefixtures("claim")
def test_a_branch_is_put_into_the_merge_queue(imported: Repo, cli: Recall) -> None:
    imported.switch("my-branch", create=True)
    imported.commit("draw", {"map.txt": "a map\n"})
    imported.switch("main")
    ended = cli("outcome", "--agent", "ann", "--task", "T-1", "--result", "success", "--branch", "my-branch")
    assert (ended.code, ended.err) == (0, "")
    status = cli("status", "--json").json
    assert [entry["task"] for entry in status["queue"]] == ["T-1"]
    assert _task(cli, "T-1")["state"] == "landing"


@pytest.mark.usefixtures("claim")
def test_a_branch_that_is_not_there_is_refused_and_the_claim_stays(cli: Recall) -> None:
    ended = cli("outcome", "--agent", "ann", "--result", "success", "--branch", "nowhere")
    assert ended.code in {1, 4}
    assert "nowhere" in ended.err
    assert _task(cli, "T-1")["state"] == "in_progress"


@pytest.mark.parametrize(
    "command", ["heartbeat", "release", "outcome --result failure", "outcome --result success --no-merge"]
)
def test_a_claim_that_is_over_is_exit_code_11(imported: Repo, cli: Recall, claim: Any, command: str) -> None:
    store = opened(imported.path)
    assert store.cancel(next(task.ref for task in store.tasks() if task.id == "T-1"), actor="person") is None
    assert store.requeue(next(task.ref for task in store.tasks() if task.id == "T-1"), actor="person") is None
    store.close()
    ended = cli(*command.split(), "--agent", "ann", "--task", "T-1", "--run", str(claim["run_id"]))
    assert ended.code == 11
    assert _task(cli, "T-1")["state"] == "todo"


def test_without_a_claim_the_words_say_how_to_get_one(cli: Recall) -> None:
    ended = cli("heartbeat", "--agent", "ann")
    assert ended.code == 1
    assert "recall next --agent" in ended.err


@pytest.mark.usefixtures("claim")
def test_which_claim_is_meant_must_be_said(cli: Recall) -> None:
    cli("next", "--agent", "bob")
    ended = cli("heartbeat")
    assert ended.code == 1
    assert "--task T-1 --agent ann" in ended.err
    assert "--task T-3 --agent bob" in ended.err


def test_the_state_lies_in_the_git_directory(imported: Repo) -> None:
    assert (locate(imported.path).state_dir / "recall.db").is_file()
    assert imported.status() == []
