"""An agent's events as lines to read, coloured by SGR sequences and holding no other ones.

What comes of an event depends on a few things before it, which a `Page` remembers: it can be copied, and two equal
ones make the same lines of the same events.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from recall.domain.stream.facts import (
    Called,
    Ended,
    Fact,
    Failed,
    Limited,
    Returned,
    Said,
    SessionNamed,
    Thought,
    Tool,
    ToolKind,
    Used,
)
from recall.domain.stream.spending import Tally, spending_words
from recall.domain.text import clean, clean_line

_RESET: Final = "\x1b[0m"
_DIM: Final = "\x1b[2m"
_DIM_ITALIC: Final = "\x1b[2;3m"
_BOLD: Final = "\x1b[1m"
_RED: Final = "\x1b[31m"
_GREEN: Final = "\x1b[32m"

#: Of a longer result only the first and the last lines are shown.
_HEAD: Final = 6
_TAIL: Final = 14
_SHORT_HEAD: Final = 3
_LONGEST_LINE: Final = 2000
_CALLS_REMEMBERED: Final = 64

_VERBS: Final = {
    ToolKind.READ: "Read",
    ToolKind.EDIT: "Edited",
    ToolKind.WRITE: "Wrote",
    ToolKind.DELETE: "Deleted",
    ToolKind.SEARCH: "Searched",
    ToolKind.FETCH: "Fetched",
}
#: Of these the number of lines says enough.
_COUNTED: Final = frozenset({ToolKind.READ, ToolKind.SEARCH, ToolKind.FETCH})
_SILENT: Final = frozenset({ToolKind.EDIT, ToolKind.WRITE, ToolKind.DELETE})

#: What stands on a line that is not ended yet: nothing, words that may go on, the call with this id.
_Open: TypeAlias = str | None
_WORDS: Final = ""


@dataclass(slots=True)
class Page:
    """`folder` is taken off the paths below it."""

    folder: str = ""
    tally: Tally = field(default_factory=Tally)
    _open: _Open = None
    _spoke: bool = False
    _calls: dict[str, ToolKind] = field(default_factory=dict[str, ToolKind])

    def copy(self) -> Page:
        return replace(self, _calls=dict(self._calls))

    def write(self, facts: Iterable[Fact]) -> str:
        """Give what these facts add to the text, which may leave its last line open."""
        return "".join(self._written(fact) for fact in facts)

    def end_line(self) -> str:
        """Give what ends a line that is still open."""
        was_open = self._open is not None
        self._open = None
        return "\n" if was_open else ""

    def _written(self, fact: Fact) -> str:
        self.tally = self.tally.after(fact)
        match fact:
            case Said(text, part):
                return self._said(text, part)
            case Thought(text):
                return self.end_line() + _lines(text, _DIM_ITALIC)
            case Called():
                return self._called(fact)
            case Returned():
                return self._returned(fact)
            case Failed(text):
                return self.end_line() + _lines(text, _RED)
            case Limited(window):
                kind = f" ({clean_line(window).replace('_', ' ')})" if window else ""
                return self.end_line() + _lines(f"usage limit reached{kind}", _RED)
            case Ended():
                return self._ended(fact)
            case SessionNamed(_, folder):
                self.folder = self.folder or folder
                return ""
            case Used():
                return ""

    def _said(self, text: str, part: bool) -> str:
        self._spoke = True
        before = "" if part and self._open == _WORDS else self.end_line()
        if not part:
            return before + _lines(text, "")
        words = clean(text)
        self._open = None if words.endswith("\n") else _WORDS
        return before + words

    def _called(self, call: Called) -> str:
        self._calls.pop(call.id, None)
        self._calls[call.id] = call.tool.kind
        if len(self._calls) > _CALLS_REMEMBERED:
            del self._calls[next(iter(self._calls))]
        before = self.end_line()
        self._open = call.id or " "
        return before + self._call_line(call.tool)

    def _call_line(self, tool: Tool) -> str:
        subject = self._below_folder(clean_line(tool.subject))
        if tool.kind is ToolKind.COMMAND:
            return f"{_BOLD}${_RESET} {subject}"
        verb = _VERBS.get(tool.kind, clean_line(tool.name))
        line = f"{_BOLD}{verb}{_RESET} {subject}".rstrip()
        if tool.added is not None:
            line += f"  {_GREEN}+{tool.added}{_RESET}"
        if tool.removed is not None:
            line += f" {_RED}−{tool.removed}{_RESET}"
        return line

    def _below_folder(self, subject: str) -> str:
        return subject.replace(f"{self.folder.rstrip('/')}/", "") if self.folder.strip("/") else subject

    def _returned(self, result: Returned) -> str:
        kind = self._calls.pop(result.id, ToolKind.OTHER)
        if result.failed:
            mark = f"  {_RED}failed{_RESET}" if result.id and self._open == result.id else ""
            style = _DIM if kind is ToolKind.COMMAND else _RED
            return mark + self.end_line() + _cut(result, _HEAD, _TAIL, style)
        if kind in _COUNTED and result.id and self._open == result.id:
            many = "" if result.lines == 1 else "s"
            return f" {_DIM}({result.lines} line{many}){_RESET}" + self.end_line()
        if kind in _COUNTED or kind in _SILENT:
            return ""
        if kind is ToolKind.COMMAND:
            return self.end_line() + _cut(result, _HEAD, _TAIL, _DIM)
        return self.end_line() + _cut(result, _SHORT_HEAD, 0, _DIM)

    def _ended(self, end: Ended) -> str:
        text = self.end_line()
        if end.failed:
            text += _lines(end.text or "ended with an error", _RED)
        elif not self._spoke:
            text += _lines(end.text, "")
        words = spending_words(self.tally.spending)
        return text + (_lines(words, _DIM) if words else "")


def too_long(size: int) -> str:
    """The line that stands for an event of so many bytes which was not taken apart."""
    return _lines(f"… an event of {size / 1024:.0f} KiB", _DIM)


def not_kept(size: int) -> str:
    """The line that stands for so many bytes which were dropped."""
    return _lines(f"… {size / 1024:.0f} KiB not kept", _DIM)


def _cut(result: Returned, head: int, tail: int, style: str) -> str:
    """The first and last lines of a result, and how many there are between."""
    text = result.text.strip("\r\n")
    if not text:
        return ""
    lines = text.split("\n")
    more = max(result.lines, len(lines)) - head - tail
    if more <= 1:
        return _lines(text, style)
    shown = [*lines[:head], f"… {more} more lines", *(lines[-tail:] if tail else [])]
    return _lines("\n".join(shown), style)


def _lines(text: str, style: str) -> str:
    """Cleaned lines, each with its own colour, since each is drawn by itself."""
    lines = (line[:_LONGEST_LINE] for line in clean(text).strip("\n").split("\n"))
    return "".join(f"{style}{line}{_RESET}\n" if style and line else f"{line}\n" for line in lines)
