"""Names for what a colour means, and their styles under the theme in force."""

from __future__ import annotations

from typing import Final

from rich.style import Style
from textual.widget import Widget

TONES: Final = (
    "strong",
    "muted",
    "run",
    "land",
    "good",
    "needs-you",
    "bad",
    "cool",
    "match",
    "found",
    "cursor",
    "added",
    "removed",
    "hunk",
    "file",
    "tab",
)

#: For `COMPONENT_CLASSES` of every widget that draws spans; the shared sheet gives each its look.
COMPONENTS: Final = {f"tone--{tone}" for tone in TONES}


class Palette:
    """The styles of one widget's tones. Textual throws its own cache away with every refresh of a line."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._styles: dict[str, Style] = {}

    def __getitem__(self, tone: str) -> Style:
        """What the tone changes of the base; the empty tone changes nothing."""
        style = self._styles.get(tone)
        if style is None:
            style = self._widget.get_component_rich_style(f"tone--{tone}", partial=True) if tone else Style.null()
            self._styles[tone] = style
        return style

    def base(self, tone: str = "") -> Style:
        """The widget's own colours, under a tone that holds for a whole line."""
        key = f"base {tone}"
        if key not in self._styles:
            self._styles[key] = self._widget.rich_style + self[tone]
        return self._styles[key]

    def forget(self) -> None:
        """Call from `notify_style_update`: the theme or the focus has changed."""
        self._styles.clear()
