"""What the terminal can draw. Colours are Textual's business: it honours NO_COLOR by itself."""

from __future__ import annotations

import locale
import os

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
