"""Keys and what they do, as many as there is room for; one that does not fit is left out whole."""

from __future__ import annotations

from collections.abc import Sequence

from recall_widgets.rows import KeyHint
from recall_widgets.spans import Span, cleaned, width_of


def hints(keys: Sequence[KeyHint], room: int) -> list[Span]:
    """The first ones of the keys, in so many cells."""
    spans: list[Span] = []
    for key in keys:
        more = cleaned([Span(f" {key.key}", "run"), Span(f" {key.does} ", "muted")])
        room -= width_of(more)
        if room < 0:
            break
        spans += more
    return spans


def hints_and_last(keys: Sequence[KeyHint], room: int) -> list[Span]:
    """The same, but the last key is always among them."""
    last = hints(keys[-1:], room)
    return [*hints(keys[:-1], room - width_of(last)), *last]
