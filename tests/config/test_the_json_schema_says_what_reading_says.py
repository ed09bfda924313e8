"""The JSON schema of recall.toml takes what is read and refuses what is refused, wherever a schema can tell."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any, cast

import pytest

from recall.config.json_schema import json_schema
from recall.config.load import load_settings
from recall.config.schema import AGENT, SECTIONS, TOP, Key
from recall.config.template import template_text
from recall.config.values import Unfit
from recall.domain.errors import ConfigError
from tests.support.json_schema import fits

_SCHEMA: dict[str, Any] = json_schema(["requeue", "quit", "a", "limit"])
_VALUES: list[Any] = [
    "", " ", "x", "90s", "1h30m", "0s", "90", "10MiB", "10 KB", "none", "auto", "stdin", "22:00-07:00", True, False,
    0, 1, 5, -1, 10**9, 0.5, 1.5, [], ["a"], [1], ["limit"], ["needs-you"],
    {}, {"a": "b"}, {"a": 1}, {"limit": ["x"]},
]  # fmt: skip
#: What only reading can tell: a length of nothing, hours, files of caches, tables of rules.
_LET_PASS = {
    "positive_duration",
    "quiet_hours",
    "kept_paths",
    "repository_paths",
    "command",
    "stream",
    "task_lists",
    "keys_of_commands",
}


def _keys() -> list[tuple[str, Key, dict[str, Any]]]:
    properties = _SCHEMA["properties"]
    agent = next(iter(properties["agents"]["patternProperties"].values()))
    found = [(key.name, key, properties[key.name]) for key in TOP]
    found += [
        (f"{section.name}.{key.name}", key, properties[section.name]["properties"][key.name])
        for section in SECTIONS
        for key in section.keys
    ]
    return found + [(f"agents.{key.name}", key, agent["properties"][key.name]) for key in AGENT]


@pytest.mark.parametrize(("name", "key", "form"), _keys(), ids=[name for name, _, _ in _keys()])
def test_each_key_is_described_as_it_is_read(name: str, key: Key, form: dict[str, Any]) -> None:
    for value in _VALUES:
        try:
            key.read(value)
        except Unfit:
            assert not fits(form, value) or getattr(key.read, "__name__", "") in _LET_PASS, value
        else:
            assert fits(form, value), value
    assert form["description"] == key.meaning, name


def _both(tmp_path: Path, text: str) -> tuple[bool, bool]:
    file = tmp_path / "recall.toml"
    file.write_text(text)
    try:
        load_settings(file)
    except ConfigError:
        return False, fits(_SCHEMA, tomllib.loads(text))
    return True, fits(_SCHEMA, tomllib.loads(text))


@pytest.mark.parametrize(
    "text",
    [
        template_text("main", "pytest -q", ["claude", "codex"]),
        'verify = "none"\n[agents.mine]\ncommand = ["./a.sh", "--fast"]\nenv = { A = "b" }\n[run]\ntimeout = "90m"\n',
        'verify = "true"\ntasks = { main = "TASKS.md", web = "web/TASKS.md" }\n',
        'verify = "true"\n[ui]\nglyphs = "ascii"\n[ui.keys]\nrequeue = "W"\nquit = ["q", "f10"]\n',
    ],
)
def test_files_that_are_read_fit(tmp_path: Path, text: str) -> None:
    assert _both(tmp_path, text) == (True, True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        'verify = ""\n',
        'verify = "true"\nverfiy_timeout = "5m"\n',
        'verify = "true"\nrun = 5\n',
        'verify = "true"\n[run]\ntimeout = 90\n',
        'verify = "true"\n[run]\nattempts = 0\n',
        'verify = "true"\n[merge]\nland = "merge"\n',
        'verify = "true"\n[agents.mine]\nprompt = "stdin"\n',
        'verify = "true"\n[agents."a b"]\npreset = "claude"\n',
    ],
)
def test_files_that_are_refused_do_not_fit(tmp_path: Path, text: str) -> None:
    assert _both(tmp_path, text) == (False, False)


def test_a_command_that_is_none_does_not_fit(tmp_path: Path) -> None:
    assert not fits(_SCHEMA, {"verify": "true", "ui": {"keys": {"reqeue": "W"}}})


def test_it_is_json(tmp_path: Path) -> None:
    assert cast("dict[str, Any]", json.loads(json.dumps(_SCHEMA))) == _SCHEMA
