"""Titles in borders: Textual reads a plain string there as markup, and draws the whole widget again at each one."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

from recall_widgets.spans import shown


def entitle(widget: Widget, title: str, subtitle: str = "") -> None:
    """Set a widget's titles to text from anywhere; nothing is drawn while they stay the same."""
    top, bottom = _content(title), _content(subtitle)
    if widget.border_title != (top.markup if top else None):
        widget.border_title = top
    if widget.border_subtitle != (bottom.markup if bottom else None):
        widget.border_subtitle = bottom


def _content(text: str) -> Content | None:
    return Content(shown(text).strip()) if text.strip() else None
