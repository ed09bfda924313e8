"""The colours of the office: its own for what stands in it, the theme's for wall and floor, where text stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: Letters of sprites that are everybody's own: which colours, by the number in a `Dress`.
OWN: Final = ("h", "s", "S", "t", "T")

_DARK: Final[Mapping[str, str]] = {
    "d": "#9a6b43", "D": "#6e4a2d", "m": "#4c535e", "M": "#23272e", "n": "#0f2a3d", "c": "#3d7ea6", "k": "#2c3038",
    "o": "#8a4f6b", "O": "#a8668a", "l": "#f3d27a", "g": "#4f9d5d", "G": "#2f6f45", "w": "#d9d4c7", "r": "#f2eee2",
    "x": "#c69a62", "X": "#a37a47", "p": "#3a4a68", "b": "#1c1f26", "e": "#20242b", "f": "#d8dde4", "a": "#f0ad1f",
    "K": "#3d4350", "v": "#f3d27a", "N": "#1b2b4b", "i": "#cfd8ea", "j": "#f3d27a", "y": "#3b424d", "Y": "#59626f",
    "q": "#0c0e12",
}  # fmt: skip
_LIGHT: Final[Mapping[str, str]] = {
    **_DARK,
    "d": "#b98552", "D": "#8d623b", "m": "#6b7280", "M": "#3b4149", "n": "#123349", "c": "#4f97c4", "k": "#5a616b",
    "o": "#a3597f", "O": "#bf7499", "l": "#e8b93c", "w": "#ab9f8b", "r": "#ffffff", "p": "#465a80", "b": "#33373f",
    "f": "#4c535e", "a": "#d08b00", "K": "#4a5261", "N": "#8fc3ea", "i": "#ffffff", "j": "#ffd23f", "y": "#8b919a",
    "Y": "#b3b8bf", "q": "#3b4149",
}  # fmt: skip
_HAIR: Final = ("#2b211c", "#6b4226", "#c98b3b", "#8c8f96", "#a8432a")
_SKIN: Final = (("#f0c8a0", "#d49d72"), ("#c98d5e", "#a56d42"), ("#8a5a3a", "#6b4229"))
_SHIRT: Final = (
    ("#56b4e9", "#3d8fc0"), ("#e69f00", "#b87f00"), ("#009e73", "#007d5b"), ("#cc79a7", "#a85f88"),
    ("#d55e00", "#aa4b00"), ("#e3d94a", "#b9b036"), ("#7a6fd0", "#5f55ab"),
)  # fmt: skip

#: What text may stand on besides wall and floor, with the colour of that text: each pair can be read.
GROUNDS: Final[Mapping[str, str]] = {"n": "#e8f4ff", "x": "#241a0e", "D": "#fff6e8"}
#: Wall, skirting, floor and board are the theme's.
THEMED: Final[Mapping[str, str]] = {"W": "panel", "B": "edge", "F": "background", "C": "surface", "R": "cursor-away"}


def colours(*, dark: bool) -> Mapping[str, str]:
    """Every colour by its letter; an own one with its number behind it."""
    own = {f"h{at}": colour for at, colour in enumerate(_HAIR)}
    for light, shade, pairs in (("s", "S", _SKIN), ("t", "T", _SHIRT)):
        for at, (one, other) in enumerate(pairs):
            own |= {f"{light}{at}": one, f"{shade}{at}": other}
    return {**(_DARK if dark else _LIGHT), **own}
