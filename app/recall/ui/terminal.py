"""What the terminal can draw, and how it is given back. Colours are Textual's business: it honours NO_COLOR by
itself."""

from __future__ import annotations

import contextlib
import locale
import os
import sys
import termios
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from recall_widgets.glyphs import ASCII, UNICODE, Symbols

#: Terminals whose fonts lack the signs: the Linux console, and those that say they can do next to nothing.
_PLAIN_TERMINALS = frozenset({"linux", "dumb", "vt100", "vt220"})


def symbols_for(wanted: str, terminal: str, encoding: str) -> Symbols:
    """Choose by what a person wants (`ascii`, `unicode`, or `auto` to have it found out), the terminal's name and the
    encoding of its text."""
    if wanted in ("ascii", "unicode"):
        return ASCII if wanted == "ascii" else UNICODE
    is_unicode = encoding.lower().replace("-", "").startswith("utf")
    return UNICODE if is_unicode and terminal not in _PLAIN_TERMINALS else ASCII


def symbols_here(wanted: str) -> Symbols:
    """Choose for this process; RECALL_GLYPHS, which belongs to this terminal, counts more than recall.toml."""
    said = os.environ.get("RECALL_GLYPHS") or wanted
    return symbols_for(said, os.environ.get("TERM", ""), locale.getencoding())


#: Mouse reports, pasted text in brackets, focus reports and the keys of kitty off; cursor and first screen back.
_AS_BEFORE = (
    "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1004l\x1b[?2004l\x1b[<u\x1b[?25h\x1b[?1049l"
)
_INPUT, _OUTPUT, _LOCAL = 0, 1, 3


@contextmanager
def kept_terminal() -> Generator[None]:
    """Leave the terminal's line as it was found; or better, where a program that was killed left it without echo."""
    try:
        found = termios.tcgetattr(sys.stdin.fileno())
    except (termios.error, OSError, ValueError):  # no terminal
        yield
        return
    with contextlib.suppress(termios.error):
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSANOW, _sane(found))
    try:
        yield
    finally:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(sys.stdin.fileno(), termios.TCSANOW, _sane(found))


def give_back() -> None:
    """Undo by force what the screen did to the terminal, for an end that does not wait for it."""
    with contextlib.suppress(OSError, ValueError):
        os.write(sys.__stdout__.fileno() if sys.__stdout__ else 1, _AS_BEFORE.encode())


def _sane(modes: list[Any]) -> list[Any]:
    """No shell starts a program on a line without echo."""
    if modes[_LOCAL] & termios.ECHO and modes[_LOCAL] & termios.ICANON:
        return modes
    sane = list(modes)
    sane[_INPUT] |= termios.ICRNL | termios.IXON | termios.BRKINT
    sane[_OUTPUT] |= termios.OPOST | termios.ONLCR
    sane[_LOCAL] |= termios.ECHO | termios.ECHOE | termios.ECHOK | termios.ICANON | termios.ISIG | termios.IEXTEN
    return sane
