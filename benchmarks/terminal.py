"""A program in a pseudo-terminal that keeps what a person would see, and when the program finished drawing it.

The terminal says that it knows synchronized output, so Textual marks the end of every painting. A painting counts as
seen when the read that brought its last byte came back; a thread does nothing else than that. What is drawn is
worked out later, so working it out delays no measurement.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue

from rich.cells import cell_len

_ASKS_FOR_SYNC = b"\x1b[?2026$p"
_KNOWS_SYNC = b"\x1b[?2026;2$y"
_PAINTED = "\x1b[?2026l"
_PIECE = re.compile(
    r"\x1b\[(?P<args>[0-9;:?<>=]*)(?P<kind>[$]?[@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|(?P<text>[^\x1b]+)"
)

Cell = tuple[str, str]
_BLANK: Cell = (" ", "")


class Picture:
    """The cells of a terminal, each a character and its style. Knows what Textual writes, and no more."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.width, self.height = size
        self.rows: list[list[Cell]] = [[_BLANK] * self.width for _ in range(self.height)]
        self._drawn = [[False] * self.width for _ in range(self.height)]
        self._x = self._y = 0
        self._style = ""

    @property
    def whole(self) -> bool:
        """Whether every cell was drawn at least once."""
        return all(all(row) for row in self._drawn)

    @property
    def text(self) -> str:
        return "\n".join(self.line(y) for y in range(self.height))

    def line(self, y: int) -> str:
        return "".join(char for char, _ in self.rows[y])

    def copy(self) -> list[list[Cell]]:
        return [list(row) for row in self.rows]

    def draw(self, written: str) -> None:
        for piece in _PIECE.finditer(written):
            text, kind, args = piece["text"], piece["kind"], piece["args"]
            if text is not None:
                self._put(text)
            elif kind in ("H", "f"):
                row, _, column = args.partition(";")
                self._y, self._x = int(row or 1) - 1, int(column or 1) - 1
            elif kind == "m":
                self._style = "" if args in ("", "0") else self._style + f";{args}"

    def _put(self, text: str) -> None:
        for char in text:
            if char == "\r":
                self._x = 0
            elif char == "\n":
                self._y += 1
            elif char >= " ":
                self._set(char)

    def _set(self, char: str) -> None:
        wide = 1 if char.isascii() else cell_len(char)
        for offset in range(wide):
            if self._x + offset < self.width and self._y < self.height:
                self.rows[self._y][self._x + offset] = (char if not offset else "", self._style)
                self._drawn[self._y][self._x + offset] = True
        self._x += wide


@dataclass
class Terminal:
    """`started` is when the program was, in seconds of `time.perf_counter`, as all times here."""

    process: subprocess.Popen[bytes]
    fd: int
    picture: Picture
    started: float
    written: int = 0
    _chunks: SimpleQueue[tuple[float, bytes]] = field(default_factory=SimpleQueue[tuple[float, bytes]])
    _rest: str = ""
    _bytes: bytes = b""

    def listen(self) -> None:
        """Read until the program ends; the body of the reading thread."""
        asked = b""
        with suppress(OSError):
            while data := os.read(self.fd, 1 << 16):
                self._chunks.put((time.perf_counter(), data))
                asked = (asked + data)[-65536:] if asked is not None else b""
                if asked and _ASKS_FOR_SYNC in asked:
                    os.write(self.fd, _KNOWS_SYNC)
                    asked = None

    def press(self, keys: bytes) -> float:
        """Type; gives when."""
        at = time.perf_counter()
        os.write(self.fd, keys)
        return at

    def seen(self, claim: Callable[[Picture], bool], patience: float) -> float | None:
        """When the painting was finished that made the claim true; None: not within so many seconds."""
        deadline = time.perf_counter() + patience
        while (left := deadline - time.perf_counter()) > 0:
            for at in self._paint(left):
                if claim(self.picture):
                    return at
        return None

    def settle(self, seconds: float) -> None:
        """Take in what is painted within so many seconds, all of it however long the drawing takes."""
        self.seen(lambda _: False, seconds)
        while not self._chunks.empty():
            for _ in self._paint(0):
                pass

    def cpu_seconds(self) -> float:
        """The processor time that the program has used, with all its threads."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_bytes(self) -> int:
        """The most memory that it had at once."""
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{self.process.pid}/status").read_text())
        return int(found[1]) * 1024 if found else 0

    def _paint(self, patience: float) -> Generator[float]:
        """Draw what came; gives the time of each end of a painting, and of each chunk while none are marked."""
        try:
            at, data = self._chunks.get(timeout=patience)
        except Empty:
            return
        self.written += len(data)
        if not data:
            return
        text, self._bytes = _decoded(self._bytes + data)
        marked = _PAINTED in self._rest or _PAINTED in text or "\x1b[?2026h" in self._rest
        *paintings, self._rest = (self._rest + text).split(_PAINTED)
        for painting in paintings:
            self.picture.draw(painting)
            yield at
        if not marked and "\x1b[?2026h" not in self._rest:
            self._rest = self._draw_unmarked(self._rest)
            yield at

    def _draw_unmarked(self, text: str) -> str:
        """Draw all but a sequence that has not come whole."""
        cut = text.rfind("\x1b")
        whole = cut < 0 or _PIECE.match(text, cut) is not None
        self.picture.draw(text if whole else text[:cut])
        return "" if whole else text[cut:]


def _decoded(data: bytes) -> tuple[str, bytes]:
    """Decode all but a character that has not come whole."""
    for cut in range(4):
        with suppress(UnicodeDecodeError):
            return data[: len(data) - cut].decode(), data[len(data) - cut :]
    return data.decode("utf-8", "replace"), b""


@contextmanager
def terminal(argv: Sequence[str], cwd: Path, env: Mapping[str, str], size: tuple[int, int]) -> Generator[Terminal]:
    """Start a program in a terminal of its own; it is killed at the end."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    variables = {**env, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
    variables = {name: value for name, value in variables.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    started = time.perf_counter()
    process = subprocess.Popen(
        list(argv), cwd=cwd, env=variables, stdin=child, stdout=child, stderr=child, start_new_session=True
    )
    os.close(child)
    screen = Terminal(process, parent, Picture(size), started)
    listener = threading.Thread(target=screen.listen, daemon=True)
    listener.start()
    try:
        yield screen
    finally:
        process.kill()
        process.wait()
        listener.join(5)
        os.close(parent)
