"""status, why, show, runs, log, agents and config say what is, in words, and never pass control codes on."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import CONFIG, Recall
from tests.support.hermetic_git import Repo


@pytest.mark.usefixtures("imported")
def test_status_counts_and_lists(cli: Recall) -> None:
    shown = cli("status")
    assert shown.code == 0
    head = shown.out.splitlines()[0]
    assert "2 ready" in head
    assert "1 waiting" in head
    assert any("T-2" in line and "T-1" in line for line in shown.out.splitlines())
    counts = cli("status", "--json").json["counts"]
    assert (counts["ready"], counts["waiting"], counts["running"]) == (2, 1, 0)


@pytest.mark.usefixtures("imported")
def test_status_keeps_a_reason_of_several_lines_in_its_row(cli: Recall) -> None:
    cli("hold", "T-3", "--reason", "the tests are red:\n  1 failed")
    rows = [line for line in cli("status").out.splitlines() if "1 failed" in line]
    assert len(rows) == 2, "among what needs you, and among the tasks"
    assert all("T-3" in row for row in rows)


@pytest.mark.usefixtures("project")
def test_status_of_an_empty_store_says_what_to_do(cli: Recall) -> None:
    assert "recall import" in cli("status").out


@pytest.mark.usefixtures("imported")
def test_why_names_the_one_rule(cli: Recall) -> None:
    assert "T-1" in cli("why", "T-2").out.split(":", 1)[1]
    cli("pause", "ann", "--reason", "tests run")
    assert "paused" in cli("why", "ann").out
    ended = cli("why", "T-9")
    assert ended.code == 1
    assert "T-1" in ended.err


@pytest.mark.usefixtures("imported")
def test_show_tells_all_of_a_task_and_of_a_run(cli: Recall) -> None:
    claim = cli("next", "--agent", "ann", "--json").json
    task = cli("show", "T-1").out
    assert "Draw it well." in task
    assert "held by" in task
    run = cli("show", str(claim["run_id"])).out
    assert f"run {claim['run_id']}: ann on T-1" in run
    assert cli("show", "999").code == 1
    assert claim["owner"] not in cli("runs", "--json").out


@pytest.mark.usefixtures("imported")
def test_the_log_tells_the_last_things_and_can_be_narrowed(cli: Recall) -> None:
    cli("hold", "T-1")
    cli("hold", "T-3")
    last = cli("log", "-n", "1").out
    assert "T-3" in last
    assert "T-1" not in last
    rows = [json.loads(line) for line in cli("log", "--task", "T-1", "-n", "0", "--json").out.splitlines()]
    assert {row["task"] for row in rows} == {"T-1"}
    assert rows[-1]["after"] == "on_hold"


def test_escape_sequences_in_a_task_do_not_reach_the_terminal(project: Repo, cli: Recall) -> None:
    project.write("TASKS.md", "## T-1 Red \x1b[31m\x1b]52;c;eA==\x07alert\n\nbody \x1b[2J here\n")
    assert cli("import").code == 0
    for command in (["status"], ["show", "T-1"], ["next", "--agent", "ann"], ["log"], ["status", "--json"]):
        shown = cli(*command)
        assert not {"\x1b", "\x07", "\x9b"} & set(shown.out + shown.err)


@pytest.mark.usefixtures("project")
def test_config_show_names_the_origin_of_each_value(cli: Recall) -> None:
    rows = {row["key"]: row for row in cli("config", "show", "--json").json}
    assert rows["verify"]["source"].endswith("recall.toml:1")
    assert rows["run.timeout"] == {**rows["run.timeout"], "value": '"2h"', "source": "default"}
    shown = cli("config", "show", "run").out.splitlines()
    assert shown
    assert all(line.startswith("run.") for line in shown)


def test_config_show_tells_what_a_preset_adds(project: Repo, cli: Recall) -> None:
    project.write("recall.toml", CONFIG + '[agents.claude]\npreset = "claude"\n')
    row = next(row for row in cli("config", "show", "--json").json if row["key"] == "agents.claude.command")
    assert row["value"].startswith('["claude"')
    assert row["source"] == 'preset "claude"'


def test_a_preset_that_there_is_none_of_is_named(project: Repo, cli: Recall) -> None:
    project.write("recall.toml", CONFIG + '[agents.cloud]\npreset = "cloud"\n')
    ended = cli("config", "show")
    assert ended.code == 2
    assert '"cloud"' in ended.err


def test_a_broken_configuration_stops_every_command(project: Repo, cli: Recall) -> None:
    project.write("recall.toml", CONFIG + "\n[run]\nattemps = 3\n")
    ended = cli("status")
    assert ended.code == 2
    assert "did you mean run.attempts?" in ended.err


def test_a_changed_command_is_trusted_by_a_person(imported: Repo, cli: Recall) -> None:
    first = cli("config", "trust")
    assert first.code == 0
    assert "ann" in first.out
    assert cli("status", "--json").json["needs_you"] == []
    imported.write("recall.toml", CONFIG.replace('"none"', '"make test"'))
    assert "recall config trust" in " ".join(cli("status", "--json").json["needs_you"])
    assert "make test" in cli("config", "trust").out
    assert "trust" in cli("log", "-n", "1").out


@pytest.mark.usefixtures("tmp_path")
def test_outside_a_repository_the_words_say_so(
    tmp_path_factory: pytest.TempPathFactory, cli: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("nowhere"))
    ended = cli("status")
    assert ended.code == 2
    assert "no git repository" in ended.err


def test_config_show_tells_which_keys_of_commands_are_not_in_force(project: Repo, cli: Recall) -> None:
    project.write("recall.toml", CONFIG + '[ui.keys]\nrequeue = "H"\n')
    ended = cli("config", "show", "ui")
    assert ended.code == 0
    assert 'the key "H" would be that of requeue and hold, so requeue keeps "r"' in ended.err
    project.write("recall.toml", CONFIG + '[ui.keys]\nreqeue = "W"\n')
    ended = cli("config", "show", "ui")
    assert ended.code == 2
    assert "ui.keys.reqeue is no command; did you mean requeue?" in ended.err


def test_config_schema_is_json_and_needs_no_repository(cli: Recall) -> None:
    shown = cli("config", "schema")
    assert shown.code == 0
    assert "requeue" in shown.json["properties"]["ui"]["properties"]["keys"]["propertyNames"]["enum"]
