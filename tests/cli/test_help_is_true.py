"""`recall --help` does not import subcommands, so what it says of them must be kept equal to what they say."""

from __future__ import annotations

import json
from importlib import import_module

import click
import pytest
from click.testing import CliRunner

from recall.cli.report import ExitCode, run
from recall.cli.root import COMMANDS, recall
from tests.support.hermetic_git import Repo


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_in_the_help_is_the_commands_own(name: str) -> None:
    module, attribute, summary = COMMANDS[name]
    command: click.Command = getattr(import_module(f"recall.cli.{module}"), attribute)
    assert (command.help or "").split("\n")[0] == summary
    assert command.name == name


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "config"])
def test_every_command_shows_an_example(name: str) -> None:
    shown = CliRunner().invoke(recall, [name, "--help"])
    assert shown.exit_code == 0
    assert f"recall {name}" in shown.output.split("Example")[1]


def test_every_exit_code_is_in_the_help() -> None:
    shown = " ".join(CliRunner().invoke(recall, ["--help"]).output.split())
    assert all(f"{code.value} " in shown for code in ExitCode if code is not ExitCode.INTERRUPTED)


def test_a_wrong_command_suggests_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(recall, "recall", ["statuss"]) == 2
    assert "did you mean `recall status`?" in capsys.readouterr().err


def test_the_bare_command_shows_the_help_and_asks_for_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(recall, "recall", []) == 2
    assert "Commands:" in capsys.readouterr().err


def _leaves(command: click.Command, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    context = click.Context(command)
    if not isinstance(command, click.Group):
        return [path]
    found = [(name, command.get_command(context, name)) for name in command.list_commands(context)]
    return [leaf for name, each in found if each is not None for leaf in _leaves(each, (*path, name))]


@pytest.mark.parametrize("path", [path for path in _leaves(recall) if path != ("completion",)])
def test_everything_that_prints_can_print_json(path: tuple[str, ...]) -> None:
    assert "--json" in CliRunner().invoke(recall, [*path, "--help"]).output


def test_a_command_without_a_shape_of_its_own_says_all_in_one_object(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.write("recall.toml", 'main = "main"\nverify = "none"\n[agents.sh]\ncommand = ["sh"]\n')
    monkeypatch.chdir(repo.path)
    assert run(recall, "recall", ["pause", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["code"], said["error"]) == (0, None)
    assert said["said"][0].startswith("dispatching is paused")
    assert run(recall, "recall", ["hold", "T-9", "--json"]) == 1
    out, err = capsys.readouterr()
    assert (json.loads(out)["code"], err) == (1, "")
    assert "there is no task T-9" in json.loads(out)["error"]
