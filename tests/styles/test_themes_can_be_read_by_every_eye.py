"""Every colour that means something can be read on every background it stands on, and told from the others."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from textual.color import Color
from textual.pilot import Pilot
from textual.theme import BUILTIN_THEMES, Theme
from textual.widgets import Static

from recall_styles import CSS_PATHS, THEMES, sheet
from recall_styles.themes import CURSORS, TOKENS, variable_defaults
from recall_widgets.glyphs import GLYPHS, Shown
from recall_widgets.rows import BoardRow
from recall_widgets.task_board import TaskBoard
from recall_widgets.tones import TONES
from tests.support.pilot import run_app
from tests.widgets.stage import Stage

LEAST = 4.5

#: Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
# fmt: off
BLINDNESS = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
# fmt: on


def linear(color: Color) -> tuple[float, float, float]:
    r, g, b = (value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in color.normalized)
    return r, g, b


def luminance(color: Color) -> float:
    r, g, b = linear(color)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: Color, other: Color) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def lab(rgb: tuple[float, float, float]) -> tuple[float, float, float]:
    r, g, b = rgb
    xyz = (
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
        0.2126 * r + 0.7152 * g + 0.0722 * b,
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089,
    )
    x, y, z = (value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116 for value in map(abs, xyz))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def seen(color: Color, kind: str) -> tuple[float, float, float]:
    rgb = linear(color)
    r, g, b = (
        min(1.0, max(0.0, sum(weight * value for weight, value in zip(row, rgb, strict=True))))
        for row in BLINDNESS[kind]
    )
    return r, g, b


def color(theme: Theme, name: str) -> Color:
    return Color.parse(theme.variables.get(name) or getattr(theme, name))


def backgrounds(theme: Theme) -> dict[str, Color]:
    return {name: color(theme, name) for name in ("background", "surface", "panel", *CURSORS)}


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize("token", ["foreground", *TOKENS])
def test_every_token_can_be_read_on_every_background(theme: Theme, token: str) -> None:
    for name, background in backgrounds(theme).items():
        assert contrast(color(theme, token), background) >= LEAST, name


#: Themes that take the terminal's own colours; nobody knows those.
_OF_THE_TERMINAL = {"ansi-dark", "ansi-light", "textual-ansi"}


@pytest.mark.parametrize("name", sorted(set(BUILTIN_THEMES) - _OF_THE_TERMINAL))
def test_every_token_can_be_read_under_a_theme_that_is_not_ours(name: str) -> None:
    theme = BUILTIN_THEMES[name]
    variables = {**variable_defaults(theme), **theme.to_color_system().generate()}
    for ground in ("background", "surface", "panel", *CURSORS):
        for token in TOKENS:
            assert contrast(Color.parse(variables[token]), Color.parse(variables[ground])) >= LEAST, (token, ground)
    assert len({variables[token] for token in TOKENS}) == len(TOKENS)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize("kind", BLINDNESS)
def test_state_colours_differ_for_eyes_that_see_fewer(theme: Theme, kind: str) -> None:
    for one, other in combinations(TOKENS, 2):
        points = lab(seen(color(theme, one), kind)), lab(seen(color(theme, other), kind))
        distance = sum((a - b) ** 2 for a, b in zip(*points, strict=True)) ** 0.5
        assert distance > 8, (one, other)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_the_selected_line_stands_out(theme: Theme) -> None:
    for name in ("background", "surface"):
        assert color(theme, "cursor") != color(theme, name)
    assert color(theme, "cursor") != color(theme, "cursor-away")


def test_sheets_name_tokens_and_no_colours() -> None:
    for path in CSS_PATHS:
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        values = [value for line in text.splitlines() if ":" in line for value in [line.partition(":")[2]]]
        assert not [value for value in values if re.search(r"#[0-9a-fA-F]{3,8}\b|rgb|hsl", value)], path
        assert not re.search(r":\s*(red|green|blue|yellow|white|black|ansi_\w+)\b", text), path
    assert sheet("recall") == CSS_PATHS[0]


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_every_tone_has_a_look_and_every_state_a_tone(theme: Theme) -> None:
    board = TaskBoard()

    async def body(_: Stage, pilot: Pilot[Any]) -> None:
        await pilot.pause()
        looks = {tone: board.palette[tone] for tone in TONES}
        assert [tone for tone, look in looks.items() if not look] == []
        wanted = {Color.parse(theme.variables[token]) for token in (*TOKENS, "cursor")}
        colours = {colour for look in looks.values() for colour in (look.color, look.bgcolor) if colour is not None}
        assert {Color.from_rich_color(colour) for colour in colours} == wanted

    run_app(Stage(board, Static("x"), theme=theme.name), (60, 10), body)
    assert {GLYPHS[state].tone for state in Shown} - {""} <= set(TONES)


def test_another_theme_is_seen_at_once_and_the_selected_line_stronger_where_the_keys_go() -> None:
    board = TaskBoard([BoardRow("t", "task", Shown.RUNNING, "title", id="T-1", detail="claude")])
    other = TaskBoard([BoardRow("t", "task", Shown.RUNNING, "title", id="T-1", detail="claude")])
    other_run = replace(THEMES[0], name="same", variables={**THEMES[0].variables, "run": "#ffffff"})

    def background(app: Stage, y: int) -> Color:
        style = app.screen.get_style_at(2, y)
        assert style.bgcolor is not None
        return Color.from_rich_color(style.bgcolor)

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        variables = THEMES[0].variables
        for focused, away in ((board, other), (other, board)):
            focused.focus()
            await pilot.pause()
            assert background(app, focused.region.y) == Color.parse(variables["cursor"])
            assert background(app, away.region.y) == Color.parse(variables["cursor-away"])
        app.register_theme(other_run)
        app.theme = "same"
        await pilot.pause()
        glyph = app.screen.get_style_at(board.region.x, board.region.y)
        assert glyph.color is not None
        assert Color.from_rich_color(glyph.color) == Color.parse("#ffffff")

    board.styles.height = other.styles.height = 3
    run_app(Stage(board, other), (60, 10), body)


@pytest.mark.parametrize("name", ["recall-dark", "recall-light", "nord", "textual-light", "ansi-dark"])
def test_the_sheets_work_under_any_theme(name: str) -> None:
    board = TaskBoard([BoardRow("t", "task", Shown.RUNNING, "title", id="T-1", detail="claude")])

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        app.theme = name
        await pilot.pause()
        styles = {segment.text: segment.style for segment in board.render_line(0)}
        glyph = styles["◐ "]
        assert glyph is not None
        assert glyph.color is not None
        if name.startswith("recall"):
            wanted = next(theme for theme in THEMES if theme.name == name).variables["run"]
            assert Color.from_rich_color(glyph.color) == Color.parse(wanted)

    run_app(Stage(board, Static("x")), (60, 10), body)


def test_without_colours_the_selected_line_is_still_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    rows = [BoardRow(str(n), "task", Shown.RUNNING, "title", id=f"T-{n}") for n in range(3)]
    board = TaskBoard(rows)

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        board.focus()
        await pilot.pause()
        assert app.no_color
        assert all(segment.style and segment.style.reverse for segment in board.render_line(0))
        assert not any(segment.style and segment.style.reverse for segment in board.render_line(1))

    run_app(Stage(board), (60, 10), body)


def test_a_foreign_theme_gets_the_tokens_of_its_own_brightness() -> None:
    for theme in THEMES:
        assert variable_defaults(theme) == theme.variables
        assert set(TOKENS) | set(CURSORS) <= set(theme.variables)
