"""Text under review: everything in it can be seen, even what a terminal would obey and a log would drop."""

from __future__ import annotations

import re
from typing import Final

from recall.domain.text import clean

_TAB: Final = 4
_LONGEST: Final = 8 * 1024
_PICTURES: Final = 0x2400
_DELETE: Final = "\u2421"

#: Control characters, what turns the direction of the text, what has no width, and half characters.
_UNSEEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def visible(text: str) -> str:
    """One line without its end; what cannot be seen has a sign or its number in its place."""
    if len(text) > _LONGEST:
        return f"{visible(text[:_LONGEST])}… {len(text) - _LONGEST} more characters"
    text = text.expandtabs(_TAB)
    return text if text.isprintable() else clean(_UNSEEN.sub(_sign, text))


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(_PICTURES + code)
    return _DELETE if code == 0x7F else f"<U+{code:04X}>"
