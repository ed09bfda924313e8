"""A screen as text that a person can review: each line as it stands there, below it where which style begins.

 7|│   ◐ T-B02 Parse the config      claude   12:04 │
  |0 edge, 4 run, 6 bold, 12 -, 34 muted, 42 -, 48 edge

Colours are named by the theme's own names, so that a snapshot says what a colour means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.segment import Segment
from rich.style import Style
from textual.app import App
from textual.color import Color

from recall_styles.themes import CURSORS, GROUNDS, TOKENS

#: Two names of one colour: the first is the one that is written.
_NAMES = ("foreground", *GROUNDS, *TOKENS, *CURSORS, "edge")
_MARKS = ("bold", "dim", "italic", "underline", "reverse", "strike")


def plain(app: App[Any]) -> str:
    """Write down what the app shows now, with all styles that differ from text on the background."""
    names = _names(app.theme_variables)
    width, height = app.size
    out = [f"{width}x{height} {app.theme}"]
    for y, strip in enumerate(app.screen._compositor.render_strips()[:height]):  # pyright: ignore[reportPrivateUsage] - the only way to the drawn screen
        segments = list(strip.crop(0, width))
        out.append(f"{y:2}|{''.join(segment.text for segment in segments)}".rstrip())
        spans = ", ".join(f"{x} {name}" for x, name in _spans(segments, names))
        if spans not in ("", "0 -"):
            out.append(f"  |{spans}")
    return "\n".join(out) + "\n"


def _names(variables: Mapping[str, str]) -> dict[str, str]:
    known = {name: Color.parse(variables[name]).hex6 for name in reversed(_NAMES) if name in variables}
    return {colour: name for name, colour in known.items()}


def _spans(segments: list[Segment], names: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """Where a style begins. What has no ink goes on as what stands before it, if its ground is the same."""
    x, last, last_ground = 0, "", ""
    for segment in segments:
        style = segment.style or Style()
        ground = _ground(style, names)
        inks = segment.text.strip() != "" or style.underline or style.reverse
        if inks:
            name = _words(style, ground, names)
        else:
            name = last if last and ground == last_ground else _words(Style(), ground, names)
        if name != last:
            yield x, name
        x, last, last_ground = x + segment.cell_length, name, ground


def _words(style: Style, ground: str, names: Mapping[str, str]) -> str:
    ink = _name(style.color.get_truecolor().hex if style.color else "", names) or "foreground"
    words = [mark for mark in _MARKS if getattr(style, mark)]
    words += [ink] if ink != "foreground" else []
    words += [f"on {ground}"] if ground != "background" else []
    return " ".join(words) or "-"


def _ground(style: Style, names: Mapping[str, str]) -> str:
    return _name(style.bgcolor.get_truecolor().hex if style.bgcolor else "", names) or "background"


def _name(colour: str, names: Mapping[str, str]) -> str:
    return names.get(colour.upper(), colour)
