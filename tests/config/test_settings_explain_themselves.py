"""Each setting can say its value, origin and meaning, and the file that `recall init` writes says the same."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from recall.config.explain import explain
from recall.config.load import load_settings
from recall.config.schema import SECTIONS, TOP
from recall.config.settings import AgentSettings, Settings
from recall.config.template import template_text
from recall.config.values import duration, duration_text, size, size_text


def test_each_value_comes_with_its_line_or_is_a_default(tmp_path: Path) -> None:
    file = tmp_path / "recall.toml"
    file.write_text('verify = "pytest -q"\n[run]\n\ntimeout = "90m"\n[agents.a]\npreset = "a"\n')
    rows = {key: (value, source) for key, value, source, _ in explain(file)}
    assert rows["verify"] == ('"pytest -q"', f"{file}:1")
    assert rows["run.timeout"] == ('"1h30m"', f"{file}:4")
    assert rows["run.stall"] == ('"20m"', "default")
    assert rows["agents.a.preset"] == ('"a"', f"{file}:6")
    assert rows["agents.a.parallel"] == ("1", "default")


def test_every_setting_is_explained(tmp_path: Path) -> None:
    file = tmp_path / "recall.toml"
    file.write_text('verify = "none"\n')
    explained = {key for key, _, _, meaning in explain(file) if meaning}
    for section in SECTIONS:
        assert {f"{section.name}.{name}" for name in section.build._fields} <= explained
    top = {field.name for field in fields(Settings)} - {"file", "agents"} - {section.name for section in SECTIONS}
    assert top <= explained
    assert top == {key.name for key in TOP}


@pytest.mark.parametrize("verify", ["pytest -q", None, 'say "hi" \\ there'])
def test_the_written_file_loads_to_the_decisions_it_was_made_from(tmp_path: Path, verify: str | None) -> None:
    file = tmp_path / "recall.toml"
    file.write_text(template_text("trunk", verify, ["claude"]))
    wanted = Settings(
        file=file,
        main="trunk",
        verify=verify,
        agents=(AgentSettings("claude", (), preset="claude", given=("preset",)),),
    )
    assert load_settings(file) == wanted


def test_the_commented_lines_of_the_written_file_are_the_defaults(tmp_path: Path) -> None:
    file = tmp_path / "recall.toml"
    text = template_text("main", "true", [])
    until_agents = text.split("\n# An agent of your own")[0].splitlines()
    is_value = [line for line in until_agents if line.startswith("# ") and " = " in line.split("  #")[0]]
    assert len(is_value) > 20
    file.write_text("\n".join(line.removeprefix("# ") if line in is_value else line for line in until_agents))
    tomllib.loads(file.read_text())
    assert load_settings(file) == Settings(file=file, main="main", verify="true")


@pytest.mark.parametrize("seconds", [0.0, 1.5, 59.0, 60.0, 5400.0, 90061.0])
def test_a_duration_is_written_the_way_it_is_read(seconds: float) -> None:
    assert duration(duration_text(seconds)) == seconds


@pytest.mark.parametrize("count", [0, 1, 1024, 1536, 32 * 1024**2])
def test_a_size_is_written_the_way_it_is_read(count: int) -> None:
    assert size(size_text(count)) == count
