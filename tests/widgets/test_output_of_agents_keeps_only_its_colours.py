"""Of everything that a terminal would obey, colours alone get through."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import Color
from rich.style import Style

from recall.domain.text import clean
from recall_widgets.ansi import styled_line
from recall_widgets.spans import Span
from tests.widgets.stage import CASES, FORBIDDEN, HOSTILE

RED = Style(color=Color.from_ansi(1))
PIECES = ["\x1b", "[", "]", "52;c;", "\x07", "\x9b", "\x9d", "\x9c", "31m", "0m", "38;5;", "\r", "\t", "é", "日", "x"]


def plain(text: str) -> str:
    return "".join(span.text for span in styled_line(text))


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_text_from_the_wild_keeps_what_a_reader_would_see(case: dict[str, Any]) -> None:
    assert plain(case["input"]["text"].removesuffix("\n")) == case["expected"]["plain"]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=4)).map("".join))
def test_nothing_that_commands_a_terminal_survives(text: str) -> None:
    assert not FORBIDDEN & set(plain(text))


@given(st.text(st.sampled_from("ab日 é\x1b[;13m]\x07\x9b")))
def test_what_is_left_is_what_cleaning_leaves(text: str) -> None:
    assert plain(text) == clean(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_lines_are_harmless(text: str) -> None:
    for line in text.split("\n"):
        assert not FORBIDDEN & set(plain(line))


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("\x1b[31mred\x1b[0m plain", [Span("red", RED), Span(" plain")]),
        ("\x1b[1;31mbold\x1b[22m not", [Span("bold", RED + Style(bold=True)), Span(" not", RED)]),
        ("\x1b[38;5;196mx", [Span("x", Style(color=Color.from_ansi(196)))]),
        ("\x1b[38;2;1;2;3mx", [Span("x", Style(color=Color.from_rgb(1, 2, 3)))]),
        ("\x1b[38:2::1:2:3mx", [Span("x", Style(color=Color.from_rgb(1, 2, 3)))]),
        ("\x1b[94;102mx", [Span("x", Style(color=Color.from_ansi(12), bgcolor=Color.from_ansi(10)))]),
        ("\x1b[31m\x1b[39mx\x1b[mx", [Span("x"), Span("x")]),
        ("\x9b31mx", [Span("x", RED)]),
        ("\x1b[5;8mx", [Span("x")]),
        ("\x1b[38;5;999mx\x1b[38;2;1mx", [Span("x"), Span("x")]),
        ("\x1b[31m10%\r\x1b[2K20%\r", [Span("20%", RED)]),
        ("a\tb\x1b[31m\tc", [Span("a" + " " * 7), Span("b"), Span(" " * 7, RED), Span("c", RED)]),
        ("", []),
    ],
)
def test_colours_are_read_as_terminals_read_them(text: str, spans: list[Span]) -> None:
    assert styled_line(text) == spans
