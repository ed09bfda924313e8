"""A unified diff, line by line: what each line is, told by its place in the diff and not by its looks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from recall_widgets.spans import Line, Span
from recall_widgets.visible import visible

_HUNK: Final = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_CHUNK: Final = 500


class DiffKind(StrEnum):
    """`note`: what git says around the hunks, such as a changed mode."""

    FILE = "file"
    NOTE = "note"
    HUNK = "hunk"
    ADDED = "added"
    REMOVED = "removed"
    SAME = "same"


_TONES: Final = {
    DiffKind.FILE: "file",
    DiffKind.NOTE: "muted",
    DiffKind.HUNK: "hunk",
    DiffKind.ADDED: "added",
    DiffKind.REMOVED: "removed",
    DiffKind.SAME: "",
}


@dataclass(frozen=True, slots=True)
class DiffLine:
    kind: DiffKind
    text: str


def read_diff(text: str) -> list[DiffLine]:
    """Take a diff apart. A removed line that looks like a header is a removed line still."""
    lines: list[DiffLine] = []
    old = new = 0
    for line in text.removesuffix("\n").split("\n"):
        if old > 0 or new > 0:
            kind = _inside(line)
            old -= kind in (DiffKind.REMOVED, DiffKind.SAME)
            new -= kind in (DiffKind.ADDED, DiffKind.SAME)
        elif (hunk := _HUNK.match(line)) is not None:
            kind = DiffKind.HUNK
            old, new = (int(count) if count is not None else 1 for count in hunk.groups())
        else:
            kind = DiffKind.FILE if line.startswith("diff --") else DiffKind.NOTE
        lines.append(DiffLine(kind, line))
    return lines if text else []


def _inside(line: str) -> DiffKind:
    if line.startswith("+"):
        return DiffKind.ADDED
    if line.startswith("-"):
        return DiffKind.REMOVED
    return DiffKind.NOTE if line.startswith("\\") else DiffKind.SAME


class DiffLines:
    """The drawn lines of a diff, for a `TextView`."""

    def __init__(self, lines: list[DiffLine]) -> None:
        self._lines = lines

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, number: int) -> Line:
        line = self._lines[number]
        text = line.text if line.kind in (DiffKind.ADDED, DiffKind.REMOVED) else line.text.removesuffix("\r")
        return [Span(visible(text), _TONES[line.kind])]

    def kind(self, number: int) -> DiffKind:
        return self._lines[number].kind

    def candidates(self, pattern: re.Pattern[str], start: int, stop: int) -> Iterator[range]:
        """Every line, some at a time."""
        for first in range(start, stop, _CHUNK):
            yield range(first, min(first + _CHUNK, stop))
