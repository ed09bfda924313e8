"""Finding text in many lines in small steps, so that a long search never holds up the screen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, Protocol

from recall_widgets.spans import Line

_LINES_A_STEP: Final = 500


class Lines(Protocol):
    """Drawn lines by number."""

    def __len__(self) -> int: ...

    def __getitem__(self, number: int, /) -> Line: ...

    def candidates(self, pattern: re.Pattern[str], start: int, stop: int) -> Iterator[range]:
        """The lines between two that may hold the pattern, in pieces; an empty piece is a step of work, too."""
        ...


class TextSearch:
    """Upper case in the needle makes it exact, as in less and vim."""

    def __init__(self, needle: str) -> None:
        self.needle = needle
        self.pattern = re.compile(re.escape(needle), 0 if needle != needle.lower() else re.IGNORECASE)

    def forwards(self, lines: Lines, start: int) -> Iterator[int | None]:
        """Look from a line on, round the end, back to it. Yields None after every step, then the line found."""
        for first, stop in ((start, len(lines)), (0, min(start, len(lines)))):
            for candidates in lines.candidates(self.pattern, first, stop):
                yield from self._each(lines, candidates)
                yield None

    def backwards(self, lines: Lines, start: int) -> Iterator[int | None]:
        """The same towards the beginning."""
        yield from self._each(lines, range(start, -1, -1))
        yield from self._each(lines, range(len(lines) - 1, start, -1))

    def _each(self, lines: Lines, numbers: Iterable[int]) -> Iterator[int | None]:
        for step, number in enumerate(numbers, 1):
            if self.pattern.search("".join(span.text for span in lines[number])):
                yield number
            if step % _LINES_A_STEP == 0:
                yield None
