"""Reading what a run put out, by offset, while it is written or afterwards.

The shim keeps the head and the tail of an output that grows too long. Offsets count every byte that was
kept or dropped, so a reader that asks for dropped bytes is given the next ones that are there.
"""

from __future__ import annotations

from pathlib import Path

from recall.domain.frozen import frozen
from recall.domain.usage import TAIL_BYTES


@frozen
class Chunk:
    """Raw bytes from `start` to `end`. `start` is later than asked for when bytes between were dropped."""

    start: int
    data: bytes

    @property
    def end(self) -> int:
        return self.start + len(self.data)


@frozen
class _Segment:
    start: int
    path: Path
    size: int

    @property
    def end(self) -> int:
        return self.start + self.size


class Transcript:
    """The transcript in a run folder. A folder without one reads as empty.

    The folder is listed when what is known of it does not answer: while the last file grows, it is the last one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: list[_Segment] = []

    def size(self) -> int:
        """The offset behind the last byte written."""
        if not self._last_grew():
            self._known = self._segments()
        return self._known[-1].end if self._known else 0

    def dropped(self) -> int:
        """How many bytes in the middle are not there any more."""
        segments = self._segments()
        return (segments[-1].end - sum(segment.size for segment in segments)) if segments else 0

    def read(self, offset: int, limit: int = 64 * 1024) -> Chunk:
        """At most `limit` bytes from `offset` on. No data: nothing there yet."""
        known = next((segment for segment in self._known if segment.start <= offset < segment.end), None)
        data = _read(known.path, offset - known.start, limit) if known is not None else None
        return Chunk(offset, data) if data is not None else self._read_afresh(offset, limit)

    def _read_afresh(self, offset: int, limit: int) -> Chunk:
        self._known = self._segments()
        for segment in self._known:
            if segment.end > offset:
                start = max(offset, segment.start)
                data = _read(segment.path, start - segment.start, limit)
                if data is not None:
                    return Chunk(start, data)
        return Chunk(offset, b"")

    def tail(self, lines: int, limit: int = TAIL_BYTES) -> bytes:
        """The last lines, from at most the last `limit` bytes."""
        data = b""
        for segment in reversed(self._segments()):
            part = _read(segment.path, max(0, segment.size - (limit - len(data))), limit - len(data)) or b""
            data = part + data
            whole = len(part) == segment.size
            if not whole or len(data) >= limit or data.count(b"\n") > lines or not self._follows(segment):
                break
        return b"".join(data.splitlines(keepends=True)[-lines:]) if lines > 0 else b""

    def _last_grew(self) -> bool:
        """Bring the known size of the last file up to date; tell whether it grew."""
        if not self._known:
            return False
        last = self._known[-1]
        try:
            size = last.path.stat().st_size
        except OSError:
            return False
        self._known[-1] = _Segment(last.start, last.path, size)
        return size > last.size

    def _follows(self, segment: _Segment) -> bool:
        """Tell whether nothing was dropped right before this segment."""
        return segment.start == 0 or any(other.end == segment.start for other in self._segments())

    def _segments(self) -> list[_Segment]:
        found: list[_Segment] = []
        try:
            paths = list(self._folder.iterdir())
        except OSError:
            return []
        for path in paths:
            stem, _, digits = path.name.partition(".")
            if stem == "transcript" and (not digits or digits.isdigit()):
                try:
                    found.append(_Segment(int(digits or 0), path, path.stat().st_size))
                except OSError:
                    continue  # rotated away since the listing
        return sorted(found, key=lambda segment: segment.start)


def _read(path: Path, offset: int, limit: int) -> bytes | None:
    try:
        with path.open("rb") as file:
            file.seek(offset)
            return file.read(limit)
    except FileNotFoundError:
        return None
