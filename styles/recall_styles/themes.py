"""recall-dark and recall-light: Okabe–Ito hues, told apart with every common colour blindness, and readable on
every background that the sheets use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual.color import Color, ColorParseError
from textual.theme import Theme

#: The colours that mean a state, and the two that mark the selected line. The sheets use nothing else.
TOKENS: Final = ("needs-you", "run", "land", "good", "bad", "cool", "muted")
CURSORS: Final = ("cursor", "cursor-away")
#: What they stand on, and how well they can be read there.
GROUNDS: Final = ("background", "surface", "panel")
LEAST_CONTRAST: Final = 4.5

_DARK: Final = {
    "needs-you": "#f0ad1f",
    "run": "#7cc8f2",
    "land": "#ecb3d3",
    "good": "#2dc496",
    "bad": "#ef7123",
    "cool": "#3f9fdd",
    "muted": "#929ca8",
    "cursor": "#22303f",
    "cursor-away": "#20262e",
}

_LIGHT: Final = {
    "needs-you": "#805800",
    "run": "#1268a0",
    "land": "#7f2150",
    "good": "#006b4e",
    "bad": "#7a2500",
    "cool": "#003f66",
    "muted": "#5a626c",
    "cursor": "#d8e8f5",
    "cursor-away": "#e8e5df",
}


def _chrome(tokens: dict[str, str], edge: str) -> dict[str, str]:
    """Textual's own variables where its defaults would bring a second accent or too little contrast."""
    return {
        "edge": edge,
        "border": edge,
        "border-blurred": edge,
        "scrollbar": edge,
        "scrollbar-hover": tokens["muted"],
        "scrollbar-active": tokens["muted"],
        "scrollbar-background": tokens["cursor-away"],
        "scrollbar-background-hover": tokens["cursor-away"],
        "scrollbar-background-active": tokens["cursor-away"],
        "scrollbar-corner-color": tokens["cursor-away"],
        "text-muted": tokens["muted"],
        "footer-key-foreground": tokens["run"],
        "input-selection-background": tokens["cursor"],
        "block-cursor-background": tokens["cursor"],
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-background": tokens["cursor-away"],
    }


RECALL_DARK: Final = Theme(
    name="recall-dark",
    primary=_DARK["run"],
    secondary=_DARK["cool"],
    accent=_DARK["needs-you"],
    warning=_DARK["needs-you"],
    error=_DARK["bad"],
    success=_DARK["good"],
    foreground="#d8dde4",
    background="#12151a",
    surface="#171b21",
    panel="#1e232a",
    dark=True,
    variables={**_DARK, **_chrome(_DARK, "#39414c"), "block-cursor-foreground": "#d8dde4"},
)

RECALL_LIGHT: Final = Theme(
    name="recall-light",
    primary=_LIGHT["run"],
    secondary=_LIGHT["cool"],
    accent=_LIGHT["needs-you"],
    warning=_LIGHT["needs-you"],
    error=_LIGHT["bad"],
    success=_LIGHT["good"],
    foreground="#1f2328",
    background="#fcfbf8",
    surface="#f6f4f0",
    panel="#eceae5",
    dark=False,
    variables={**_LIGHT, **_chrome(_LIGHT, "#c4bfb5"), "block-cursor-foreground": "#1f2328"},
)

THEMES: Final = (RECALL_DARK, RECALL_LIGHT)


def variable_defaults(theme: Theme) -> dict[str, str]:
    """What the sheets use under a theme that is not ours: our colours, made lighter or darker until they can be read
    on its backgrounds. For `App.get_theme_variable_defaults`."""
    ours = RECALL_DARK if theme.dark else RECALL_LIGHT
    if theme in THEMES:
        return ours.variables
    try:
        grounds = [Color.parse(theme.to_color_system().generate()[name]) for name in GROUNDS]
    except ColorParseError:  # a theme of the terminal's own colours, whatever they are
        return ours.variables
    if any(ground.ansi is not None or ground.a < 1 for ground in grounds):
        return ours.variables
    base = _DARK if theme.dark else _LIGHT
    marked = {"cursor": grounds[0].blend(Color.parse(base["run"]), 0.15), "cursor-away": grounds[1]}
    tokens = {name: _readable(base[name], [*grounds, *marked.values()], dark=theme.dark) for name in TOKENS}
    tokens |= {name: shade.hex for name, shade in marked.items()}
    return {**ours.variables, **tokens, **_chrome(tokens, grounds[0].blend(Color.parse(tokens["muted"]), 0.4).hex)}


def contrast(one: Color, other: Color) -> float:
    """From 1 to 21, as the Web Content Accessibility Guidelines reckon it."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: Color) -> float:
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in color.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _readable(colour: str, grounds: Sequence[Color], *, dark: bool) -> str:
    """Move a colour as little as need be towards white or black."""
    wanted, end = Color.parse(colour), Color.parse("#ffffff" if dark else "#000000")
    shades = (wanted.blend(end, step / 20) for step in range(20))
    fits = (shade.hex for shade in shades if all(contrast(shade, ground) >= LEAST_CONTRAST for ground in grounds))
    return next(fits, end.hex)
