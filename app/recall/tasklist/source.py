"""The bytes of a task list as lines, with the way back from a character to its byte."""

from __future__ import annotations

import re
from dataclasses import field

from recall.domain.frozen import frozen
from recall.tasklist.problem import Problem, error

_BREAK = re.compile(rb"\r\n?|\n")
_BOM = b"\xef\xbb\xbf"
_WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff")
_UNREADABLE = re.compile("[\x00\ud800-\udfff]")
_FRONT_MATTER_KEY = re.compile(r"[A-Za-z_\"'][^:=]*[:=](\s|$)")
_FRONT_MATTER_FENCES = {"---": ("---", "..."), "+++": ("+++",)}
_CONFLICT = re.compile(r"<{7}(?: |$)|>{7}(?: |$)|\|{7}(?: |$)|={7}$")
_ENCODING_PROBLEMS_SHOWN = 50


@frozen
class Source:
    """`lines` are decoded and without their line breaks. Bytes that are no UTF-8 are one U+FFFD each, so that
    columns keep their meaning. `starts` are the byte offsets of the lines, a byte order mark left out."""

    lines: tuple[str, ...]
    starts: tuple[int, ...] = ()
    raw: tuple[bytes, ...] = ()
    problems: tuple[Problem, ...] = ()
    front_matter: int = 0
    conflict_lines: tuple[int, ...] = field(default=())

    def offset(self, line: int, column: int) -> int:
        """Give the byte at which a character stands in the file."""
        before = self.raw[line].decode("utf-8", "surrogateescape")[:column]
        return self.starts[line] + len(before.encode("utf-8", "surrogateescape"))

    def column(self, line: int, fragment: str) -> int:
        """Find where a fragment stands in a line; 0 when it does not stand there in one piece."""
        return max(self.lines[line].find(fragment), 0)


def read_source(data: bytes) -> Source:
    """Decode and split, whatever the bytes are."""
    if data.startswith(_WIDE_BOMS):
        return Source((), problems=(_not_utf8(),))
    starts, raw = _split(data)
    decoded = [line.decode("utf-8", "surrogateescape") for line in raw]
    lines = tuple(_UNREADABLE.sub("\ufffd", line) for line in decoded)
    return Source(
        lines,
        tuple(starts),
        tuple(raw),
        tuple(_encoding_problems(starts, raw)),
        _front_matter(lines),
        tuple(_conflict_lines(lines)),
    )


def _split(data: bytes) -> tuple[list[int], list[bytes]]:
    starts: list[int] = []
    raw: list[bytes] = []
    start = len(_BOM) if data.startswith(_BOM) else 0
    for match in _BREAK.finditer(data, start):
        starts.append(start)
        raw.append(data[start : match.start()])
        start = match.end()
    if start < len(data):
        starts.append(start)
        raw.append(data[start:])
    return starts, raw


def _not_utf8() -> Problem:
    return error(
        "bad_encoding",
        0,
        "the file starts like UTF-16 (byte 0); expected UTF-8; save the file as UTF-8 and import it again",
    )


def _encoding_problems(starts: list[int], raw: list[bytes]) -> list[Problem]:
    problems: list[Problem] = []
    more = 0
    for number, line in enumerate(raw):
        problem = None if line.isascii() else _encoding_problem(number, starts[number], line)
        if problem is None:
            continue
        if len(problems) < _ENCODING_PROBLEMS_SHOWN:
            problems.append(problem)
        else:
            more += 1
    if more:
        last = problems[-1].line - 1
        problems.append(
            error("bad_encoding", last, f"{more} more lines below are no UTF-8 either; save the file as UTF-8")
        )
    return problems


def _encoding_problem(number: int, start: int, line: bytes) -> Problem | None:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as fault:
        column = len(line[: fault.start].decode("utf-8"))
        found = f"byte {start + fault.start} of the file (0x{line[fault.start]:02x}) is no UTF-8"
        return error("bad_encoding", number, f"{found}; expected UTF-8 text; save the file as UTF-8", column=column)
    return None


def _front_matter(lines: tuple[str, ...]) -> int:
    """Count the lines of front matter. A rule at the top of a document is none: a key must follow it."""
    opening, key = (*lines[:2], "", "")[:2]
    closing = _FRONT_MATTER_FENCES.get(opening.rstrip())
    if closing is None or not _FRONT_MATTER_KEY.match(key):
        return 0
    for number in range(1, len(lines)):
        if lines[number].rstrip() in closing:
            return number + 1
    return 0


def _conflict_lines(lines: tuple[str, ...]) -> list[int]:
    """Find what git leaves in a file: `=======` counts inside a conflict only, elsewhere it underlines."""
    found: list[int] = []
    inside = False
    for number, line in enumerate(lines):
        if not _CONFLICT.match(line):
            continue
        if line.startswith("<"):
            inside = True
        if inside or line.startswith(">"):
            found.append(number)
        if line.startswith(">"):
            inside = False
    return found
