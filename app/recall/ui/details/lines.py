"""The kinds of line that every screen about one thing is made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rich.cells import cell_len, chop_cells
from rich.style import Style

from recall_widgets.listing import ListRow
from recall_widgets.spans import Span

_LABEL = 14
_BULLET = re.compile(r"([-*+]|\d{1,3}[.)]) ")


def title_row(key: str, text: str, right: str = "") -> ListRow:
    """A heading inside a list."""
    return ListRow(f"title:{key}", (Span(text, "strong"),), (Span(right, "muted"),) if right else (), is_heading=True)


def blank_row(key: str) -> ListRow:
    return ListRow(f"blank:{key}", ())


def fact_rows(key: str, label: str, value: str, width: int, tone: str | Style = "") -> list[ListRow]:
    """A label and its value, which goes on below itself where it is long. Nothing for an empty value."""
    lines = wrapped(value, max(width - _LABEL - 2, 16)) if value else []
    return [
        ListRow(f"fact:{key}:{number}", (Span(f"{'' if number else label:<{_LABEL}}", "muted"), Span(line, tone)))
        for number, line in enumerate(lines)
    ]


def text_rows(key: str, text: str, width: int, tone: str = "") -> list[ListRow]:
    """A text of any length, wrapped."""
    return [ListRow(f"text:{key}:{number}", (Span(line, tone),)) for number, line in enumerate(wrapped(text, width))]


def wrapped(text: str, width: int) -> list[str]:
    """Break lines at spaces into at most so many cells; what is indented stays so, a longer word is cut."""
    return [piece for line in text.expandtabs(4).splitlines() for piece in _pieces(line, max(width, 8))]


def joined(parts: Iterable[str], dot: str = "·") -> str:
    """Put what is not empty side by side."""
    return f" {dot} ".join(part for part in parts if part)


def counted(number: int, one: str) -> str:
    """`1 run`, `2 runs`."""
    return f"{number} {one}" if number == 1 else f"{number} {one}s"


def _pieces(line: str, width: int) -> Iterator[str]:
    indent = line[: min(len(line) - len(line.lstrip()), width // 2)]
    hanging = indent + " " * len(match[0]) if (match := _BULLET.match(line.lstrip())) is not None else indent
    piece = indent
    for word in line.split():
        for part in [word] if cell_len(word) <= width - len(hanging) else chop_cells(word, width - len(hanging)):
            if piece.strip() and cell_len(piece) + 1 + cell_len(part) > width:
                yield piece
                indent = piece = hanging
            piece = f"{piece} {part}" if piece.strip() else indent + part
    yield piece
