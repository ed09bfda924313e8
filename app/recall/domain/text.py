"""Text that comes from outside, made safe to show: what a terminal would obey is dropped, what it would
show is kept."""

from __future__ import annotations

import re
from unicodedata import category, east_asian_width

_ELLIPSIS = "…"

#: Escape sequences in their 7-bit and C1 forms. A control string (OSC, DCS, SOS, PM, APC) that is never
#: ended takes the rest of its line and no more, so that hostile text cannot hide everything behind it.
#: Each alternative stops at the next introducer, which keeps the whole pass linear.
_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[\]PX^_](?:[^\x07\x1b\x80-\x9f]*(?:\x07|\x1b\\|\x9c)|[^\x07\x1b\x80-\x9f\n]*)"
    r"|[\x90\x98\x9d-\x9f][^\x07\x1b\x80-\x9f\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]+[0-~]?"
    r"|\x1b[0-~]?"
)

#: Line separators that only some programs know; here they are what they mean.
_SEPARATOR = re.compile("\r\n|[\u2028\u2029]")

#: C0 but for line feed, tab and return; DEL; C1; everything that turns the direction of what follows.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]+")

_SURROGATE = re.compile("[\ud800-\udfff]")
_BREAK = re.compile(r"[\n\t]+")


def clean(text: str) -> str:
    """Drop escape sequences, control characters and direction overrides; keep line feeds and tabs.

    A line that was rewritten with carriage returns shows its last state. Backspaces are dropped, not obeyed.
    """
    if text.isprintable():  # most texts are: one look spares them four passes
        return text
    text = _CONTROL.sub("", _ESCAPE.sub("", text))
    text = _SEPARATOR.sub("\n", _SURROGATE.sub("\ufffd", text))
    if "\r" not in text:
        return text
    return "\n".join(_last_state(line) for line in text.split("\n"))


def clean_line(text: str) -> str:
    """Clean text for a place with room for one line: breaks and tabs become a space."""
    return _BREAK.sub(" ", clean(text)).strip()


def clean_bytes(data: bytes) -> str:
    """Decode UTF-8, with replacement characters where it is not, and clean."""
    return clean(data.decode("utf-8", errors="replace"))


def cells(text: str) -> int:
    """Count the terminal columns of one cleaned line: wide characters take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(map(_cell, text))


def clip(text: str, width: int) -> str:
    """Cut one cleaned line to `width` columns; a cut one ends in `…`."""
    if cells(text) <= width:
        return text
    room = width - 1
    kept = 0
    for character in text:
        room -= _cell(character)
        if room < 0:
            break
        kept += 1
    return text[:kept] + _ELLIPSIS if width > 0 else ""


def _last_state(line: str) -> str:
    return line.rstrip("\r").rpartition("\r")[2]


def _cell(character: str) -> int:
    if east_asian_width(character) in "WF":
        return 2
    return 0 if category(character) in {"Mn", "Me", "Cf"} else 1
