"""Markdown pieces that generated documents are put together from."""

from __future__ import annotations

import re
from collections.abc import Sequence

_TICKS = re.compile(r"`+")


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lay out a table; bars and line ends in cells are made harmless."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def code(text: str) -> str:
    """Mark text as code, whatever ticks it holds."""
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
    fence = "`" * (longest + 1)
    gap = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{gap}{text}{gap}{fence}"


def page(*parts: str) -> str:
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def prose(docstring: str | None) -> str:
    """A docstring as one paragraph."""
    return " ".join((docstring or "").split())


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
