"""Keys and what they do, as many as there is room for; one that does not fit is left out whole."""

from __future__ import annotations

from collections.abc import Sequence

from textual.message import Message

from recall_widgets.rows import KeyHint
from recall_widgets.spans import Line, Span, cleaned, width_of

_TONE = "run"


class Pressed(Message):
    """A key's hint was clicked; `asks` is what that is to do."""

    def __init__(self, asks: str) -> None:
        super().__init__()
        self.asks = asks


def hints(keys: Sequence[KeyHint], room: int) -> list[Span]:
    """The first ones of the keys, in so many cells."""
    spans: list[Span] = []
    for key in keys:
        more = cleaned([Span(f" {key.key}", _TONE), Span(f" {key.does} ", "muted")])
        room -= width_of(more)
        if room < 0:
            break
        spans += more
    return spans


def hints_and_last(keys: Sequence[KeyHint], room: int) -> list[Span]:
    """The same, but the last key is always among them."""
    last = hints(keys[-1:], room)
    return [*hints(keys[:-1], room - width_of(last)), *last]


def asked_at(line: Line, keys: Sequence[KeyHint], x: int) -> str:
    """What a click on a cell of a line with hints asks for, or ""."""
    start = 0
    for at, span in enumerate(line):
        key = next((key for key in keys if span == Span(f" {key.key}", _TONE)), None)
        size = width_of(line[at : at + 2]) if key is not None else width_of([span])
        if key is not None and start < x < start + size - 1:
            return key.asks
        start += width_of([span])
    return ""
