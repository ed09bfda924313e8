"""Each part of the main screen answers its question at every size, in signs and words as well as in colours."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widget import Widget

from recall_widgets.agent_list import AgentList
from recall_widgets.glyphs import ASCII, GLYPHS, UNICODE, Shown
from recall_widgets.needs_you import NeedsYou
from recall_widgets.queue_view import QueueView
from recall_widgets.rows import AgentRow, BoardRow, HeaderFacts, KeyHint, NeedRow, QueueRow, Why
from recall_widgets.status_strip import StatusStrip
from recall_widgets.task_board import TaskBoard
from recall_widgets.titles import entitle
from recall_widgets.why_line import WhyLine
from tests.support.pilot import run_app, screen_lines
from tests.widgets.stage import Stage

GROUP = BoardRow("g", "group", Shown.RUNNING, "Running", count=4)
TASK = BoardRow("t", "task", Shown.RUNNING, "Parse the config", id="T-B02", detail="claude", time="12:04", indent=1)
FACTS = HeaderFacts(
    "shop-api",
    "main",
    "3f9c2ab",
    True,
    "dispatching",
    Shown.ACTIVE,
    ((4, "running"), (7, "ready"), (12, "waiting"), (31, "done")),
    2,
    "22:41",
)
KEYS = (KeyHint("r", "requeue"), KeyHint("p", "pause"), KeyHint("c", "conflict"), KeyHint("?", "help"))


class Counting(TaskBoard):
    drawn = 0

    def render_line(self, y: int) -> Strip:
        self.drawn += 1
        return super().render_line(y)


def drawn(widget: Widget, size: tuple[int, int]) -> list[str]:
    lines: list[str] = []

    async def body(app: Stage, _: Pilot[Any]) -> None:
        lines.extend(line.rstrip() for line in screen_lines(app))

    run_app(Stage(widget), size, body)
    return lines


def test_a_board_shows_groups_and_tasks() -> None:
    rows = [GROUP, TASK, replace(TASK, key="u", state=Shown.WAITING, detail="after T-B07", time="", needs_you=True)]
    lines = drawn(TaskBoard(rows), (50, 10))
    assert lines[0] == "▾ Running" + " " * 40 + "4"
    assert lines[1] == "  ◐ T-B02 Parse the config          claude   12:04"
    assert lines[2] == "  ◌ T-B02 Parse the config           after T-B07 ⚑"
    assert drawn(TaskBoard([replace(GROUP, folded=True)]), (50, 10))[0].startswith("▸ Running")


def test_without_ambiguous_characters_everything_is_ascii() -> None:
    boards = [
        TaskBoard([GROUP, TASK], symbols=ASCII),
        QueueView([QueueRow("q", 1, Shown.LANDING, "T", "a" * 90, "x", "1", 0.4)], symbols=ASCII),
    ]
    for widget in boards:
        assert all(line.isascii() for line in drawn(widget, (40, 10)))
    assert drawn(TaskBoard([GROUP, TASK], symbols=ASCII), (50, 10))[1].startswith("  * T-B02")


def test_a_group_asks_to_be_folded_by_key_and_by_mouse() -> None:
    widget = TaskBoard([GROUP, TASK])

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        await pilot.press("enter", "space", "j", "enter", "space")
        await pilot.click(widget, offset=(2, 0))
        await pilot.pause()
        assert [(message.key, message.folded) for message in app.of(TaskBoard.Folded)] == [("g", True)] * 3
        assert [message.key for message in app.of(TaskBoard.Activated)] == ["t"]

    run_app(Stage(widget), (50, 10), body)


@pytest.mark.parametrize("width", [40, 60, 100])
def test_wide_characters_leave_the_right_end_where_it_is(width: int) -> None:
    titles = ("Plain", "日本語のヘルプ", "Sparks \u2728 and 🚀", "한국어 " * 20, "e\u0301tude")
    rows = [replace(TASK, key=str(at), title=title, type="docs", age="3 d") for at, title in enumerate(titles)]
    lines = drawn(TaskBoard(rows), (width, 10))[: len(rows)]
    assert {cell_len(line) for line in lines} == {width}
    assert len({cell_len(line[: line.index("claude")]) for line in lines}) == 1


def test_a_wide_board_has_columns_that_a_narrow_one_leaves_out() -> None:
    row = replace(TASK, priority="P2", type="docs", tries="try 3", age="3 d")
    assert drawn(TaskBoard([row]), (60, 10))[0].rstrip().endswith("P2  claude   12:04")
    assert drawn(TaskBoard([row]), (110, 10))[0].rstrip().endswith("claude   12:04    P2  docs        try 3      3 d")
    assert drawn(TaskBoard([row]), (24, 10))[0].startswith("  ◐ T-B02 Parse the con…")


def test_a_list_without_rows_says_so() -> None:
    assert drawn(QueueView(), (40, 5))[0].strip() == "nothing waits to land"
    assert "recall.toml" in drawn(AgentList(), (60, 5))[0]


def test_the_filter_text_is_marked_where_it_occurs() -> None:
    widget = TaskBoard([GROUP, TASK])

    async def body(_: Stage, pilot: Pilot[Any]) -> None:
        widget.needle = "par"
        await pilot.pause()
        marked = [segment.text for segment in widget.render_line(1) if segment.style and segment.style.underline]
        assert marked == ["Par"]

    run_app(Stage(widget), (50, 10), body)


def test_agents_say_what_since_when_and_how_they_are_trusted() -> None:
    rows = [
        AgentRow("1", Shown.ACTIVE, "claude", "T-B02 Parse", "12:04", (0.3, 0.6, 1.0), 0.85, "$0.41"),
        AgentRow("2", Shown.COOLING, "gem", "resets 23:30", "48:55", quote="limit … 11:30pm"),
    ]
    widget = AgentList()

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        widget.set_rows(rows)
        await pilot.pause()
        lines = screen_lines(app)
        assert lines[0] == "● claude  T-B02 Parse             12:04  ▃▅▇ 0.85   $0.41"
        assert lines[1].startswith('◔ gem     resets 23:30  "limit … 11:30pm"')

    run_app(Stage(widget), (57, 10), body)


@pytest.mark.parametrize(
    ("share", "end"),
    [
        (0.0, "1:12 ░░░░░░░░   0%"),
        (0.01, "1:12 ▓░░░░░░░   1%"),
        (0.64, "1:12 ▓▓▓▓▓░░░  64%"),
        (0.999, "▓▓▓▓▓▓▓░  99%"),
        (1.0, "▓▓▓▓▓▓▓▓ 100%"),
        (None, "  1:12"),
    ],
)
def test_a_bar_is_full_only_at_the_end_and_absent_when_nobody_knows(share: float | None, end: str) -> None:
    row = QueueRow("q", 1, Shown.LANDING, "T-A04", "claude", "verifying", "1:12", share)
    assert drawn(QueueView([row]), (60, 10))[0].endswith(end)


def need(number: int) -> NeedRow:
    return NeedRow(str(number), f"T-{number}", "asks", (KeyHint("enter", "answer"),), "2 min")


@pytest.mark.parametrize(("count", "lines"), [(0, 0), (1, 1), (3, 3), (7, 4)])
def test_needs_you_takes_no_more_room_than_it_needs(count: int, lines: int) -> None:
    widget = NeedsYou()

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        app.set_focus(None)
        widget.set_rows([need(number) for number in range(count)])
        await pilot.pause()
        assert widget.size.height == lines
        assert widget.display == bool(count)
        if count == 7:
            assert screen_lines(app)[3].strip() == "… and 4 more"
            widget.focus()
            await pilot.press("G", "enter")
            await pilot.pause()
            assert widget.size.height == 7, "with the keys on it, all are there"
            assert app.of(NeedsYou.Activated)[-1].key == "6"
        widget.set_rows([])
        await pilot.pause()
        assert not widget.display

    run_app(Stage(widget), (80, 24), body)


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (120, " RECALL  shop-api  main 3f9c2ab ✓   ● dispatching   4 running · 7 ready · 12 waiting · 31 done"),
        (80, "  main 3f9c2ab ✓   ● dispatching  ◐4  ○7  ◌12  ✓31"),
        (40, "   ● dispatching   ⚑ 2 need you   22:41"),
    ],
)
def test_the_header_keeps_the_urgent_at_every_width(width: int, line: str) -> None:
    widget = StatusStrip()
    widget.show(FACTS)
    lines = drawn(widget, (width, 10))
    assert lines[0].startswith(line)
    assert lines[0].endswith("⚑ 2 need you   22:41")


def test_a_red_main_is_told_by_its_sign() -> None:
    widget = StatusStrip()
    widget.show(replace(FACTS, green=False))
    assert "3f9c2ab ✗" in drawn(widget, (120, 10))[0]


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (100, " why T-B09: waits for T-B07, which needs you  r requeue  p pause  c conflict  ? help"),
        (60, " why T-B09: waits for T-B07, which need…  r requeue  ? help"),
        (40, " why T-B09: waits f…  r requeue  ? help"),
    ],
)
def test_the_bottom_line_always_offers_help(width: int, line: str) -> None:
    widget = WhyLine()
    widget.show(Why("T-B09", "waits for T-B07, which needs you", KEYS))
    assert " ".join(drawn(widget, (width, 10))[0].split()) == " ".join(line.split())


def test_every_state_has_a_sign_of_its_own_and_a_word() -> None:
    assert set(GLYPHS) == set(Shown)
    for signs in ([glyph.symbol for glyph in GLYPHS.values()], [glyph.ascii for glyph in GLYPHS.values()]):
        assert len(set(signs)) == len(signs)
        assert all(len(sign) == 1 for sign in signs)
    assert all(glyph.ascii.isascii() and glyph.word for glyph in GLYPHS.values())
    assert UNICODE.sparkline((0.0, 0.5, 1.0, 7.0)) == "▁▄▇▇"


def test_a_title_that_stays_the_same_draws_nothing() -> None:
    widget = Counting([GROUP, TASK], classes="pane")

    async def body(_: Stage, pilot: Pilot[Any]) -> None:
        entitle(widget, "run 4 [/]", "a\x1b]0;x\x07b")
        await pilot.pause()
        widget.drawn = 0
        entitle(widget, "run 4 [/]", "a\x1b]0;x\x07b")
        await pilot.pause()
        assert widget.drawn == 0
        entitle(widget, "other")
        await pilot.pause()
        assert widget.drawn
        assert widget.border_subtitle is None

    run_app(Stage(widget), (50, 10), body)
