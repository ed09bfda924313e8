"""Keys in recall.toml: one spelling each, and the reason why one cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall.config.keystrokes import keystroke
from recall.config.load import load_settings
from recall.domain.errors import ConfigError


@pytest.mark.parametrize(
    ("written", "name"),
    [("r", "r"), ("R", "R"), ("/", "/"), ("é", "é"), ("F5", "f5"), ("Ctrl+R", "ctrl+r"), ("ctrl-r", "ctrl+r"),
     ("esc", "escape"), ("Return", "enter"), ("PgUp", "pageup"), ("shift+tab", "shift+tab"), ("-", "-")],
)  # fmt: skip
def test_a_key_has_one_name(written: str, name: str) -> None:
    assert keystroke(written) == name


@pytest.mark.parametrize(
    ("written", "reason"),
    [("ctrl+i", 'the same as "tab"'), ("ctrl+m", 'the same as "enter"'), ("ctrl+h", 'the same as "backspace"'),
     ("shift+r", 'is written "R"'), ("alt+r", "not passed on by every terminal"), ("ctrl+enter", "not passed on"),
     ("ctrl+5", "not passed on"), ("super+q", "not passed on"), ("ctrl+c", "always asks to quit"),
     ("f13", "is no key"), ("ctrl+z", "shells stop programs"), ("rr", "is no key"),
     ("", "is no key"), (" ", 'write "space"')],
)  # fmt: skip
def test_a_key_that_cannot_be_used_says_why(written: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        keystroke(written)


def _settings_text(tmp_path: Path, keys: str) -> Path:
    file = tmp_path / "recall.toml"
    file.write_text(f'verify = "true"\n[ui.keys]\nquit = "q"\n{keys}\n')
    return file


def test_keys_are_read_one_or_several(tmp_path: Path) -> None:
    settings = load_settings(_settings_text(tmp_path, 'requeue = ["R", "F5", "R"]'))
    assert settings.ui.keys == {"quit": ("q",), "requeue": ("R", "f5")}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('requeue = "ctrl+i"', 'is "ctrl+i", expected another key: "ctrl+i" is the same as "tab" in a terminal'),
        ("requeue = []", "is [], expected a key such as"),
        ("requeue = 5", "is 5, expected a key such as"),
        ("requeue = [5]", "is [5], expected a key such as"),
    ],
)
def test_a_bad_key_is_named_with_its_line(tmp_path: Path, line: str, problem: str) -> None:
    file = _settings_text(tmp_path, line)
    with pytest.raises(ConfigError) as refused:
        load_settings(file)
    assert str(refused.value).startswith(f"{file}:4: ui.keys.requeue {problem}")
