"""A line never takes more cells than it has, and what was cut says so."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recall_widgets.spans import Span, beside, clip, fit, highlighted, shown, width_of
from tests.widgets.stage import FORBIDDEN, HOSTILE

TEXT = st.text(st.sampled_from("ab 日本\u0301👩\u200d✈\ufe0f"), max_size=20)
SPANS = st.lists(TEXT.map(Span), max_size=4)


@given(TEXT, st.integers(0, 30))
@example("\u200d\u200daaa", 2)  # widths that do not add up
def test_a_clipped_text_fits(text: str, width: int) -> None:
    clipped = clip(text, width)
    assert width_of([Span(clipped)]) <= width
    assert clipped == text or clipped.endswith("…") or width == 0


@given(SPANS, SPANS, st.integers(1, 60))
@example([], [Span("\u200d\u200daaa")], 2)
@example([Span("aa日日日日日\u200d")], [Span("a")], 12)  # the joiner would swallow what comes behind it
def test_two_sides_fill_the_width(left: list[Span], right: list[Span], width: int) -> None:
    line = beside(left, right, width)
    whole = "".join(span.text for span in [*left, *right]).replace("\ufe0f", "")
    assert width_of(line) == width
    drawn = "".join(span.text for span in line)
    assert drawn.replace(" ", "") == whole.replace(" ", "") or "…" in drawn


@pytest.mark.parametrize(
    ("width", "drawn"),
    [
        (30, "a long title here       claude"),
        (22, "a long title h… claude"),
        (20, "a long title… claude"),
        (16, "a long titl… cl…"),
        (8, "a long …"),
    ],
)
def test_the_left_side_gives_way_first(width: int, drawn: str) -> None:
    line = beside([Span("a long title here")], [Span("claude")], width, least=12)
    assert "".join(span.text for span in line) == drawn


def test_fit_keeps_what_fits() -> None:
    assert fit([Span("ab", "run"), Span("cdef", "bad")], 4) == [Span("ab", "run"), Span("c…", "bad")]
    assert fit([Span("ab", "run"), Span("cd", "bad")], 4) == [Span("ab", "run"), Span("cd", "bad")]
    assert fit([Span("ab", "run"), Span("cdef", "bad")], 2) == [Span("a…", "run")]


def test_every_occurrence_is_marked_in_either_case() -> None:
    found = re.compile("pa", re.IGNORECASE)
    assert highlighted([Span("Parse papa", "strong")], found) == [
        Span("Pa", "match"),
        Span("rse ", "strong"),
        Span("pa", "match"),
        Span("pa", "match"),
    ]


@pytest.mark.parametrize("text", HOSTILE)
def test_outside_text_is_one_harmless_line(text: str) -> None:
    assert not FORBIDDEN & set(shown(text))
    assert not FORBIDDEN & set("".join(span.text for span in beside([Span(text)], [Span(text)], 60)))
