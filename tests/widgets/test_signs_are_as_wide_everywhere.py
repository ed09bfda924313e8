"""A sign whose width terminals disagree on is drawn in the form on which they agree."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from recall_widgets.spans import Span, beside, shown, width_of

COLOURFUL = ["\N{WARNING SIGN}\ufe0f", "\N{HEAVY CHECK MARK}\ufe0f", "\N{BUILDING CONSTRUCTION}\ufe0f"]


@pytest.mark.parametrize("sign", COLOURFUL)
def test_a_sign_that_asks_for_colour_is_drawn_plainly(sign: str) -> None:
    assert shown(f"{sign} build") == f"{sign[0]} build"
    assert cell_len(shown(sign)) == 1


@pytest.mark.parametrize("sign", COLOURFUL)
def test_a_line_with_such_signs_is_as_wide_without_what_asks(sign: str) -> None:
    line = beside([Span(f"{sign}{sign} a title that has to be cut")], [Span(f"{sign} 0:01")], 24)
    assert "\ufe0f" not in "".join(span.text for span in line)
    assert width_of(line) == 24
