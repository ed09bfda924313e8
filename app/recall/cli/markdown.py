"""Markdown of text that may hold anything: nothing in it becomes markup, HTML, a link or a mention."""

from __future__ import annotations

import re
from collections.abc import Sequence

from recall.domain.text import cells, clean_line, clip

#: What is markup inside a line: an underscore only where a word begins or ends, so that names stay readable.
_MARKUP = re.compile(r"[\\`*\[\]<>~&]|(?<!\w)_|_(?!\w)")
#: What begins a list, a quote, a rule, a heading or a table at the beginning of a line.
_OPENING = re.compile(r"(\d+)([.)])|[-+=#|:]")
#: What GitHub makes links, mentions, pictures or formulas of, escaped or not: only code is safe from that.
_ACTIVE = re.compile(r"@\w|#\d|://|www\.|:\w+:|\$.*\$|\b[0-9a-f]{7,40}\b", re.IGNORECASE)
_LONGEST = 300


def escaped(text: str, width: int = _LONGEST) -> str:
    """Give outside text as one line of Markdown that reads as the text does, cut to `width` cells."""
    line = clip(clean_line(text), width)
    if _ACTIVE.search(line):
        return code(line)
    opening = _OPENING.match(line)
    safe = _MARKUP.sub(r"\\\g<0>", line)
    return f"{opening[1] or ''}\\{safe[len(opening[1] or '') :]}" if opening else safe


def code(text: str) -> str:
    """Give text as code, between fences longer than any in it."""
    line = clean_line(text)
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{space}{line}{space}{fence}" if line else ""


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lay cells, which are Markdown already, out in columns that line up in a terminal too."""
    whole = [[_PIPE.sub(_kept, cell) for cell in row] for row in (head, *rows)]
    widths = [max(3, *(cells(row[column]) for row in whole)) for column in range(len(head))]
    rule = ["-" * width for width in widths]
    return [_row(row, widths) for row in (whole[0], rule, *whole[1:])]


_PIPE = re.compile(r"(\\*)\|")


def _kept(found: re.Match[str]) -> str:
    """A pipe ends a cell unless an odd number of backslashes stands before it, in code too."""
    return found[1] + ("\\|" if len(found[1]) % 2 == 0 else "\\\\|")


def _row(row: Sequence[str], widths: Sequence[int]) -> str:
    return (
        "| " + " | ".join(text + " " * (width - cells(text)) for text, width in zip(row, widths, strict=True)) + " |"
    )
