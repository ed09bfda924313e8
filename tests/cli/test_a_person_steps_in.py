"""Interventions go through the store: what one command changes, another shows, with who and why."""

from __future__ import annotations

import pytest

from recall.engine.merge_queue import HELD, MAIN
from tests.cli.conftest import Recall, opened
from tests.support.hermetic_git import Repo

pytestmark = pytest.mark.usefixtures("imported")


def _state(cli: Recall, task: str) -> str:
    return next(row["state"] for row in cli("status", "--json").json["tasks"] if row["task"] == task)


@pytest.mark.parametrize(
    ("commands", "state"),
    [
        (["hold T-1"], "on_hold"),
        (["hold T-1", "unhold T-1"], "todo"),
        (["cancel T-1"], "cancelled"),
        (["cancel T-1", "requeue T-1"], "todo"),
        (["finish T-1"], "done"),
        (["finish T-1", "requeue T-1"], "todo"),
    ],
)
def test_a_task_is_moved(cli: Recall, commands: list[str], state: str) -> None:
    for command in commands:
        ended = cli(*command.split())
        assert (ended.code, ended.err) == (0, "")
        assert ended.out.startswith("T-1 ")
    assert _state(cli, "T-1") == state


def test_what_waited_for_a_task_that_was_done_by_hand_may_begin(cli: Recall) -> None:
    assert cli("why", "T-2").out.startswith("T-2: waits for T-1")
    assert cli("finish", "T-1", "--reason", "did it myself").code == 0
    assert cli("why", "T-2").out.startswith("T-2: ready")
    assert "done (manual): did it myself" in cli("why", "T-1").out


def test_what_cannot_be_is_refused_in_words(cli: Recall) -> None:
    ended = cli("unhold", "T-1")
    assert ended.code == 1
    assert "T-1" in ended.err


def test_the_reason_is_kept_in_the_log(cli: Recall) -> None:
    cli("hold", "T-1", "--reason", "wait for the design")
    events = [line for line in cli("log", "--task", "T-1").out.splitlines() if "wait for the design" in line]
    assert len(events) == 1
    assert "cli" in events[0]


def test_priority_changes_who_is_next(cli: Recall) -> None:
    assert cli("prioritize", "T-3", "5").code == 0
    assert cli("next", "--agent", "ann", "--json").json["task"] == "T-3"


def test_a_negative_priority_is_no_option(cli: Recall) -> None:
    assert cli("prioritize", "T-1", "-3").code == 0
    assert cli("next", "--agent", "ann", "--json").json["task"] == "T-3"


@pytest.mark.parametrize(("typed", "meant"), [("T-11", "T-1"), ("t-2", "T-2"), ("main2:T-3", "T-3")])
def test_a_wrong_id_suggests_the_nearest(cli: Recall, typed: str, meant: str) -> None:
    ended = cli("hold", typed)
    assert ended.code == 1
    assert meant in ended.err.split("did you mean")[1]


def test_pausing_everything_and_going_on(cli: Recall) -> None:
    assert cli("pause", "--reason", "lunch").code == 0
    status = cli("status", "--json").json
    assert (status["dispatching"], status["paused_reason"]) == (False, "lunch")
    assert cli("resume").code == 0
    assert cli("status", "--json").json["dispatching"] is True


def test_pausing_one_agent(cli: Recall) -> None:
    assert cli("pause", "ann").code == 0
    paused = {agent["name"]: agent["state"] for agent in cli("agents", "--json").json}
    assert paused == {"ann": "paused", "bob": "idle"}
    assert cli("resume", "ann").code == 0
    assert cli("agents", "--json").json[0]["state"] == "idle"


def test_an_unknown_agent_suggests_the_nearest(cli: Recall) -> None:
    ended = cli("pause", "anne")
    assert ended.code == 1
    assert "did you mean ann?" in ended.err


def test_commands_work_from_any_folder_of_the_repository(
    imported: Repo, cli: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    (imported.path / "deep" / "down").mkdir(parents=True)
    monkeypatch.chdir(imported.path / "deep" / "down")
    assert cli("hold", "T-1").code == 0
    assert _state(cli, "T-1") == "on_hold"


def test_a_queue_that_was_held_goes_on_from_main_as_it_is(imported: Repo, cli: Recall) -> None:
    store = opened(imported.path)
    store.put_setting(MAIN, "0" * 40, actor="dispatcher")
    store.put_setting(HELD, "main was rewritten", actor="dispatcher")
    assert "main was rewritten" in " ".join(cli("status", "--json").json["needs_you"])
    assert "main was rewritten" in cli("resume").out
    assert not store.setting(HELD)
    assert not store.setting(MAIN)
    store.close()
    assert cli("status", "--json").json["needs_you"] == []
