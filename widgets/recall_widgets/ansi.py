"""A line of terminal output as spans: its colours are kept, everything else that a terminal would obey is dropped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Final

from rich.cells import cell_len
from rich.color import Color
from rich.style import Style

from recall.domain.frozen import frozen
from recall.domain.text import clean
from recall_widgets.spans import Span

_SGR: Final = re.compile(r"(?:\x1b\[|\x9b)([0-9;:]*)m")
_TAB: Final = 8
_REWRITE: Final = "\r"

#: Attributes by code: what they set. Blinking and hidden text are not among them.
_SWITCHES: Final[dict[int, dict[str, bool]]] = {
    1: {"bold": True},
    2: {"dim": True},
    3: {"italic": True},
    4: {"underline": True},
    7: {"reverse": True},
    9: {"strike": True},
    21: {"underline": True},
    22: {"bold": False, "dim": False},
    23: {"italic": False},
    24: {"underline": False},
    27: {"reverse": False},
    29: {"strike": False},
}


@frozen
class _Pen:
    color: Color | None = None
    background: Color | None = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    reverse: bool = False
    strike: bool = False


_PLAIN: Final = _Pen()


def styled_line(text: str) -> list[Span]:
    """Read one line without its end. If carriage returns rewrote it, its last state is what counts."""
    if text.isprintable():
        return [Span(text)] if text else []
    return list(_tabs_expanded(_last_state(_inked(text))))


def _inked(text: str) -> Iterator[tuple[str, _Pen]]:
    """Pieces of safe text, and `_REWRITE` where the line begins anew."""
    pen = _PLAIN
    end = 0
    for match in _SGR.finditer(text):
        yield from _pieces(text[end : match.start()], pen)
        pen = _apply(pen, _codes(match[1]))
        end = match.end()
    yield from _pieces(text[end:], pen)


def _pieces(text: str, pen: _Pen) -> Iterator[tuple[str, _Pen]]:
    for number, part in enumerate(text.split(_REWRITE)):
        if number:
            yield _REWRITE, pen
        safe = clean(part).replace("\n", " ")
        if safe:
            yield safe, pen


def _last_state(pieces: Iterator[tuple[str, _Pen]]) -> list[tuple[str, _Pen]]:
    kept: list[tuple[str, _Pen]] = []
    rewritten = False
    for text, pen in pieces:
        if text == _REWRITE:
            rewritten = True
            continue
        if rewritten:
            kept.clear()
            rewritten = False
        kept.append((text, pen))
    return kept


def _tabs_expanded(pieces: list[tuple[str, _Pen]]) -> Iterator[Span]:
    column = 0
    for text, pen in pieces:
        words = text.split("\t")
        for number, word in enumerate(words):
            last = number == len(words) - 1
            column += cell_len(word)
            gap = 0 if last else _TAB - column % _TAB
            column += gap
            if word or gap:
                yield Span(word + " " * gap, _style(pen))


@lru_cache(256)
def _style(pen: _Pen) -> Style | str:
    if pen == _PLAIN:
        return ""
    return Style(
        color=pen.color,
        bgcolor=pen.background,
        bold=pen.bold or None,
        dim=pen.dim or None,
        italic=pen.italic or None,
        underline=pen.underline or None,
        reverse=pen.reverse or None,
        strike=pen.strike or None,
    )


def _codes(parameters: str) -> list[int]:
    """`1;38:2::9:9:9` as numbers; colons mean what semicolons mean, without the colour space that may be left out."""
    flat = re.sub(r"([34]8):2:\d*:(\d+:\d+:\d+)", r"\1:2:\2", parameters).replace(":", ";")
    return [int(code) if code and len(code) < 4 else 0 for code in flat.split(";")]


def _apply(pen: _Pen, codes: list[int]) -> _Pen:
    rest = iter(codes)
    for code in rest:
        if code == 0:
            pen = _PLAIN
        elif code in _SWITCHES:
            pen = replace(pen, **_SWITCHES[code])
        elif code in (38, 48):
            pen = _coloured(pen, code - 8, _extended(rest))
        elif code in (39, 49):
            pen = _coloured(pen, code - 9, None)
        elif 30 <= code <= 37 or 40 <= code <= 47:
            pen = _coloured(pen, code - code % 10, Color.from_ansi(code % 10))
        elif 90 <= code <= 97 or 100 <= code <= 107:
            pen = _coloured(pen, code - code % 10 - 60, Color.from_ansi(code % 10 + 8))
    return pen


def _coloured(pen: _Pen, plane: int, color: Color | None) -> _Pen:
    return replace(pen, color=color) if plane == 30 else replace(pen, background=color)


def _extended(rest: Iterator[int]) -> Color | None:
    """`5;N` or `2;R;G;B`; None for what is cut short or out of range."""
    kind = next(rest, 0)
    values = [next(rest, -1) for _ in range({5: 1, 2: 3}.get(kind, 0))]
    if not values or not all(0 <= value <= 255 for value in values):
        return None
    return Color.from_ansi(values[0]) if kind == 5 else Color.from_rgb(*values)
