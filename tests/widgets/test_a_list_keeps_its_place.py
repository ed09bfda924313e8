"""A list is read while it changes: cursor and scroll position belong to the reader; only what changed is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.strip import Strip

from recall_widgets.line_list import LineList
from recall_widgets.spans import Span, shown
from tests.support.pilot import SIZES, run_app, screen_lines
from tests.widgets.stage import HOSTILE, Stage, assert_harmless


@dataclass(frozen=True)
class Item:
    key: str
    text: str = ""
    end: str = ""


class Plain(LineList[Item]):
    drawn: list[int]

    def left_of(self, row: Item) -> Sequence[Span]:
        return [Span(row.text or row.key)]

    def right_of(self, row: Item) -> Sequence[Span]:
        return [Span(row.end)] if row.end else []

    def render_line(self, y: int) -> Strip:
        self.drawn.append(y)
        return super().render_line(y)


def plain(items: Sequence[Item]) -> Plain:
    widget = Plain(items)
    widget.drawn = []
    return widget


def numbered(count: int) -> list[Item]:
    return [Item(str(number)) for number in range(count)]


def test_keys_move_the_cursor_and_say_so() -> None:
    widget = plain(numbered(100))

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        keys = ["j", "down", "k", "G", "g", "end", "up", "home", "ctrl+d", "ctrl+u", "pagedown", "enter"]
        await pilot.press(*keys)
        await pilot.pause()
        assert [message.key for message in app.of(LineList.Selected)] == [
            "1", "2", "1", "99", "0", "99", "98", "0", "12", "0", "24",
        ]  # fmt: skip
        assert [message.key for message in app.of(LineList.Activated)] == ["24"]
        assert widget.cursor == "24"
        assert widget.scroll_offset.y == 1

    run_app(Stage(widget), (80, 24), body)


def test_a_click_selects_and_a_second_one_opens() -> None:
    widget = plain(numbered(100))

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        await pilot.click(widget, offset=(5, 7))
        assert widget.cursor == "7"
        assert not app.of(LineList.Activated)
        await pilot.click(widget, offset=(5, 9), times=2)
        await pilot.pause()
        assert [message.key for message in app.of(LineList.Activated)] == ["9"]

    run_app(Stage(widget), (80, 24), body)


def test_only_changed_visible_lines_are_drawn_again() -> None:
    items = numbered(1000)
    widget = plain(items)

    async def body(_: Stage, pilot: Pilot[Any]) -> None:
        widget.drawn.clear()
        widget.set_rows([*items[:500], Item("500", "changed out of sight"), *items[501:]])
        await pilot.pause()
        assert widget.drawn == []
        widget.set_rows([*items[:3], Item("3", "changed"), *items[4:]])
        await pilot.pause()
        assert widget.drawn == [3]
        widget.drawn.clear()
        await pilot.press("j")
        await pilot.pause()
        assert sorted(widget.drawn) == [0, 1]

    run_app(Stage(widget), (80, 24), body)


def test_equal_rows_cost_nothing() -> None:
    widget = plain(numbered(1000))

    async def body(_: Stage, pilot: Pilot[Any]) -> None:
        widget.drawn.clear()
        widget.set_rows(numbered(1000))
        await pilot.pause()
        assert widget.drawn == []

    run_app(Stage(widget), (80, 24), body)


def test_the_selected_row_stays_where_it_is_on_the_screen() -> None:
    items = numbered(200)
    widget = plain(items)

    async def body(_: Stage, pilot: Pilot[Any]) -> None:
        widget.select("100")
        await pilot.pause()
        line = 100 - widget.scroll_offset.y
        widget.set_rows([Item("new"), Item("newer"), *items])
        await pilot.pause()
        assert widget.cursor == "100"
        assert 102 - widget.scroll_offset.y == line

    run_app(Stage(widget), (80, 24), body)


def test_a_reader_who_scrolled_away_keeps_the_lines_in_view() -> None:
    items = numbered(200)
    widget = plain(items)

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        widget.scroll_to(y=50, animate=False)
        await pilot.pause()
        widget.set_rows([Item("new"), *items])
        await pilot.pause()
        assert widget.cursor == "0"
        assert screen_lines(app)[0].startswith("50")

    run_app(Stage(widget), (80, 24), body)


@pytest.mark.parametrize(
    ("left", "now"), [(["0", "1", "3", "4"], "3"), (["0", "1"], "1"), (["7", "1", "0"], "1"), ([], None)]
)
def test_when_the_selected_row_goes_a_neighbour_takes_over(left: list[str], now: str | None) -> None:
    widget = plain(numbered(5))

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        widget.select("2")
        widget.set_rows([Item(key) for key in left])
        await pilot.pause()
        assert widget.cursor == now
        if now is not None:
            assert app.of(LineList.Selected)[-1].key == now

    run_app(Stage(widget), (80, 24), body)


def test_rows_that_come_after_none_select_the_first() -> None:
    widget = plain([])

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        await pilot.press("j", "k", "G", "g", "enter", "ctrl+d")
        assert widget.cursor is None
        widget.set_rows(numbered(3))
        await pilot.pause()
        assert widget.cursor == "0"
        assert [message.key for message in app.of(LineList.Selected)] == ["0"]

    run_app(Stage(widget), (80, 24), body)


@pytest.mark.parametrize("size", SIZES)
def test_the_cursor_is_in_sight_after_every_resize(size: tuple[int, int]) -> None:
    widget = plain(numbered(300))

    async def body(_: Stage, pilot: Pilot[Any]) -> None:
        widget.action_move_to(-1)
        for width, height in (size, (30, 5), (100, 50)):
            await pilot.resize_terminal(width, height)
            await pilot.pause()
            assert widget.scroll_offset.y <= 299 < widget.scroll_offset.y + widget.size.height

    run_app(Stage(widget), size, body)


@pytest.mark.parametrize("size", SIZES)
def test_wide_characters_line_up_and_nothing_is_cut_without_a_sign(size: tuple[int, int]) -> None:
    texts = ["plain", "日本語" * 30, "👩‍👩‍👧 family " * 20, "✈️ plane", "e\u0301" * 200, "x" * 300]
    widget = plain([Item(str(number), text, "12:04") for number, text in enumerate(texts)])

    async def body(app: Stage, _: Pilot[Any]) -> None:
        for text, strip in zip(texts, (widget.render_line(y) for y in range(len(texts))), strict=True):
            assert strip.cell_length == size[0]
            assert strip.text.endswith("12:04")
            assert shown(text) in strip.text or "…" in strip.text
        assert_harmless(screen_lines(app))

    run_app(Stage(widget), size, body)


@pytest.mark.parametrize("size", SIZES)
def test_outside_text_is_shown_and_never_obeyed(size: tuple[int, int]) -> None:
    widget = plain([Item(str(number), text, text[:6]) for number, text in enumerate(HOSTILE)])

    async def body(app: Stage, pilot: Pilot[Any]) -> None:
        assert_harmless(screen_lines(app))
        for row in range(min(len(HOSTILE), size[1])):
            await pilot.click(widget, offset=(1, row))
        assert app.is_running
        assert any(line.startswith("[/x]") for line in screen_lines(app)) or size[1] == 10

    run_app(Stage(widget), size, body)
