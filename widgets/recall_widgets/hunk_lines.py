"""One side of a conflict as lines with numbers, and marks for what it changed of the base."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from recall_widgets.spans import Line, Span
from recall_widgets.visible import visible

#: Longer hunks are shown without marks: comparing them takes longer than a key press may.
_LONGEST_COMPARED: Final = 1000


class HunkLines:
    """The drawn lines of a side, for a `TextView`."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, number: int) -> Line:
        return self._lines[number]

    def candidates(self, pattern: re.Pattern[str], start: int, stop: int) -> Iterator[range]:
        """Every line."""
        yield range(start, stop)


def side_lines(side: bytes, base: bytes | None = None, first: int | None = None) -> list[Line]:
    """Draw a side of a hunk. `first` is the number of its first line, None for a text without a place of its own.
    With a base, lines that it lacks are marked, and how many of its lines are gone is said where they were."""
    lines, before = _texts(side), _texts(base) if base is not None else None
    if not lines and not before:
        return [_note("nothing")]
    changed, gone = _compared(before, lines) if before is not None else (set[int](), dict[int, int]())
    width = len(str((first or 0) + len(lines)))
    drawn: list[Line] = []
    for index in range(len(lines) + 1):
        if index in gone:
            drawn.append(_note(f"- {gone[index]} {'line' if gone[index] == 1 else 'lines'} of the base gone"))
        if index < len(lines):
            number = f"{first + index:>{width}} " if first is not None else ""
            drawn.append(_numbered(number, index in changed, lines[index], marks=before is not None))
    return drawn


def _numbered(number: str, changed: bool, text: str, *, marks: bool) -> Line:
    tone = "added" if changed else ""
    mark = ("+ " if changed else "  ") if marks else ""
    return [Span(number, "muted"), Span(mark, tone), Span(visible(text), tone)]


def _note(text: str) -> Line:
    return [Span(text, "muted")]


def _texts(data: bytes) -> list[str]:
    return data.decode("utf-8", errors="replace").removesuffix("\n").split("\n") if data else []


def _compared(base: list[str], side: list[str]) -> tuple[set[int], dict[int, int]]:
    """The lines of a side that the base lacks, and how many of the base's are gone before which line."""
    changed: set[int] = set()
    gone: dict[int, int] = {}
    if max(len(base), len(side)) > _LONGEST_COMPARED:
        return changed, gone
    for tag, i, j, first, end in SequenceMatcher(None, base, side, autojunk=False).get_opcodes():
        if tag != "equal":
            changed.update(range(first, end))
        if tag == "delete":
            gone[first] = j - i
    return changed, gone
