"""Moments and columns the way every command prints them."""

from __future__ import annotations

import time

from recall.domain.words import moment


def clock_time(wall: float) -> str:
    """Write a moment as people here read it: the time, with the date when it is not today's."""
    return moment(wall, time.time())


def columns(rows: list[tuple[str, ...]], indent: str = "  ") -> list[str]:
    """Lay rows out in aligned columns; the last one is left as long as it is."""
    from recall.domain.text import cells

    if not rows:
        return []
    widths = [max(cells(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    lines: list[str] = []
    for row in rows:
        padded = [text + " " * (width - cells(text)) for text, width in zip(row, widths, strict=False)]
        lines.append((indent + "  ".join([*padded, row[-1]])).rstrip())
    return lines
