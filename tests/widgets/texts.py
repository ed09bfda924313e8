"""A text in memory that is read like a transcript: by offset, with a hole where bytes were dropped."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    start: int
    data: bytes


@dataclass
class Text:
    """`dropped` is the range of offsets that is not kept. `given` counts the bytes handed out."""

    data: bytes = b""
    dropped: tuple[int, int] = (0, 0)
    given: int = 0

    def read(self, offset: int, limit: int) -> Part:
        first, end = self.dropped
        start = end if first <= offset < end else offset
        stop = min(start + limit, first) if start < first < end else start + limit
        data = self.data[start:stop]
        self.given += len(data)
        return Part(start, data)
