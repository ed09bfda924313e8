"""A program in a pseudo-terminal: what it writes is read as bytes, what a person types is written to it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_PATIENCE = 30.0
_MODE = re.compile(rb"\x1b\[\?(\d+)([hl])")
#: The other screen, mouse reports of all kinds, focus reports, pasted text in brackets.
_MODES = (b"1049", b"1000", b"1002", b"1003", b"1006", b"1015", b"1004", b"2004")
_STYLE = re.compile(rb"\x1b\[[0-9;:?]*[a-zA-Z]")


@dataclass
class Terminal:
    """`output` is everything that was written so far."""

    process: subprocess.Popen[bytes]
    fd: int
    output: bytearray = field(default_factory=bytearray)

    @property
    def text(self) -> str:
        """What was written, without styles and cursor movements."""
        return _STYLE.sub(b"", bytes(self.output)).decode("utf-8", "replace")

    def type(self, keys: str) -> None:
        os.write(self.fd, keys.encode())

    def shows(self, *words: str, seconds: float = _PATIENCE) -> Terminal:
        """Read until all words were written since the terminal was opened."""
        deadline = time.monotonic() + seconds
        while not all(word in self.text for word in words):
            assert time.monotonic() < deadline, f"not within {seconds} s: {words}\n{self.text[-4000:]}"
            if not self.read(0.2) and self.process.poll() is not None:
                raise AssertionError(f"ended with {self.process.returncode} before it showed {words}:\n{self.text}")
        return self

    def read(self, seconds: float) -> bool:
        """Read what comes within so many seconds; False: nothing did."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # the other end is closed
            return False
        self.output += data
        return bool(data)

    def watch(self, seconds: float) -> int:
        """Read for so many seconds; gives how many bytes were written."""
        before, deadline = len(self.output), time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self.read(left)
        return len(self.output) - before

    def calms(self, silence: float = 0.15, seconds: float = _PATIENCE) -> Terminal:
        """Read until so many seconds long nothing more is written."""
        deadline = time.monotonic() + seconds
        while self.read(silence):
            assert time.monotonic() < deadline, f"it did not stop writing for {seconds} s:\n{self.text[-4000:]}"
        return self

    def ends(self, seconds: float = _PATIENCE) -> int:
        """Wait for the program's end; gives its exit code."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"still there after {seconds} s:\n{self.text[-4000:]}"
            self.read(0.1)
        while self.read(0):
            pass
        return self.process.returncode

    @property
    def left_on(self) -> list[str]:
        """What a shell that comes back would suffer from: modes that are still on, a hidden cursor, no echo."""
        last = dict(_MODE.findall(bytes(self.output)))
        on = [number.decode() for number in _MODES if last.get(number, b"l") == b"h"]
        local = termios.tcgetattr(self.fd)[3]
        lines = [name for name in ("ECHO", "ICANON", "ISIG") if not local & getattr(termios, name)]
        return [*on, *(["cursor"] if last.get(b"25", b"h") == b"l" else []), *lines]

    def cpu_seconds(self) -> float:
        """The processor time that the program has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def terminal(
    argv: Sequence[str],
    cwd: Path,
    *,
    env: Mapping[str, str] | None = None,
    size: tuple[int, int] = (120, 40),
    modes: list[Any] | None = None,
) -> Generator[Terminal]:
    """Start a program in a terminal of its own; it is killed at the end if it still lives. `modes` is what an
    earlier program left of the terminal's line, as `termios` gives it."""
    parent, child = pty.openpty()
    if modes is not None:
        termios.tcsetattr(child, termios.TCSANOW, modes)
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    variables = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
    variables |= {"COLUMNS": str(size[0]), "LINES": str(size[1]), **(env or {})}
    process = subprocess.Popen(
        list(argv), cwd=cwd, env=variables, stdin=child, stdout=child, stderr=child, start_new_session=True
    )
    os.close(child)
    try:
        yield Terminal(process, parent)
    finally:
        process.kill()
        process.wait()
        os.close(parent)
