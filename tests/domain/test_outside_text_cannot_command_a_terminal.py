"""Whatever agents, git and task files print, a terminal only ever shows it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.domain.text import cells, clean, clean_bytes, clean_line, clip

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "cases" / "terminal-text.json").read_text())

CONTROLS = {*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
FORBIDDEN = {chr(code) for code in CONTROLS} - {"\n", "\t"}

PIECES = [*sorted(FORBIDDEN), "[", "]", "P", "52;c;", "\\", "31m", "\n", "\u2028", "é", "日"]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_text_from_the_wild_keeps_what_a_reader_would_see(case: dict[str, Any]) -> None:
    assert clean(case["input"]["text"]).removesuffix("\n") == case["expected"]["plain"]


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("a\x1b]52;c;cm0gLXJm\x07b", "ab"),
        ("a\x1b]0;title\x1b\\b", "ab"),
        ("a\x1bP1$qm\x1b\\b", "ab"),
        ("a\x1b_app\x1b\\b\x1b^pm\x1b\\c\x1bXsos\x1b\\d", "abcd"),
        ("a\x9b31mb\x9d8;;x\x9cc", "abc"),
        ("a\x1b(0b\x1b#8c\x1b=d", "abcd"),
        ("a\x1b[38;5;196mb\x1b[?1049hc", "abc"),
        ("a\x1b", "a"),
        ("a\x1b]0;never ended\nnext line", "a\nnext line"),
        ("a\x1bPq#0;2;0\n-#1~~\n\x1b\\b", "ab"),
        ("a\u202egnp.exe\u202c \u2066x\u2069", "agnp.exe x"),
        ("left\x1b[1", "left"),
        ("\x1b[31", ""),
        ("bell\x07 back\x08 del\x7f nel\x85", "bell back del nel"),
    ],
)
def test_no_sequence_reaches_the_terminal(hostile: str, shown: str) -> None:
    assert clean(hostile) == shown


@pytest.mark.parametrize(
    ("written", "last"),
    [
        ("10%\r20%\r30%\n", "30%\n"),
        ("30%\r\n", "30%\n"),
        ("30%\r", "30%"),
        ("a\r\nb\r\r\nc", "a\nb\nc"),
        ("one\x1b[2K\rtwo\x1b[0m\r\nthree", "two\nthree"),
    ],
)
def test_a_rewritten_line_shows_its_last_state(written: str, last: str) -> None:
    assert clean(written) == last


def test_one_line_stays_one_line() -> None:
    assert clean_line(" a\n\n\tb\u2028c\x1b[0m \n") == "a b c"


def test_bytes_that_are_not_utf8_become_replacement_characters() -> None:
    assert clean_bytes(b"caf\xe9 \x1b[1mok\x1b[0m") == "caf\ufffd ok"


def test_text_with_lone_surrogates_can_be_printed() -> None:
    assert clean("a\udcffb").encode() == "a\ufffdb".encode()


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5))).map("".join))
def test_nothing_that_commands_a_terminal_survives(text: str) -> None:
    """No ESC, C0, C1 or bidirectional override, by whichever door it comes in."""
    data = text.encode("utf-8", "surrogatepass")
    for cleaned in (clean(text), clean_line(text), clean_bytes(data), clean_bytes(data[1:-1])):
        assert not FORBIDDEN & set(cleaned)
        assert clean(cleaned) == cleaned
    assert not {"\n", "\t"} & set(clean_line(text))


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n\t")))
def test_plain_text_stays_as_it_is(text: str) -> None:
    plain = "".join(c for c in text if c not in FORBIDDEN and c not in "\u2028\u2029")
    assert clean(plain) == plain


@pytest.mark.parametrize(
    "unit",
    ["\x1b", "\x1b]", "\x9d", "\x1b[", "\x1b[1;", "\x1bP1", "\x90", "a\r", "\r\n", "\x1b]x\n", "a", "\x00", "\x1b("],
)
def test_hostile_text_is_cleaned_in_linear_time(unit: str) -> None:
    text = unit * (400_000 // len(unit))
    started = time.perf_counter()
    clean(text)
    assert time.perf_counter() - started < 1.0, "400 KB must not take quadratic time"


def test_clipping_counts_columns() -> None:
    assert clip("abc", 3) == "abc"
    assert clip("abcd", 3) == "ab…"
    assert clip("日本語", 5) == "日本…"
    assert clip("日本語", 6) == "日本語"
    assert clip("e\u0301e\u0301e\u0301", 2) == "e\u0301…"
    assert clip("abc", 0) == ""
    assert clip("abc", 1) == "…"


@given(st.text(max_size=30), st.integers(0, 20))
def test_a_clipped_line_fits(text: str, width: int) -> None:
    assert cells(clip(clean_line(text), width)) <= width
