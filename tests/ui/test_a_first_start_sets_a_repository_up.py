"""The first start: what was found is shown, can be changed, and is written only when a person says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from recall.config.detect import VerifyGuess
from recall.config.first_files import FirstFiles, Found, write_first_files
from recall.config.load import load_settings
from recall.domain.errors import ConfigError
from recall.ui.first_run import Draft, draft_of, list_rows, list_words, read_list, verify_words, why_not_yet
from recall.ui.set_up import SetUpApp
from recall_widgets.glyphs import ASCII, UNICODE
from tests.support.pilot import NARROW, TINY, WIDE, run_app, screen_lines
from tests.widgets.stage import HOSTILE, assert_harmless

FOUND = Found(
    "trunk", VerifyGuess("make check", "Makefile has a goal check"), ("codex",), ("claude", "codex", "gemini")
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


def _text(app: SetUpApp) -> str:
    return "\n".join(screen_lines(app))


def _files(checkout: Path) -> list[str]:
    return [path.name for path in checkout.iterdir()]


# -- on the screen -------------------------------------------------------------------------------------------------
def test_what_was_found_is_shown_and_written_on_request(checkout: Path) -> None:
    async def body(app: SetUpApp, pilot: Pilot[bool]) -> None:
        for words in ("trunk", "make check", "Makefile has a goal check", 'verify = "make check"', "not there yet"):
            assert words in _text(app), words
        assert _files(checkout) == []
        await pilot.press("ctrl+s")
        await pilot.pause()
        for words in ("wrote recall.toml", "two example tasks", "T-1", "after T-1"):
            assert words in _text(app), words
        await pilot.press("enter")

    app = SetUpApp(checkout, FOUND, UNICODE)
    run_app(app, WIDE, body)
    assert app.return_value is True
    settings = load_settings(checkout / "recall.toml")
    assert (settings.main, settings.verify, [agent.name for agent in settings.agents]) == (
        "trunk",
        "make check",
        ["codex"],
    )


def test_choices_change_the_file_that_is_shown(checkout: Path) -> None:
    (checkout / "todo.md").write_text("- [ ] T-1 First\n- [ ] T-1 Again\n")

    async def body(app: SetUpApp, pilot: Pilot[bool]) -> None:
        await pilot.press("ctrl+u", *"none", "enter", "ctrl+u", *"todo.md", "enter", "j", "space")
        await pilot.pause()
        text = _text(app)
        for words in ('verify = "none"', "without any check", 'tasks = ["todo.md"]', "2 tasks, 2 problems"):
            assert words in text, words
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert "todo.md:1" in _text(app)
        assert "error" in _text(app)
        await pilot.press("escape")

    app = SetUpApp(checkout, FOUND, UNICODE)
    run_app(app, WIDE, body)
    assert app.return_value is False
    assert {agent.name for agent in load_settings(checkout / "recall.toml").agents} == {"codex", "claude"}
    assert not (checkout / "TASKS.md").exists()


def test_leaving_leaves_no_trace(checkout: Path) -> None:
    async def body(app: SetUpApp, pilot: Pilot[bool]) -> None:
        await pilot.press(*"abc", "escape")

    app = SetUpApp(checkout, FOUND, UNICODE)
    run_app(app, WIDE, body)
    assert app.return_value is None
    assert list(checkout.iterdir()) == []


def test_nothing_is_written_while_something_is_missing_or_in_the_way(checkout: Path) -> None:
    async def body(app: SetUpApp, pilot: Pilot[bool]) -> None:
        await pilot.press("ctrl+u", "ctrl+s")
        await pilot.pause()
        assert "or none" in _text(app)
        assert _files(checkout) == []
        (checkout / "recall.toml").write_text("mine")
        await pilot.press(*"true", "ctrl+s")
        await pilot.pause()
        assert "is there already" in _text(app)
        assert 'verify = "true"' in _text(app)

    run_app(SetUpApp(checkout, FOUND, UNICODE), WIDE, body)
    assert (checkout / "recall.toml").read_text() == "mine"


@pytest.mark.parametrize("size", [WIDE, NARROW, TINY, (200, 60)], ids=str)
def test_it_fits(checkout: Path, size: tuple[int, int]) -> None:
    (checkout / "TASKS.md").write_text("\n\n".join(f"## T-{n} {text}" for n, text in enumerate(HOSTILE)))

    async def body(app: SetUpApp, pilot: Pilot[bool]) -> None:
        for _ in range(2):
            lines = screen_lines(app)
            assert max(map(cell_len, lines)) <= size[0]
            assert_harmless(lines)
            await pilot.press("ctrl+s")
            await pilot.pause()

    run_app(SetUpApp(checkout, FOUND, ASCII), size, body)


# -- without one ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("draft", "word"),
    [
        (Draft("", "true", "TASKS.md", frozenset()), "branch"),
        (Draft("main", " ", "TASKS.md", frozenset()), "or none"),
        (Draft("main", "true", "/etc/passwd", frozenset()), "must be a file in shop"),
        (Draft("main", "true", "../x.md", frozenset()), "must be a file in shop"),
        (draft_of(FOUND), ""),
    ],
)
def test_what_is_missing_is_said(checkout: Path, draft: Draft, word: str) -> None:
    reason = why_not_yet(draft, checkout)
    assert (word in reason) if word else not reason


def test_words_about_the_command() -> None:
    draft = draft_of(FOUND)
    assert verify_words(draft, FOUND) == "found: Makefile has a goal check"
    assert verify_words(Draft("main", "make", "", frozenset()), FOUND) == "your own command"


def test_problems_stand_above_the_tasks_with_their_lines(checkout: Path) -> None:
    (checkout / "TASKS.md").write_text("## T-1 First\n\n- after: T-9\n")
    tasks = read_list(checkout / "TASKS.md", "TASKS.md")
    first, *_, last = ["".join(span.text for span in row.left) for row in list_rows(tasks, "TASKS.md")]
    assert first.startswith("TASKS.md:3  error")
    assert last.startswith("T-1")
    assert list_words(tasks) == "1 task, 1 problem"
    assert "not there yet" in list_words(read_list(checkout / "none.md", "none.md"))


def test_a_file_that_cannot_be_used_is_taken_back(checkout: Path) -> None:
    with pytest.raises(ConfigError):
        write_first_files(checkout, FirstFiles("main", "true", (), "../outside.md"))
    assert list(checkout.iterdir()) == []
