"""A reader who types what a page shows, line after line, gets what the page says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.docs.grounds import GROUNDS, Ground, standing_on
from tests.docs.markdown import DOCUMENTS, Shown, blocks, spans
from tests.docs.marks import ANSWERS, NOT_RUN, RUN_AS
from tests.docs.steps import Begin, Typed, Write, commands, matches, steps

PAGES = [document for document in DOCUMENTS if any(isinstance(step, Typed) for step in steps(document))]
#: Commands that only look, whatever stands behind them.
_LOOKS = tuple(
    f"recall {look}"
    for look in (
        *("status", "why", "show", "runs", "log", "stats", "report", "agents", "doctor", "completion", "export"),
        *("workspaces", "queue", "config show", "config schema", "import --dry-run", "effect list", "resolve"),
    )
)
#: What stands for a name in running text, and what looking may not be asked for: it writes, or it never ends.
_NAMES = {"ID": "T-7", "AGENT": "claude", "NAME": "claude", "12": "3", "T-1": "T-2"}
_NOT_A_LOOK = re.compile(
    r"--watch|--follow|--write|--fix|--mend|--take|--hunks|--with|--delete|--checkout|--continue|--remembered"
    r"|--send-back|--restart|--give-up|restore|drop|move|skip|retry|…|[A-Z]{2,}"
)


@dataclass(frozen=True, slots=True)
class Stretch:
    """What a reader does on one ground."""

    page: Path
    ground: str
    steps: tuple[Write | Typed, ...]

    def __str__(self) -> str:
        return f"{self.page.stem}:{self.steps[0].line}" if self.steps else self.page.stem


def stretches(page: Path) -> Iterator[Stretch]:
    """A page in pieces that need nothing of each other."""
    ground, done = "", list[Write | Typed]()
    for step in (*steps(page), Begin("")):
        if not isinstance(step, Begin):
            done.append(step)
            continue
        if any(isinstance(each, Write) or each.command not in NOT_RUN for each in done):
            yield Stretch(page, ground, tuple(done))
        ground, done = step.ground, []


STRETCHES = [stretch for page in PAGES for stretch in stretches(page)]


@pytest.mark.timeout(180)
@pytest.mark.parametrize("stretch", STRETCHES, ids=str)
def test_a_page_can_be_followed(stretch: Stretch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert stretch.ground, f"{stretch}: no `<!-- on: … -->` says where it begins"
    with standing_on(stretch.ground, tmp_path, monkeypatch) as ground:
        for step in stretch.steps:
            if isinstance(step, Write):
                ground.write(step.path, step.text, add=step.add)
            elif step.command not in NOT_RUN:
                _type(step, ground, f"{stretch.page.name}:{step.line}: {step.command}")


def _type(typed: Typed, ground: Ground, place: str) -> None:
    command, _ = RUN_AS.get(typed.command, (typed.command, ""))
    answer = ground.types(command, ANSWERS.get(typed.command, ""))
    assert answer.code == typed.code, f"{place} ended with {answer.code}\n{answer.said}"
    if typed.expected is not None:
        shown = "\n".join(typed.expected)
        assert matches(typed.expected, answer.said.splitlines()), f"{place}\nshown:\n{shown}\ngot:\n{answer.said}"


def looks() -> Iterator[tuple[Shown, str]]:
    """The commands in running text that only look, with names that there are."""
    for shown in spans():
        if shown.text.startswith(_LOOKS):
            words = " ".join(_NAMES.get(word, word) for word in shown.text.split())
            if not _NOT_A_LOOK.search(words):
                yield shown, words


def test_looking_as_running_text_says_shows_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = dict[str, str]()
    with standing_on("a repository in the morning", tmp_path, monkeypatch) as ground:
        for shown, command in looks():
            if command in seen:
                continue
            answer = ground.types(command)
            seen[command] = answer.said
            named_only = "Missing argument" in answer.said
            assert answer.code in {0, 1} or named_only, f"{shown}: {command} ended with {answer.code}\n{answer.said}"
            assert answer.said.strip(), f"{shown}: {command} said nothing"
    assert len(seen) > 20, sorted(seen)


# -- the marks ------------------------------------------------------------------------------------------------------
def test_each_mark_fits_a_command_that_is_shown() -> None:
    shown = {step.command for page in PAGES for step in steps(page) if isinstance(step, Typed)}
    marked = [*NOT_RUN, *RUN_AS, *ANSWERS]
    assert [command for command in marked if command not in shown] == []
    assert len(marked) == len(set(marked)), "one mark is enough for a command"
    assert all([*NOT_RUN.values(), *(reason for _, reason in RUN_AS.values())])


def test_few_commands_are_not_run() -> None:
    shown = {step.command for page in PAGES for step in steps(page) if isinstance(step, Typed)}
    assert len(NOT_RUN) < len(shown) / 5


def test_no_other_block_hides_commands() -> None:
    others = [
        shown
        for shown in blocks("", "text", "bash", "shell")
        if re.search(r"^(\$ )?recall", shown.text, re.MULTILINE)
    ]
    assert list(map(str, others)) == [], "mark them as `sh` or `console`, so that they are run"


def test_every_ground_is_used() -> None:
    assert {stretch.ground for stretch in STRETCHES} == set(GROUNDS)


# -- reading a page -------------------------------------------------------------------------------------------------
def test_a_page_is_what_a_reader_does(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- on: here -->\n<!-- file: a.txt -->\n```text\nA\n```\n"
        "<!-- rows -->\n| command | what |\n| --- | --- |\n| `one` | 1 |\n\n"
        "<!-- ends with: 3 -->\n```console\n$ two\n$ three\nsaid\n```\n"
        "<!-- each on: there -->\n```sh\nfour\nfive\n```\n```toml\nnothing = 1\n```\n"
    )
    assert list(steps(page)) == [
        Begin("here"),
        Write("a.txt", "A\n", False, 4),
        Typed("one", None, 9),
        Typed("two", (), 13),
        Typed("three", ("said",), 14, 3),
        Begin("there"),
        Typed("four", None, 19),
        Begin("there"),
        Typed("five", None, 20),
    ]


def test_a_script_is_a_command_a_line() -> None:
    script = "# first\na 1   # one\nb \\\n  2\ncat > f <<'END'\nx # stays\nEND\n"
    assert [typed.command for typed in commands("sh", script)] == [
        "a 1",
        "b \\\n  2",
        "cat > f <<'END'\nx # stays\nEND",
    ]


def test_a_session_shows_answers() -> None:
    session = "$ cat > f <<'END'\n> x\n> END\n$ a\nsaid\nmore\n"
    assert [(typed.command, typed.expected, typed.line) for typed in commands("console", session)] == [
        ("cat > f <<'END'\nx\nEND", (), 1),
        ("a", ("said", "more"), 4),
    ]


@pytest.mark.parametrize(
    ("shown", "fits"),
    [
        (("one", "three"), False),
        (("one", "…"), True),
        (("…", "three"), True),
        (("one", "t…", "t…e"), True),
        (("one", "two", "three", "four"), False),
        (("on", "two", "three"), False),
    ],
)
def test_an_answer_fits_what_is_shown(shown: tuple[str, ...], fits: bool) -> None:
    assert matches(shown, ["one", "", "two  ", "three"]) is fits
