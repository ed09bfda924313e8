"""Where the lines of a growing text begin, without keeping the text or every line's place in memory."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, Protocol, TypeAlias

_BLOCK: Final = 16 * 1024
_READ: Final = 256 * 1024
_BLOCKS_REMEMBERED: Final = 16

#: A raw line longer than this is shown as one line, whatever it could be taken apart into.
LONGEST_PRESENTED: Final = 256 * 1024


class Piece(Protocol):
    """Bytes from `start` on. A `start` later than asked for: what lies between was dropped. No bytes: the end."""

    @property
    def start(self) -> int: ...

    @property
    def data(self) -> bytes: ...


#: Give at most so many bytes (second argument) from an offset (first) on.
Read: TypeAlias = Callable[[int, int], Piece]

#: Into how many lines a raw line, without its end, is taken apart; 0 hides it.
Measure: TypeAlias = Callable[[bytes], int]


class Place(NamedTuple):
    """The bytes of a raw line, and which of its parts. A very long line may come with its line end. `lost`: the
    bytes are not there any more."""

    start: int
    end: int
    part: int = 0
    lost: bool = False


class LineIndex:
    """Knows the first line of every block of about 16 KiB; what is inside a block is read again when asked for.

    A block is either at most two `_BLOCK`s long or exactly one raw line, however long that is.
    """

    def __init__(self, read: Read, measure: Measure | None = None) -> None:
        self._read = read
        self._measure = measure
        self._numbers = array("Q", [0])
        self._offsets = array("Q", [0])
        self._scanned = 0
        self._gaps: set[int] = set()
        self._blocks: OrderedDict[int, list[Place]] = OrderedDict()
        self._recent: deque[tuple[int, bytes]] = deque(maxlen=_BLOCKS_REMEMBERED)

    @property
    def count(self) -> int:
        """How many lines are complete."""
        return self._numbers[-1]

    @property
    def scanned(self) -> int:
        """The offset behind the last byte that was looked at."""
        return self._scanned

    @property
    def unfinished(self) -> Place | None:
        """The bytes behind the last line end."""
        start = self._offsets[-1]
        return Place(start, self._scanned) if self._scanned > start else None

    def extend(self, size: int, budget: int = 1 << 20) -> bool:
        """Look at the bytes up to `size`, at most about `budget` of them; True: nothing is left to look at."""
        goal = min(size, self._scanned + budget)
        while self._scanned < goal:
            piece = self._read(self._scanned, min(_READ, size - self._scanned))
            if piece.start > self._scanned:
                self._skip(piece.start)
            if not piece.data:
                return True
            for at in range(0, len(piece.data), _BLOCK):
                self._scan(piece.data[at : at + _BLOCK])
        return self._scanned >= size

    def place(self, number: int) -> Place:
        """Where a complete line is."""
        block = bisect_right(self._numbers, number) - 1
        return self._places(block)[number - self._numbers[block]]

    def number_at(self, offset: int) -> int:
        """The line that holds the byte, or the last one before it."""
        block = min(bisect_right(self._offsets, offset), len(self._offsets) - 1) - 1
        if block < 0:
            return 0
        places = self._places(block)
        at = bisect_right(places, offset, key=lambda place: place.start) - 1
        return self._numbers[block] + max(at, 0)

    def blocks_from(self, number: int) -> Iterator[tuple[int, int, int, int]]:
        """Number of the first line and of the line behind the last, start and end, of each block from the one on
        that holds the line."""
        for block in range(bisect_right(self._numbers, number) - 1, len(self._numbers) - 1):
            yield self._numbers[block], self._numbers[block + 1], self._offsets[block], self._offsets[block + 1]

    def bytes_of(self, start: int, end: int) -> bytes | None:
        """The bytes between two offsets; None: they were dropped. What was looked at lately is not read again: a
        visible line is part of a block whose lines were just counted."""
        for begin, data in self._recent:
            if begin <= start and end <= begin + len(data):
                return data[start - begin : end - begin]
        parts: list[bytes] = []
        while start < end:
            piece = self._read(start, min(_READ, end - start))
            if piece.start > start:
                return None
            if not piece.data:
                break
            parts.append(piece.data)
            start += len(piece.data)
        return b"".join(parts)

    def _scan(self, data: bytes) -> None:
        begin, base = self._offsets[-1], self._scanned
        self._scanned += len(data)
        first, last = data.find(b"\n"), data.rfind(b"\n")
        if last < 0:
            return
        if base + first - begin >= _BLOCK:
            self._close(base + first + 1, 1)
            self._close(base + last + 1, data.count(b"\n") - 1)
        else:
            self._close(base + last + 1, data.count(b"\n"))

    def _skip(self, start: int) -> None:
        """Bytes were dropped: what was begun before them ends there, and they are one line themselves."""
        if self._scanned > self._offsets[-1]:
            self._close(self._scanned, 1)
        self._scanned = start
        self._gaps.add(len(self._offsets) - 1)
        self._append(self.count + 1, start)

    def _close(self, end: int, raw_lines: int) -> None:
        if not raw_lines:
            return
        last = len(self._offsets) - 2
        lines = raw_lines if self._measure is None else len(self._taken_apart(self._offsets[-1], end))
        if last >= 0 and last not in self._gaps and end - self._offsets[last] <= _BLOCK:
            self._blocks.pop(last, None)
            self._numbers[-1] += lines
            self._offsets[-1] = end
        else:
            self._append(self.count + lines, end)

    def _append(self, count: int, end: int) -> None:
        self._numbers.append(count)
        self._offsets.append(end)

    def _places(self, block: int) -> list[Place]:
        """Every line of a block, as many as were counted, whatever was dropped since."""
        if block in self._blocks:
            self._blocks.move_to_end(block)
            return self._blocks[block]
        start, end = self._offsets[block], self._offsets[block + 1]
        count = self._numbers[block + 1] - self._numbers[block]
        places = [] if block in self._gaps else self._taken_apart(start, end)
        places = (places + [Place(start, end, lost=True)] * (count - len(places)))[:count]
        self._blocks[block] = places
        if len(self._blocks) > _BLOCKS_REMEMBERED:
            self._blocks.popitem(last=False)
        return places

    def _taken_apart(self, start: int, end: int) -> list[Place]:
        if end - start > (2 * _BLOCK if self._measure is None else LONGEST_PRESENTED):
            return [Place(start, end)]
        data = self.bytes_of(start, end)
        if data is None:
            return [Place(start, end, lost=True)]
        if len(data) <= 2 * _BLOCK:
            self._recent.appendleft((start, data))
        places: list[Place] = []
        at = start
        for line in data.removesuffix(b"\n").split(b"\n"):
            parts = 1 if self._measure is None else self._measure(line)
            places += [Place(at, at + len(line), part) for part in range(parts)]
            at += len(line) + 1
        return places
