"""Every `recall …` and `make …` that a document shows names a command, options and arguments that there are."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from recall.cli.root import recall
from recall.cli.tui import recall_tui
from tests.docs.markdown import ROOT, Shown, blocks, spans

PROGRAMS: dict[str, click.Command] = {"recall": recall, "recall-tui": recall_tui}
_SEPARATORS = {"&&", "||", "|", ";", ">"}
_PLACEHOLDER = re.compile(r"[A-Z][A-Z-]*|…|\.\.\.")


def _commands(shown: Shown) -> Iterator[list[str]]:
    """The command lines in a piece of code, those that begin with one of our programs."""
    for line in shown.text.splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.commenters, lexer.whitespace_split = "#", True
        words: list[str] = []
        try:
            words = list(lexer)
        except ValueError:
            continue  # a line of prose with an apostrophe
        yield from (command for command in _split(words) if command and command[0] in PROGRAMS)


def _split(words: list[str]) -> Iterator[list[str]]:
    command: list[str] = []
    for word in words:
        if word in _SEPARATORS:
            yield command
            command = []
        else:
            command.append(word.strip("[]") if word != "[]" else word)
    yield command


def wrong(words: list[str], *, complete: bool) -> str:
    """Say what is wrong with a command line; empty: nothing. One in running text need not be `complete`."""
    arguments = [word for word in words[1:] if word not in {"…", "...", ""}]
    try:
        _parse(PROGRAMS[words[0]], words[0], arguments)
    except click.MissingParameter as missing:
        return missing.format_message() if complete else ""
    except click.BadParameter as bad:
        return "" if any(_PLACEHOLDER.fullmatch(word) for word in arguments) else bad.format_message()
    except click.UsageError as error:
        return error.format_message()
    except click.exceptions.Exit:
        return ""  # --help and --version end here
    return ""


def _parse(command: click.Command, name: str, arguments: list[str]) -> None:
    context: click.Context | None = None
    while isinstance(command, click.Group):
        if not arguments:
            return
        context = command.make_context(name, list(arguments), parent=context)
        rest = [*context._protected_args, *context.args]  # pyright: ignore[reportPrivateUsage]
        found, inner, arguments = command.resolve_command(context, rest)
        if inner is None:
            raise click.UsageError(f"there is no command {rest[:1]}")
        command, name = inner, found or name
    command.make_context(name, list(arguments), parent=context).close()


SHOWN = [
    pytest.param(command, bool(shown.kind), id=f"{shown.document.name}: {shlex.join(command)}")
    for shown in (*blocks("sh", "console", "text"), *spans())
    for command in _commands(shown)
]


def test_there_are_many() -> None:
    assert len(SHOWN) > 60


@pytest.mark.parametrize(("words", "complete"), SHOWN)
def test_a_shown_command_parses(
    words: list[str], complete: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("run.log", "fixed.py", "pay.json"):  # files that an example speaks of
        (tmp_path / name).touch()
    assert wrong(words, complete=complete) == ""


@pytest.mark.parametrize(
    "line",
    [
        "recall statsu",
        "recall status --wach",
        "recall config shwo",
        "recall requeue T-1 T-2",
        "recall prioritize T-1 high",
        "recall-tui --until-dne",
    ],
)
def test_a_wrong_command_would_be_found(line: str) -> None:
    assert wrong(shlex.split(line), complete=True)


def test_a_missing_argument_is_wrong_in_a_block_only() -> None:
    assert wrong(["recall", "requeue"], complete=True)
    assert not wrong(["recall", "requeue"], complete=False)


def test_shown_make_goals_are_there() -> None:
    goals = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    pieces = [line for shown in (*blocks("sh"), *spans()) for line in shown.text.splitlines()]
    asked = {found[1] for line in pieces if (found := re.match(r"make ([a-z]+)\b", line))}
    assert {"run", "test", "docs"} <= asked
    assert asked <= goals
