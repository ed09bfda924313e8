"""A run's output keeps the few colours of Recall's own on a terminal; nothing else in it is obeyed anywhere."""

from __future__ import annotations

import sys

import pytest

from recall.cli.report import say_coloured

TEXT = (
    "\x1b[1mRead\x1b[0m a.py \x1b[2m(3 lines)\x1b[0m\n"
    "\x1b[31mred\x1b[0m \x1b[8mhidden\x1b[0m \x1b]0;owned\x07\x1b[2Jend"
)


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    say_coloured(TEXT)
    return capsys.readouterr().out


def test_a_pipe_gets_plain_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys) == "Read a.py (3 lines)\nred hidden end\n"


def test_a_terminal_gets_colours_and_nothing_else(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    out = printed(capsys)
    assert out.startswith("\x1b[1mRead\x1b[0m a.py \x1b[2m(3 lines)\x1b[0m\n\x1b[31mred\x1b[0m hidden")
    assert "\x1b]" not in out
    assert "\x1b[2J" not in out
    assert "\x1b[8m" not in out
    assert out.endswith("end\x1b[0m\n")


def test_a_person_may_want_none(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert "\x1b" not in printed(capsys)
