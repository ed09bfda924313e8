"""A run's raw output to the text that people read, piece by piece as it grows.

Lines that are no known events stay as they are. The text does not depend on how the output is cut into pieces, so
a part of it can be made again from a copy of the press that made it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from recall.domain.stream.dialect import Dialect
from recall.domain.stream.reading import LONGEST_EVENT, facts_of
from recall.domain.stream.rendering import Page, not_kept, too_long

#: As much as this many other lines.
_EVENT_COSTS: Final = 10
_BRACE: Final = ord("{")


@dataclass(slots=True)
class Press:
    """Remembers what it is in the middle of: `_swallowed` bytes of an event too long to be taken apart, a line that
    stays as it is, or the rest of a line whose beginning was not kept."""

    dialect: Dialect
    page: Page
    _swallowed: int = 0
    _in_plain: bool = False
    _in_rest: bool = False

    def copy(self) -> Press:
        return replace(self, page=self.page.copy())

    def take(self, data: bytes, most_events: int = 1 << 30) -> tuple[bytes, int]:
        """Give the text, and how many bytes it was made of. The others are half an event, or there were too many:
        give them again with what follows them. A line that is no event counts as a tenth of one."""
        made: list[bytes] = []
        at, patience = 0, most_events * _EVENT_COSTS
        while at < len(data) and patience > 0:
            patience -= _EVENT_COSTS if data[at] == _BRACE else 1
            end = data.find(b"\n", at) + 1
            if not end and not self._is_inside:
                if not self._begin(data[at:], made):
                    break
                at = len(data)
            else:
                stop = end or len(data)
                made.append(self._go_on(data[at:stop]) if self._is_inside else self._line(data[at:stop]))
                at = stop
        return b"".join(made), at

    def skip(self, size: int) -> bytes:
        """So many bytes were not kept; what follows may begin in the middle of a line."""
        words = self.page.end_line() + ("\n" if self._in_plain else "") + not_kept(size)
        self._swallowed, self._in_plain, self._in_rest = 0, False, True
        return _encoded(words)

    @property
    def _is_inside(self) -> bool:
        return self._swallowed > 0 or self._in_plain or self._in_rest

    def _begin(self, half: bytes, made: list[bytes]) -> bool:
        """Take the beginning of a line whose end has not come yet; False: it has to be waited for."""
        if half.lstrip()[:1] in (b"{", b""):
            if len(half) <= LONGEST_EVENT:
                return False
            self._swallowed = len(half)
            return True
        made.append(_encoded(self.page.end_line()) + half)
        self._in_plain = True
        return True

    def _go_on(self, part: bytes) -> bytes:
        """Take more of the line that it is in the middle of, or its end."""
        over = part.endswith(b"\n")
        if self._swallowed:
            size = self._swallowed + len(part)
            self._swallowed = 0 if over else size
            return self._too_long(size) if over else b""
        if self._in_plain:
            self._in_plain = not over
            return part
        self._in_rest = not over
        return b""

    def _line(self, line: bytes) -> bytes:
        if len(line) > LONGEST_EVENT and line.lstrip()[:1] == b"{":
            return self._too_long(len(line))
        facts = facts_of(line, self.dialect)
        if facts is None:
            return _encoded(self.page.end_line()) + line
        return _encoded(self.page.write(facts))

    def _too_long(self, size: int) -> bytes:
        return _encoded(self.page.end_line() + too_long(size))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", errors="replace")
