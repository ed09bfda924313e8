"""A run's transcript as people read it, by offset, while it is written or afterwards.

The text is not kept: of every block it is remembered where in the output it began and what was known there, and a
block that is asked for again is made again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from pathlib import Path
from typing import Final

from recall.agents.presets import load_preset, preset_names
from recall.agents.transcript import Chunk, Transcript
from recall.config.settings import Settings
from recall.domain.frozen import frozen
from recall.domain.run import Run
from recall.domain.stream.dialect import Dialect, dialect_of
from recall.domain.stream.press import Press
from recall.domain.stream.reading import LONGEST_EVENT
from recall.domain.stream.rendering import Page
from recall.domain.stream.spending import Spending

#: So much output is taken at a time; more only for an event that is longer.
_STEP: Final = 64 * 1024
_MOST_EVENTS: Final = 250
_BLOCK: Final = 48 * 1024
#: A block that takes more than one step ends here, so that it is made again in little time too.
_DENSE_BLOCK: Final = 8 * 1024
_BLOCKS_KEPT: Final = 6


def dialect_for(settings: Settings, agent: str) -> Dialect | None:
    """How an agent's events are read; None for one that prints none, or none that are known."""
    known = settings.agent(agent)
    if known is None:
        return None
    if isinstance(known.stream, str):
        return _of_preset(known.stream or known.preset)
    return dialect_of(known.stream, _of_preset(str(known.stream.get("like", ""))))


def _of_preset(name: str) -> Dialect | None:
    return load_preset(name).stream if name in preset_names() else None


def output_of(
    folder: Path, settings: Settings, run: Run, workspaces: Path | None = None
) -> Transcript | RenderedTranscript:
    """The transcript in a run folder as people read it: rendered, if the run's agent prints events. `workspaces` is
    the folder that holds the workspaces; paths below the run's own are shown without it."""
    dialect = dialect_for(settings, run.agent)
    if dialect is None:
        return Transcript(folder)
    tree = str(workspaces / run.slot / "tree") if workspaces is not None and run.slot else ""
    return RenderedTranscript(Transcript(folder), dialect, tree)


def read_spending(folder: Path, dialect: Dialect) -> Spending:
    """Go through a whole transcript for what the run used up."""
    text = RenderedTranscript(Transcript(folder), dialect)
    while not text.is_complete:
        text.size()
    return text.spending


@frozen
class _Block:
    """Where a block begins in the output and in the text, and the press as it was there."""

    raw: int
    text: int
    press: Press


class RenderedTranscript:
    """Offsets count bytes of the text. Each call takes a step's time at most, however much there is to read."""

    def __init__(self, transcript: Transcript, dialect: Dialect, folder: str = "") -> None:
        self._transcript = transcript
        self._press = Press(dialect, Page(folder))
        self._raw = 0
        self._complete = False
        self._blocks = [_Block(0, 0, self._press.copy())]
        self._last = bytearray()
        self._made: OrderedDict[int, bytes] = OrderedDict()

    @property
    def is_complete(self) -> bool:
        """Whether everything was taken that was there at the last look."""
        return self._complete

    @property
    def spending(self) -> Spending:
        """What the run used up, as far as was read."""
        return self._press.page.tally.spending

    def size(self) -> int:
        """Take a step's worth of what is new, and give the offset behind the last byte of the text."""
        made, raw = self._converted(self._press, self._raw)
        taken, self._raw = raw - self._raw, raw
        self._complete = not taken
        self._last += made
        if self._raw - self._blocks[-1].raw >= (_DENSE_BLOCK if 0 < taken < _DENSE_BLOCK else _BLOCK):
            self._close_block()
        return self._blocks[-1].text + len(self._last)

    def read(self, offset: int, limit: int = 64 * 1024) -> Chunk:
        """At most `limit` bytes from `offset` on. No data: nothing there yet. What can't be made again, since its
        output was dropped meanwhile, is left out: the chunk then starts later."""
        number = bisect_right(self._blocks, offset, key=lambda block: block.text) - 1
        while number < len(self._blocks) - 1:
            block, end = self._blocks[number], self._blocks[number + 1].text
            text = self._made_again(number)
            if len(text) == end - block.text:
                begin = max(offset, block.text)
                return Chunk(begin, text[begin - block.text : begin - block.text + limit])
            number += 1
            offset = end
        begin = offset - self._blocks[-1].text
        return Chunk(offset, bytes(self._last[begin : begin + limit]))

    def _close_block(self) -> None:
        self._remember(len(self._blocks) - 1, bytes(self._last))
        self._blocks.append(_Block(self._raw, self._blocks[-1].text + len(self._last), self._press.copy()))
        self._last.clear()

    def _made_again(self, number: int) -> bytes:
        if number in self._made:
            self._made.move_to_end(number)
            return self._made[number]
        block, end = self._blocks[number], self._blocks[number + 1].raw
        press, raw, parts = block.press.copy(), block.raw, list[bytes]()
        while raw < end:
            made, at = self._converted(press, raw, end)
            if at == raw:
                break
            parts.append(made)
            raw = at
        self._remember(number, b"".join(parts))
        return self._made[number]

    def _remember(self, number: int, text: bytes) -> None:
        self._made[number] = text
        if len(self._made) > _BLOCKS_KEPT:
            self._made.popitem(last=False)

    def _converted(self, press: Press, raw: int, end: int | None = None) -> tuple[bytes, int]:
        """Turn a step's worth of output into text; gives it and the offset that comes next."""
        for step in (_STEP, LONGEST_EVENT + 1):
            piece = self._piece(raw, step if end is None else min(step, end - raw))
            if piece.start > raw:
                return press.skip(piece.start - raw), piece.start
            made, taken = press.take(piece.data, _MOST_EVENTS)
            if taken:
                return made, raw + taken
            if len(piece.data) < step:
                break
        after = self._transcript.read(piece.end, 1)
        if piece.data and after.data and after.start > piece.end:
            return press.skip(after.start - raw), after.start
        return b"", raw

    def _piece(self, offset: int, limit: int) -> Chunk:
        """Read over the ends of files, up to the next gap."""
        piece = self._transcript.read(offset, limit)
        while piece.data and len(piece.data) < limit:
            more = self._transcript.read(piece.end, limit - len(piece.data))
            if more.start > piece.end or not more.data:
                break
            piece = Chunk(piece.start, piece.data + more.data)
        return piece
