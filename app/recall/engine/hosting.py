"""What a front end and the dispatcher that it hosts tell each other; the dispatcher itself is slow to import."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum

from recall.domain.event import Event
from recall.domain.frozen import frozen
from recall.domain.signals import Signal


class Stopping(IntEnum):
    """How far a stop has gone. `drain`: nothing new, what runs finishes and lands. `halt`: agents stop too."""

    NO = 0
    DRAIN = 1
    HALT = 2


@frozen
class Listener:
    """What a front end is told: new events, trouble of the engine itself, and what is worth calling a person for.
    Called from engine threads."""

    events: Callable[[Sequence[Event]], None] = lambda _: None
    trouble: Callable[[str], None] = lambda _: None
    signal: Callable[[Signal], None] = lambda _: None
    ring: Callable[[], None] = lambda: None
