"""recall-dark and recall-light: Okabe–Ito hues, told apart with every common colour blindness, and readable on
every background that the sheets use."""

from __future__ import annotations

from typing import Final

from textual.theme import Theme

#: The colours that mean a state, and the two that mark the selected line. The sheets use nothing else.
TOKENS: Final = ("needs-you", "run", "land", "good", "bad", "cool", "muted")
CURSORS: Final = ("cursor", "cursor-away")

_DARK: Final = {
    "needs-you": "#e69f00",
    "run": "#7cc8f2",
    "land": "#d994bb",
    "good": "#2dc496",
    "bad": "#f37c2b",
    "cool": "#3f9fdd",
    "muted": "#9aa4b0",
    "cursor": "#22303f",
    "cursor-away": "#20262e",
}

_LIGHT: Final = {
    "needs-you": "#7d5600",
    "run": "#1268a0",
    "land": "#9c3c71",
    "good": "#006b4e",
    "bad": "#a34600",
    "cool": "#003f66",
    "muted": "#555d67",
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

#: What the sheets fall back to under a theme that is not ours. Return it from `App.get_theme_variable_defaults`.
VARIABLE_DEFAULTS: Final = {
    "needs-you": "$text-warning",
    "run": "$text-primary",
    "land": "$text-secondary",
    "good": "$text-success",
    "bad": "$text-error",
    "cool": "$text-accent",
    "muted": "$foreground 75%",
    "cursor": "$panel",
    "cursor-away": "$surface",
    "edge": "$panel",
}
