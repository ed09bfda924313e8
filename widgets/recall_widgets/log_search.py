"""Finding text in a log in small steps, so that a long one never holds up the screen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from recall_widgets.log_lines import LogLines

_LINES_A_STEP: Final = 500

#: Bytes that make what is shown differ from what is stored.
_REWRITING: Final = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f-\xff]")


class LogSearch:
    """Upper case in the needle makes it exact, as in less and vim."""

    def __init__(self, needle: str) -> None:
        self.needle = needle
        self.pattern = re.compile(re.escape(needle), 0 if needle != needle.lower() else re.IGNORECASE)
        self._bytes = re.compile(re.escape(needle.encode()), self.pattern.flags & re.IGNORECASE)

    def forwards(self, lines: LogLines, start: int) -> Iterator[int | None]:
        """Look from a line on, round the end, back to it. Yields None after every step, then the line found."""
        yield from self._span(lines, start, len(lines))
        yield from self._span(lines, 0, start)

    def backwards(self, lines: LogLines, start: int) -> Iterator[int | None]:
        """The same towards the beginning."""
        yield from self._down(lines, start, -1)
        yield from self._down(lines, len(lines) - 1, start)

    def _span(self, lines: LogLines, start: int, stop: int) -> Iterator[int | None]:
        for first, end, begin_byte, end_byte in lines.index.blocks_from(start):
            if first >= stop:
                return
            if self._may_hold(lines, begin_byte, end_byte):
                yield from self._each(lines, range(max(first, start), min(end, stop)))
            yield None
        yield from self._each(lines, range(max(start, lines.index.count), stop))

    def _each(self, lines: LogLines, numbers: range) -> Iterator[int | None]:
        for step, number in enumerate(numbers):
            if self.pattern.search(lines.text(number)):
                yield number
            if step % _LINES_A_STEP == _LINES_A_STEP - 1:
                yield None

    def _down(self, lines: LogLines, start: int, stop: int) -> Iterator[int | None]:
        yield from self._each(lines, range(start, stop, -1))

    def _may_hold(self, lines: LogLines, start: int, end: int) -> bool:
        """Pass over whole blocks of plain text by their bytes; only what is left is drawn and looked at."""
        if not lines.raw or not self.needle.isascii() or end - start > (1 << 20):
            return True
        data = lines.index.bytes_of(start, end)
        return data is None or bool(self._bytes.search(data) or _REWRITING.search(data))
