"""No text from outside can crash a widget, press a key for its reader, or command the terminal."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from textual.containers import Vertical
from textual.pilot import Pilot

from tests.support.pilot import SIZES, run_app, screen_lines
from tests.support.terminal import terminal
from tests.widgets.hostile import BUILDERS, Builder, Everything, board, fill, widget_classes
from tests.widgets.stage import FORBIDDEN, HOSTILE, Stage, assert_harmless

ROOT = Path(__file__).parents[2]
#: What Textual says to a terminal: places and colours, modes and questions about them, keys, the pointer's shape.
_OF_TEXTUAL = re.compile(
    r"\x1b\[(?:\d+;\d+H|[0-9;]*m|\?(?:7|25|1000|1003|1004|1006|1015|1049|2004|2026)[hl]|\?\d+\$p|[<>]\d*u)"
    r"|\x1b\]22;default\x07"
)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("build", BUILDERS)
def test_hostile_text_is_only_text(build: Builder, size: tuple[int, int]) -> None:
    widget = build(HOSTILE)

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        fill(widget, HOSTILE)
        await pilot.pause()
        for end in (widget.scroll_home, widget.scroll_end):
            end(animate=False)
            await pilot.pause()
            assert_harmless(screen_lines(app))
            await pilot.click(offset=(3, min(3, size[1] - 1)), times=2)
        assert app.is_running

    run_app(Stage(widget), size, body)


@pytest.mark.parametrize("build", BUILDERS)
def test_no_widget_hides_a_part_of_textual(build: Builder) -> None:
    widget = build(["x"])
    theirs = next(cls for cls in type(widget).__mro__ if not cls.__module__.startswith("recall"))
    known = {*dir(theirs), *vars(Vertical())}
    assert not (set(vars(widget)) - set(vars(Vertical()))) & known


def test_a_tasks_text_cannot_press_a_key() -> None:
    widget = board(["[@click=app.quit]press[/]"])

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        await pilot.click(widget, offset=(6, 1))
        await pilot.pause()
        assert app.is_running
        assert any("[@click=app.quit]press[/]" in line for line in screen_lines(app))

    run_app(Stage(widget), (120, 40), body)


def test_no_widget_is_forgotten() -> None:
    """Of the base classes there is one that builds on it, and parts are in a whole."""
    app = Everything(*(build(HOSTILE) for build in BUILDERS))

    async def body(app: Everything, _: Pilot[Any]) -> None:
        shown = list(app.screen.walk_children())
        missing = [one.__name__ for one in widget_classes() if not any(isinstance(each, one) for each in shown)]
        assert missing == []

    assert len(widget_classes()) > 15
    run_app(app, (120, 40), body)


def test_none_of_them_passes_on_what_a_terminal_obeys() -> None:
    """All of them in one real terminal, which is high enough; what is written to it is read byte for byte."""
    program = [sys.executable, "-c", "from tests.widgets.hostile import main; main()"]
    with terminal(program, ROOT, size=(150, 20 * len(BUILDERS) + 1)) as screen:
        screen.shows("all of it is shown")
        screen.type("q")
        assert screen.ends() == 0
    said = screen.output.decode("utf-8")
    rest = _OF_TEXTUAL.sub("", said)
    found = [at for at, letter in enumerate(rest) if letter in FORBIDDEN - {"\r", "\n"}]
    assert [ascii(rest[max(0, at - 30) : at + 20]) for at in found[:5]] == []
