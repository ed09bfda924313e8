"""Time as a value that is passed in. Deciders never read a clock themselves."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from recall.domain.frozen import frozen


class Instant(NamedTuple):
    """One reading of every clock that matters, taken together.

    `boot` is the kernel's boot id and `mono` its CLOCK_MONOTONIC in seconds: together they order events of
    one machine and stand still while it sleeps. `wall` is seconds since 1970 UTC, for people and for the
    reset times that providers print; leases never depend on it.
    """

    boot: str
    mono: float
    wall: float


class Clock(Protocol):
    """Whatever can say what time it is: the system's clock, or one that a test moves."""

    def now(self) -> Instant: ...


@frozen
class Deadline:
    """A moment on the monotonic clock of one boot. Another boot means that it has passed."""

    boot: str
    mono: float

    def passed(self, now: Instant) -> bool:
        """At the exact moment it counts as passed: the holder may act strictly before it only."""
        return now.boot != self.boot or self.mono <= now.mono
