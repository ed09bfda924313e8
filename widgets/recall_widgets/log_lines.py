"""The lines of a log as they are drawn: read by their place, cut to a bearable length, a few of them remembered."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from textual.cache import LRUCache

from recall_widgets.ansi import styled_line
from recall_widgets.line_index import LONGEST_PRESENTED, LineIndex, Place, Read
from recall_widgets.spans import Line, Span, cleaned

#: How much of one raw line is shown.
LINE_CAP: Final = 8 * 1024
_REMEMBERED: Final = 2048
_LONGEST_SKIPPED: Final = 1 << 20

#: Bytes that make what is shown differ from what is stored.
_REWRITING: Final = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f-\xff]")

#: Turns a raw line without its end into what is shown of it: several lines, or none to hide it.
Present: TypeAlias = Callable[[str], Sequence[Line]]


class LogLines:
    """An endless list of drawn lines over a text that is read piece by piece."""

    def __init__(self, read: Read, present: Present | None = None) -> None:
        self._present = present
        self.index = LineIndex(read, self._measure if present else None)
        self._drawn: LRUCache[tuple[int, int], Sequence[Line]] = LRUCache(_REMEMBERED)

    def __len__(self) -> int:
        return self.index.count + (self._unfinished is not None)

    def __getitem__(self, number: int) -> Line:
        if number < self.index.count:
            return self._line_at(self.index.place(number))
        unfinished = self._unfinished
        return self._line_at(unfinished) if unfinished is not None and number == self.index.count else ()

    def candidates(self, pattern: re.Pattern[str], start: int, stop: int) -> Iterator[range]:
        """Pass over whole blocks of plain text by their bytes."""
        in_bytes = re.compile(pattern.pattern.encode(), pattern.flags & re.IGNORECASE)
        skips = self._present is None and pattern.pattern.isascii()
        for first, end, begin_byte, end_byte in self.index.blocks_from(start):
            if first >= stop:
                return
            if skips and end_byte - begin_byte < _LONGEST_SKIPPED:
                data = self.index.bytes_of(begin_byte, end_byte)
                if data is not None and not in_bytes.search(data) and not _REWRITING.search(data):
                    yield range(0)
                    continue
            yield range(max(first, start), min(end, stop))
        yield range(max(start, self.index.count), stop)

    @property
    def _unfinished(self) -> Place | None:
        """Half an event cannot be presented; half a line of plain output can."""
        return self.index.unfinished if self._present is None else None

    def _line_at(self, place: Place) -> Line:
        if place.lost:
            return [Span(f"… {size_words(place.end - place.start)} not kept", "muted")]
        drawn = self._drawn.get((place.start, place.end))
        if drawn is None:
            drawn = self._read(place)
            self._drawn[place.start, place.end] = drawn
        return drawn[place.part] if place.part < len(drawn) else ()

    def _read(self, place: Place) -> Sequence[Line]:
        size = place.end - place.start
        limit = LINE_CAP if self._present is None or size > LONGEST_PRESENTED else size
        data = self.index.bytes_of(place.start, min(place.end, place.start + limit))
        if data is None:
            return [self._line_at(place._replace(lost=True))]
        if size <= limit:
            return self._shown(data)
        end = (self.index.bytes_of(place.end - limit, place.end) or b"").rstrip(b"\r\n")
        if b"\r" in end:
            return [styled_line(_decoded(end.rpartition(b"\r")[2]))]
        more = Span(f"… {size_words(size - limit)} more", "muted")
        return [[*styled_line(_decoded(data).rstrip("\ufffd")), more]]

    def _shown(self, data: bytes) -> Sequence[Line]:
        if self._present is None:
            return [styled_line(_decoded(data))]
        return [cleaned(line) for line in self._present(_decoded(data))]

    def _measure(self, data: bytes) -> int:
        return len(self._shown(data))


def size_words(count: int) -> str:
    """A number of bytes for people: `812 bytes`, `1.5 MiB`."""
    if count < 1024:
        return f"{count} bytes"
    size = count / 1024
    for unit in ("KiB", "MiB"):
        if size < 1024:
            return f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"


def _decoded(data: bytes) -> str:
    return data.removesuffix(b"\n").decode("utf-8", errors="replace")
