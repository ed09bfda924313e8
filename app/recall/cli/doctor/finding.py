"""What a look at one thing found."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from recall.domain.frozen import frozen


class Grade(StrEnum):
    """`note` is worth knowing and needs nothing; `wrong` must be mended."""

    FINE = "fine"
    NOTE = "note"
    WRONG = "wrong"


@frozen
class Finding:
    """`mend` says how a person mends it; `fix` does it where that is safe without asking, and says what it did."""

    about: str
    grade: Grade
    what: str
    mend: str = ""
    fix: Callable[[], str] | None = None

    @property
    def good(self) -> bool:
        return self.grade is not Grade.WRONG


def fine(about: str, what: str) -> Finding:
    return Finding(about, Grade.FINE, what)


def note(about: str, what: str, mend: str = "") -> Finding:
    return Finding(about, Grade.NOTE, what, mend)


def wrong(about: str, what: str, mend: str = "", fix: Callable[[], str] | None = None) -> Finding:
    return Finding(about, Grade.WRONG, what, mend, fix)
