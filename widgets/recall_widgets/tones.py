"""Names for what a colour means, and their styles under the theme in force.

They are no component classes of a sheet: Textual works each of those out again for every widget that appears or gets
the focus, which took most of the time until the first painting.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from rich.color import Color as RichColor
from rich.style import Style
from textual.app import App
from textual.color import Color
from textual.widget import Widget


class Look(NamedTuple):
    """Theme variables for the colours, and a text style as rich writes it. An empty text changes nothing."""

    color: str = ""
    background: str = ""
    text: str = ""


_LOOKS: Final[Mapping[str, Look]] = {
    "strong": Look(text="bold"),
    "muted": Look("muted"),
    "run": Look("run"),
    "land": Look("land"),
    "good": Look("good"),
    "needs-you": Look("needs-you", text="bold"),
    "bad": Look("bad"),
    "cool": Look("cool"),
    "match": Look("needs-you", text="bold underline"),
    "found": Look(text="reverse"),
    "cursor": Look(background="cursor-away"),
    "added": Look("good"),
    "removed": Look("bad"),
    "hunk": Look("run"),
    "file": Look(text="bold"),
    "tab": Look("run", text="bold underline"),
}
#: The selected line is strong where the keys go, weak elsewhere, and never a colour alone.
_CURSOR: Final = Look(background="cursor")
_CURSOR_WITHOUT_COLOUR: Final = Look(background="cursor", text="reverse")

TONES: Final = tuple(_LOOKS)


class Palette:
    """The styles of one widget's tones."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._variables: Mapping[str, str] = {}
        self._styles: dict[str, Style] = {}

    def __getitem__(self, tone: str) -> Style:
        """What the tone changes of the base; the empty tone changes nothing."""
        style = self._styles.get(tone)
        if style is None:
            style = self._style(self._look(tone)) if tone else Style.null()
            self._styles[tone] = style
        return style

    def base(self, tone: str = "") -> Style:
        """The widget's own colours, under a tone that holds for a whole line."""
        key = f"base {tone}"
        if key not in self._styles:
            self._styles[key] = self._widget.rich_style + self[tone]
        return self._styles[key]

    def forget(self) -> None:
        """Call from `notify_style_update`: the theme or the focus has changed. The widget is drawn again under
        another theme, whose colours no sheet may speak of."""
        self._styles.clear()
        variables = self._app.theme_variables
        if variables is not self._variables:
            self._variables = variables
            self._widget.refresh()

    @property
    def _app(self) -> App[Any]:
        return self._widget.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - Textual leaves it open

    def _look(self, tone: str) -> Look:
        if tone != "cursor" or not self._widget.has_focus:
            return _LOOKS[tone]
        return _CURSOR_WITHOUT_COLOUR if self._app.no_color else _CURSOR

    def _style(self, look: Look) -> Style:
        color, background = (self._rich_color(name) for name in (look.color, look.background))
        return Style.parse(look.text) + Style(color=color, bgcolor=background)

    def _rich_color(self, variable: str) -> RichColor | None:
        value = self._app.theme_variables.get(variable) if variable else None
        return Color.parse(value).rich_color if value else None
