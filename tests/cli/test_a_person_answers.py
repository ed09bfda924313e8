"""A question reaches a person, and the answer the store; cooldowns are set and lifted by hand."""

from __future__ import annotations

import time
from datetime import datetime

import pytest

from recall.domain.task import TaskRef
from tests.cli.conftest import CONFIG, Recall, opened
from tests.support.hermetic_git import Repo


def test_an_answer_sends_the_task_out_again(imported: Repo, cli: Recall) -> None:
    cli("next", "--agent", "ann")
    cli("ask", "--agent", "ann", "--task", "T-1", "Which colour?")
    assert "Which colour?" in " ".join(cli("status", "--json").json["needs_you"])
    assert cli("answer", "T-1", "Blue,", "but not", "the sea.").code == 0
    store = opened(imported.path)
    run = store.runs(TaskRef("main", "T-1"))[-1]
    store.close()
    assert (run.reason, run.answer) == ("Which colour?", "Blue, but not the sea.")
    assert cli("next", "--agent", "ann", "--json").json["task"] == "T-1"


@pytest.mark.usefixtures("imported")
def test_an_answer_to_nothing_is_refused(cli: Recall) -> None:
    ended = cli("answer", "T-1", "Blue.")
    assert (ended.code, ended.out) == (1, "")
    assert "T-1 waits for its turn, it asks nothing" in ended.err
    assert "did you mean T-1?" in cli("answer", "T-11", "Blue.").err
    assert cli("answer", "T-1").code == 2


@pytest.mark.usefixtures("imported")
@pytest.mark.parametrize(("typed", "seconds"), [("2h", 7200), ("90s", 90), ("1d", 86400)])
def test_a_cooldown_for_a_while(cli: Recall, typed: str, seconds: float) -> None:
    shown = cli("cooldown", "ann", typed, "--reason", "quota", "--json").json
    assert (shown["agent"], shown["reason"]) == ("ann", "quota")
    assert abs(shown["cooling_until"] - time.time() - seconds) < 5
    assert "ann is cooling until" in cli("cooldown", "ann").out
    assert cli("why", "ann").out.endswith("): quota\n")
    assert next(row for row in cli("agents", "--json").json if row["name"] == "ann")["state"] == "cooling"
    assert cli("next", "--agent", "ann").code == 10


@pytest.mark.usefixtures("imported")
def test_a_cooldown_until_a_time_of_day_or_a_date(cli: Recall) -> None:
    end = datetime.fromtimestamp(cli("cooldown", "ann", "23:30", "--json").json["cooling_until"]).astimezone()
    assert (end.hour, end.minute, end.second) == (23, 30, 0)
    assert 0 < end.timestamp() - time.time() <= 25 * 3600
    shown = cli("cooldown", "ann", "2090-01-01T00:00+00:00", "--json").json
    assert shown["cooling_until"] == 3786912000.0


@pytest.mark.usefixtures("imported")
def test_a_cooldown_is_lifted_but_a_pause_stays(cli: Recall) -> None:
    cli("cooldown", "ann", "2h")
    cli("pause", "ann")
    assert cli("cooldown", "ann", "--lift").out == "ann is not cooling\n"
    assert cli("agents", "--json").json[0]["state"] == "paused"
    assert "ann is not cooling" in cli("cooldown", "ann", "--lift").err


def test_a_cooldown_holds_for_the_whole_account(project: Repo, cli: Recall) -> None:
    both = CONFIG.replace('command = ["true"]', 'command = ["true"]\naccount = "shared"')
    project.write("recall.toml", both)
    assert cli("cooldown", "ann", "1h", "--json").json["same_account"] == ["bob"]
    assert "bob is cooling" in cli("cooldown", "bob").out
    assert cli("cooldown", "bob", "--lift").code == 0
    assert "ann is not cooling" in cli("cooldown", "ann").out


@pytest.mark.usefixtures("imported")
@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["ann", "soon"], 2, "is no time"),
        (["ann", "0s"], 2, "is no time"),
        (["ann", "1h", "--lift"], 2, "not both"),
        (["anne", "1h"], 1, "did you mean ann?"),
        (["ann", "2001-01-01T00:00"], 1, "that is over"),
        (["ann", "--lift"], 1, "ann is not cooling"),
    ],
)
def test_a_wrong_cooldown_is_refused(cli: Recall, args: list[str], code: int, words: str) -> None:
    ended = cli("cooldown", *args)
    assert (ended.code, ended.out) == (code, "")
    assert words in ended.err


@pytest.mark.usefixtures("imported")
def test_resuming_what_is_not_paused_is_refused(cli: Recall) -> None:
    ended = cli("resume")
    assert ended.code == 1
    assert "dispatching is not paused" in ended.err
    assert "nothing holds the merge queue" in ended.err
