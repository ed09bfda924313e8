"""From a wide terminal to one that is far too small; with signs and colours, or without."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.color import Color

from recall.ui.layout import NAME, Layout, Splits, load_layout, save_layout
from recall.ui.terminal import symbols_for
from recall_widgets.glyphs import ASCII, UNICODE
from tests.support.builders import spec
from tests.support.driver import Shop, driving, shop_in
from tests.support.pilot import NARROW, SIZES, TINY, WIDE


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Iterator[Shop]:
    tasks = [spec(f"T-{number}", title="A title that is rather long for a small screen") for number in range(1, 31)]
    with shop_in(tmp_path, *tasks) as made:
        made.store.hold(made.task("T-3").ref, actor="cli", reason="a reason that is long, too, and goes on and on")
        yield made


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_every_line_fits(shop: Shop, size: tuple[int, int]) -> None:
    with driving(shop.session, size=size) as recall:
        recall.board.shows("T-1")
        assert len(recall.lines) == size[1]
        assert max(map(cell_len, recall.lines)) <= size[0]


def test_a_wide_screen_shows_every_pane(shop: Shop) -> None:
    with driving(shop.session, size=WIDE) as recall:
        recall.screen.shows("1 Tasks", "2 Agents", "3 Merge queue", "4 Log", "RECALL", "why T-1")


@pytest.mark.parametrize("size", [NARROW, TINY], ids=str)
def test_a_narrow_screen_shows_one_pane_at_a_time(shop: Shop, size: tuple[int, int]) -> None:
    with driving(shop.session, size=size) as recall:
        recall.screen.shows("─ 1 Tasks", "2 Agents   3 Queue   4 Log").hides("─ 2 Agents", "─ 4 Log")
        recall.keys("2")
        recall.screen.shows("─ 2 Agents", "ant").hides("─ 1 Tasks")
        recall.keys("4")
        recall.screen.shows("─ 4 Log").hides("─ 2 Agents")
        recall.keys("tab")
        recall.screen.shows("─ 1 Tasks").hides("─ 4 Log")


def test_the_pane_in_focus_stays_when_the_terminal_shrinks_and_grows(shop: Shop) -> None:
    with driving(shop.session, size=WIDE) as recall:
        recall.board.select("T-9").resize(*NARROW)
        recall.screen.shows("─ 1 Tasks").hides("─ 2 Agents")
        recall.why.shows("T-9")
        recall.resize(*WIDE)
        recall.screen.shows("2 Agents")
        recall.why.shows("T-9")


def test_a_plain_terminal_gets_plain_signs(shop: Shop) -> None:
    plain = replace(shop.session, symbols=ASCII)
    with driving(plain, size=WIDE) as recall:
        recall.board.shows("T-1")
        for line in recall.lines:
            assert line.isascii(), line


@pytest.mark.parametrize(
    ("wanted", "terminal", "encoding", "symbols"),
    [
        ("", "xterm-256color", "utf-8", UNICODE),
        ("", "xterm-256color", "ANSI_X3.4-1968", ASCII),
        ("", "linux", "UTF-8", ASCII),
        ("ascii", "xterm-256color", "utf-8", ASCII),
        ("unicode", "linux", "ascii", UNICODE),
    ],
)
def test_signs_follow_the_terminal_unless_they_are_chosen(
    wanted: str, terminal: str, encoding: str, symbols: object
) -> None:
    assert symbols_for(wanted, terminal, encoding) is symbols


# -- how it was arranged -------------------------------------------------------------------------------------------
def test_the_arrangement_is_there_again_at_the_next_start(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        recall.press("view", "view", "zoom")
        recall.wait(lambda: load_layout(shop.session.state).zoomed == "tasks")
    with driving(shop.session) as recall:
        recall.screen.shows("T-1").hides("─ 2 Agents", "Ready")
        recall.press("zoom", "view")
        recall.screen.shows("2 Agents", "Ready")


def test_folded_groups_stay_folded(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.select("Ready").keys("space")
        recall.board.hides("T-5")
        recall.wait(lambda: "group:ready" in load_layout(shop.session.state).folded)
    with driving(shop.session) as recall:
        recall.board.shows("Ready").hides("T-5")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[1]",
        "null",
        '{"theme": 7, "folded": "x", "view": 3, "zoomed": []}',
        '{"splits": {"upper": "x", "tasks": 3, "agents": 300}}',
        '{"splits": 7}',
    ],
)
def test_an_arrangement_that_cannot_be_read_is_that_of_a_first_start(tmp_path: Path, text: str) -> None:
    (tmp_path / NAME).write_text(text)
    assert load_layout(tmp_path) == Layout()


def test_an_arrangement_is_kept_whole(tmp_path: Path) -> None:
    kept = Layout("recall-light", "tree", ("group:done",), "log", Splits(upper=70, agents=30))
    save_layout(tmp_path, kept)
    assert load_layout(tmp_path) == kept
    assert json.loads((tmp_path / NAME).read_text())["zoomed"] == "log"
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_a_state_folder_that_is_gone_costs_the_memory_only(tmp_path: Path) -> None:
    save_layout(tmp_path / "gone", Layout())
    assert load_layout(tmp_path / "gone") == Layout()


@pytest.mark.parametrize(("theme", "dark"), [("textual-light", False), ("textual-dark", True)])
def test_a_theme_that_is_not_ours_gets_colours_for_its_brightness(shop: Shop, theme: str, dark: bool) -> None:
    with driving(shop.session) as recall:
        recall.app.theme = theme
        variables = recall.app.get_css_variables()
        assert (Color.parse(variables["needs-you"]).brightness > 0.5) is dark
