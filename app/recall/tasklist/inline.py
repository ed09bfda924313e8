"""Inline Markdown, as far as titles and values need it."""

from __future__ import annotations

_WRAPPERS = ("**", "__", "~~", "*", "_", "`")


def without_comments(text: str) -> str:
    """Take out `<!-- … -->`, in one pass whatever the text holds. A comment that never ends stays."""
    if "<!--" not in text:
        return text
    kept: list[str] = []
    position = 0
    while (start := text.find("<!--", position)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        kept.append(text[position:start])
        position = end + 3
    return "".join((*kept, text[position:]))


def unwrapped(text: str) -> str:
    """Take off the emphasis around a whole text: `**Title**` is a title, `**a** and **b**` stays."""
    text = text.strip()
    for mark in _WRAPPERS:
        inside = text[len(mark) : -len(mark)]
        if len(text) > 2 * len(mark) and text == f"{mark}{inside}{mark}" and mark[0] not in inside and inside.strip():
            return inside.strip()
    return text
