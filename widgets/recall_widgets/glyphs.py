"""What a state looks like: a glyph, a tone and a word. Never a colour alone."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from recall.domain.frozen import frozen


class Shown(StrEnum):
    """The states that people are shown. `active` is a part of Recall at work: an agent, the dispatcher."""

    READY = "ready"
    WAITING = "waiting"
    RUNNING = "running"
    LANDING = "landing"
    DONE = "done"
    NEEDS_YOU = "needs you"
    FAILED = "failed"
    HELD = "held"
    COOLING = "cooling"
    CANCELLED = "cancelled"
    ACTIVE = "active"


@frozen
class Glyph:
    """`tone` is a name of `tones.TONES`, empty for the usual foreground."""

    symbol: str
    ascii: str
    tone: str
    word: str


GLYPHS: Final[dict[Shown, Glyph]] = {
    Shown.READY: Glyph("○", "o", "", "ready"),
    Shown.WAITING: Glyph("◌", ".", "muted", "waiting"),
    Shown.RUNNING: Glyph("◐", "*", "run", "running"),
    Shown.LANDING: Glyph("⇡", "^", "land", "landing"),
    Shown.DONE: Glyph("✓", "+", "good", "done"),
    Shown.NEEDS_YOU: Glyph("⚑", "!", "needs-you", "needs you"),
    Shown.FAILED: Glyph("✗", "x", "bad", "failed"),
    Shown.HELD: Glyph("‖", "=", "muted", "on hold"),
    Shown.COOLING: Glyph("◔", "z", "cool", "cooling"),
    Shown.CANCELLED: Glyph("–", "-", "muted", "cancelled"),
    Shown.ACTIVE: Glyph("●", "@", "run", "active"),
}


@frozen
class Symbols:
    """The marks that are not states. `plain`: the terminal draws ambiguous characters two cells wide, so
    everything is ASCII. `spark` goes from nothing to full."""

    plain: bool
    ellipsis: str
    open: str
    folded: str
    bar_full: str
    bar_empty: str
    spark: str
    branch: str
    last_branch: str
    trunk: str
    dot: str
    arrow: str

    def glyph(self, state: Shown) -> str:
        return GLYPHS[state].ascii if self.plain else GLYPHS[state].symbol

    def bar(self, share: float, width: int) -> str:
        """Draw a share of 0 to 1 as a bar. It is full only when it is over, and never empty once begun."""
        share = min(max(share, 0.0), 1.0)
        full = width if share == 1.0 else min(width - 1, max(round(share * width), 1 if share else 0))
        return self.bar_full * full + self.bar_empty * (width - full)

    def sparkline(self, values: tuple[float, ...]) -> str:
        """Draw values of 0 to 1, oldest first."""
        top = len(self.spark) - 1
        return "".join(self.spark[round(min(max(value, 0.0), 1.0) * top)] for value in values)


UNICODE: Final = Symbols(
    plain=False,
    ellipsis="…",
    open="▾",
    folded="▸",
    bar_full="▓",
    bar_empty="░",
    spark="▁▂▃▄▅▆▇",
    branch="├ ",
    last_branch="└ ",
    trunk="│ ",
    dot="·",
    arrow="→",
)

ASCII: Final = Symbols(
    plain=True,
    ellipsis="~",
    open="v",
    folded=">",
    bar_full="#",
    bar_empty=".",
    spark="_.-=+*#",
    branch="|-",
    last_branch="`-",
    trunk="| ",
    dot="-",
    arrow="->",
)
