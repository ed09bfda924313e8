"""A page as what a reader does: where it begins, files that it has them write, commands that it has them type.

Comments that no reader sees say what a page stands on:

    <!-- on: NAME -->        what follows begins anew on this ground (`grounds.py`)
    <!-- each on: NAME -->   the next block holds alternatives: each of its lines begins on a ground of its own
    <!-- ends with: CODE --> the last command of the next block has this exit code
    <!-- rows -->            the first column of the next table holds commands
    <!-- file: PATH -->      the next block is what the reader writes into this file
    <!-- added to: PATH -->  the next block is added to this file
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

#: Blocks that a reader types: a script, and a session with what the terminal answers.
TYPED = ("sh", "console")
_PIECE = re.compile(
    r"^<!-- (?P<word>on|each on|ends with|file|added to): (?P<name>[^\n]+?) -->$"
    r"|^<!-- rows -->\n(?P<rows>(?:^\|[^\n]*\n)+)"
    r"|^```(?P<kind>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_CELL = re.compile(r"\| `([^`]+)` \|")
_ANY_LINES = r"(?:.*\n)*?"
_HEREDOC = re.compile(r"<<-?\s*'?(\w+)'?")


@dataclass(frozen=True, slots=True)
class Begin:
    ground: str


@dataclass(frozen=True, slots=True)
class Write:
    path: str
    text: str
    add: bool
    line: int


@dataclass(frozen=True, slots=True)
class Typed:
    """`expected` are the lines that the page shows as the answer; None: it shows none."""

    command: str
    expected: tuple[str, ...] | None
    line: int
    code: int = 0


Step = Begin | Write | Typed


def steps(document: Path) -> Iterator[Step]:
    """What a reader of the page does, in order."""
    text = document.read_text("utf-8")
    each, write, code = "", "", 0
    for found in _PIECE.finditer(text):
        first = text.count("\n", 0, found.start()) + 2
        if found["word"] == "on":
            yield Begin(found["name"])
        elif found["word"] == "each on":
            each = found["name"]
        elif found["rows"]:
            for number, row in enumerate(found["rows"].splitlines()):
                if cell := _CELL.match(row):
                    yield Typed(cell[1], None, first + number)
        elif found["word"] == "ends with":
            code = int(found["name"])
        elif found["word"]:
            write = f"{found['word']}: {found['name']}"
        elif write:
            yield Write(write.partition(": ")[2], found["text"], write.startswith("added"), first)
            write = ""
        elif found["kind"] in TYPED:
            *before, last = commands(found["kind"], found["text"], first)
            for typed in (*before, replace(last, code=code)):
                yield from (Begin(each),) if each else ()
                yield typed
            each, code = "", 0


def commands(kind: str, text: str, first: int = 1) -> Iterator[Typed]:
    """The commands of a block that begins at this line of its page."""
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        begun = number
        line = lines[number]
        number += 1
        if kind == "sh":
            while line.endswith("\\") or _is_open(line):
                line = f"{line}\n{lines[number]}"
                number += 1
            if _bare(line):
                yield Typed(_bare(line), None, first + begun)
            continue
        assert line.startswith("$ "), f"line {first + begun} should be a command after `$ `: {line}"
        line = line.removeprefix("$ ")
        while number < len(lines) and lines[number].startswith("> "):
            line += "\n" + lines[number].removeprefix("> ")
            number += 1
        answer: list[str] = []
        while number < len(lines) and not lines[number].startswith("$ "):
            answer.append(lines[number])
            number += 1
        yield Typed(_bare(line), tuple(answer), first + begun)


def _is_open(line: str) -> bool:
    """Whether a here-document has begun and not ended."""
    found = _HEREDOC.search(line)
    return found is not None and found[1] not in line.splitlines()[1:]


def _bare(line: str) -> str:
    """A command without the remark behind it."""
    head, *rest = line.splitlines() or [""]
    return "\n".join([re.sub(r"(^|\s+)#(\s.*)?$", "", head), *rest]).strip()


def matches(expected: tuple[str, ...], got: list[str]) -> bool:
    """Whether the answer is the one that is shown: `…` stands for anything within a line, alone for any lines."""
    wanted = [line for line in expected if line.strip()]
    lines = [line.rstrip() for line in got if line.strip()]
    pattern = "".join(_ANY_LINES if line.strip() == "…" else _pattern(line) for line in wanted)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in lines)) is not None


def _pattern(line: str) -> str:
    return re.escape(line.rstrip()).replace("…", ".*?") + r"\n"
