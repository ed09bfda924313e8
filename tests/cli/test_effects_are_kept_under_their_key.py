"""`recall effect`: what it says, what it refuses, and for whom it begins nothing. Kills are in tests/faults."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recall.domain.run import Claim
from tests.cli.conftest import Recall, opened
from tests.support.hermetic_git import Repo

KEY = "T-1:publish:v1"


def test_the_key_reaches_the_command_in_three_ways(imported: Repo, cli: Recall, tmp_path: Path) -> None:
    payload = tmp_path / "payload"
    payload.write_text("what is sent")
    told = 'echo "{key} $RECALL_EFFECT_KEY $(cat) $(cat "$RECALL_EFFECT_PAYLOAD")"'
    ended = cli("effect", "run", KEY, "--payload-file", str(payload), "--", "sh", "-c", told)
    assert (ended.code, ended.out) == (0, f"{KEY} {KEY} what is sent what is sent\n")


def test_json_has_everything_of_a_receipt(imported: Repo, cli: Recall) -> None:
    told = cli("effect", "run", KEY, "--task", "T-1", "--idempotent", "--json", "--", "echo", "yes").json
    assert told["fresh"] is True
    again = cli("effect", "run", KEY, "--task", "T-1", "--json", "--", "echo", "yes").json
    assert again["fresh"] is False
    assert {name: again[name] for name in ("key", "state", "attempt", "task", "run", "answer", "idempotent")} == {
        "key": KEY, "state": "done", "attempt": 1, "task": "T-1", "run": None, "answer": "yes\n", "idempotent": True,
    }  # fmt: skip
    assert cli("effect", "show", KEY, "--json").json == {name: again[name] for name in again if name != "fresh"}
    assert [one["key"] for one in cli("effect", "list", "--all", "--json").json] == [KEY]
    assert cli("effect", "list", "--json").json == []


def test_people_are_told_what_is_open_and_all_of_one(imported: Repo, cli: Recall) -> None:
    assert cli("effect", "begin", KEY, "--task", "T-1", "--idempotent").code == 0
    listed = cli("effect", "list").out
    assert KEY in listed
    assert "begun" in listed
    assert cli("effect", "done", KEY, "--answer", "ticket \x1b[2J4711").code == 0
    shown = cli("effect", "show", KEY).out
    assert "task T-1" in shown
    assert "ticket 4711" in shown
    assert "\x1b" not in shown
    assert "knows the key for 86400 s" in shown


@pytest.mark.parametrize("key", ["two words", "$(id)", "", "-"])
def test_a_key_that_a_shell_would_read_is_refused(imported: Repo, cli: Recall, key: str) -> None:
    ended = cli("effect", "run", "--", key, "true")
    assert ended.code == 2
    assert "no key" in ended.err


def test_a_receipt_that_is_not_there_names_the_nearest(imported: Repo, cli: Recall) -> None:
    cli("effect", "begin", KEY)
    ended = cli("effect", "done", "T-1:publish:v2")
    assert ended.code == 1
    assert f"did you mean {KEY}?" in ended.err


def test_without_a_command_nothing_is_begun(imported: Repo, cli: Recall) -> None:
    assert cli("effect", "run", KEY).code == 2
    assert cli("effect", "list", "--all", "--json").json == []


def test_an_answer_that_is_too_long_is_cut_the_same_way_each_time(imported: Repo, cli: Recall) -> None:
    command = ("effect", "run", KEY, "--", "sh", "-c", "yes abcdefg | head -c 300000")
    first, second = cli(*command), cli(*command)
    assert first.out == second.out
    assert len(first.out) < 70_000
    assert "only its beginning is kept" in first.out


def test_what_is_done_stays_done(imported: Repo, cli: Recall) -> None:
    cli("effect", "begin", KEY)
    assert cli("effect", "done", KEY, "--answer", "a").code == 0
    assert cli("effect", "done", KEY, "--answer", "a").code == 0
    assert "its answer is kept" in cli("effect", "done", KEY, "--answer", "b").err
    assert "its answer is kept" in cli("effect", "fail", KEY).err
    assert cli("effect", "show", KEY, "--json").json["answer"] == "a"


def in_workspace_of_a_run(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Claim:
    """Stand where the agent of a run stands."""
    store = opened(repo.path)
    try:
        claim = store.claim(store.tasks()[0].ref, "ann", "ann-1", 600.0)
        assert isinstance(claim, Claim)
    finally:
        store.close()
    slot = repo.path / ".recall" / "ws" / "s1"
    (slot / "tree").mkdir(parents=True)
    identity = {"run_id": claim.run_id, "task": "T-1", "agent": "ann", "token": "t"}
    (slot / "run.json").write_text(json.dumps(identity))
    monkeypatch.chdir(slot / "tree")
    return claim


def test_a_run_that_holds_its_task_is_named_by_the_receipt(
    imported: Repo, cli: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = in_workspace_of_a_run(imported, monkeypatch)
    told = cli("effect", "run", KEY, "--json", "--", "echo", "yes").json
    assert (told["actor"], told["task"], told["run"]) == ("agent ann", "T-1", claim.run_id)


def test_a_run_that_lost_its_task_begins_nothing_but_may_ask(
    imported: Repo, cli: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = in_workspace_of_a_run(imported, monkeypatch)
    assert cli("effect", "run", KEY, "--", "echo", "yes").code == 0
    store = opened(imported.path)
    store.release(claim.ref, claim.owner, claim.version, actor="cli", reason="test")
    store.close()
    late = cli("effect", "run", "T-1:mail:v1", "--", "touch", str(imported.path / "mailed"))
    assert late.code == 11
    assert "does not hold its task any more" in late.err
    assert not (imported.path / "mailed").exists()
    assert cli("effect", "run", KEY, "--", "echo", "yes").out == "yes\n"
