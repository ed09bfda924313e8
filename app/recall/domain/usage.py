"""What an agent's output says of usage limits: the values. The reading of them is `domain.limits`."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from recall.domain.frozen import frozen

#: How much of a log's end is read for limits: events may take many lines.
TAIL_LINES = 60
TAIL_BYTES = 256 * 1024


class LimitClass(StrEnum):
    """`limit` waits for the reset, `credit` and `auth` call a person, `transient` backs off."""

    LIMIT = "limit"
    CREDIT = "credit"
    AUTH = "auth"
    TRANSIENT = "transient"
    NONE = "none"


class LimitPatterns(NamedTuple):
    """Regular expressions (Python `re`, matched without case) in error position, by class."""

    limit: tuple[str, ...] = ()
    credit: tuple[str, ...] = ()
    auth: tuple[str, ...] = ()
    transient: tuple[str, ...] = ()


@frozen
class LimitFinding:
    """What was made of a log. `limited`: no new run before `reset_at` (wall seconds UTC, None when no time
    could be read). `matched` is the cleaned line it was read from, `source` where (`event`, `text`)."""

    kind: LimitClass = LimitClass.NONE
    limited: bool = False
    reset_at: float | None = None
    matched: str = ""
    source: str = ""
    reason: str = ""
