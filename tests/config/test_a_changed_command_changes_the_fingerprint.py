"""The fingerprint of the commands in force changes with every command and what bounds them, and with nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from recall.config.settings import (
    AgentSettings,
    MergeSettings,
    RunSettings,
    SandboxSettings,
    Settings,
    WorkspaceSettings,
)
from recall.config.trust import commands_hash, fingerprint, is_covered

AGENT = AgentSettings("a", ("./a",), env={"A": "1"})
OTHER = AgentSettings("b", ("./b",))
BASE = Settings(file=Path("recall.toml"), main="main", verify="make test", setup="make deps", agents=(AGENT, OTHER))


@pytest.mark.parametrize(
    "changed",
    [
        replace(BASE, verify="make"),
        replace(BASE, verify=None),
        replace(BASE, setup=""),
        replace(BASE, agents=(AGENT,)),
        replace(BASE, agents=(replace(AGENT, command=("./a", "-x")), OTHER)),
        replace(BASE, agents=(replace(AGENT, env={"PATH": "/tmp"}), OTHER)),
        replace(BASE, env_pass=("SECRET_*",)),
        replace(BASE, sandbox=SandboxSettings(level="none")),
        replace(BASE, sandbox=SandboxSettings(level="user", user="somebody")),
        replace(BASE, sandbox=SandboxSettings(write=("/",))),
        replace(BASE, sandbox=SandboxSettings(network="off")),
        replace(BASE, workspaces=WorkspaceSettings(kind="clone")),
        replace(BASE, merge=MergeSettings(protected=())),
        replace(BASE, agents=(replace(AGENT, state=("/",), given=("state",)), OTHER)),
    ],
)
def test_every_command_and_every_bound_counts(changed: Settings) -> None:
    assert commands_hash(changed, ["check"]) != commands_hash(BASE, ["check"])


def test_a_tasks_own_verify_counts() -> None:
    assert commands_hash(BASE, ["check"]) != commands_hash(BASE, [])


def test_what_is_no_command_does_not_count() -> None:
    assert commands_hash(BASE, ["x", "y"]) == commands_hash(BASE, ["y", "x", "x"])
    assert commands_hash(replace(BASE, agents=(OTHER, AGENT)), []) == commands_hash(BASE, [])
    assert commands_hash(replace(BASE, run=RunSettings(attempts=9), main="dev"), []) == commands_hash(BASE, [])
    assert commands_hash(replace(BASE, agents=(replace(AGENT, enabled=False), OTHER)), []) == commands_hash(BASE, [])


def test_fewer_commands_of_tasks_are_covered_and_others_are_not() -> None:
    confirmed = fingerprint(BASE, ["x", "y"])
    assert is_covered(BASE, ["y"], confirmed)
    assert is_covered(BASE, [], confirmed)
    assert not is_covered(BASE, ["x", "z"], confirmed)
    assert not is_covered(replace(BASE, verify="make"), ["x"], confirmed)


def test_what_was_confirmed_as_one_hash_is_covered_as_it_is() -> None:
    confirmed = commands_hash(BASE, ["x"])
    assert is_covered(BASE, ["x"], confirmed)
    assert not is_covered(BASE, ["y"], confirmed)
