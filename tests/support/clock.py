"""A clock that stands still until a test moves it."""

from __future__ import annotations

from recall.domain.clock import Instant


class FakeClock:
    """`mono` and `wall` move together with `advance`, or apart when they are set. With `tick` every reading is
    that many seconds after the one before."""

    def __init__(
        self, mono: float = 100.0, wall: float = 1_700_000_000.0, boot: str = "boot-1", *, tick: float = 0.0
    ) -> None:
        self.mono = mono
        self.wall = wall
        self.boot = boot
        self.tick = tick
        self.readings = 0

    def now(self) -> Instant:
        self.readings += 1
        self.advance(self.tick)
        return Instant(self.boot, self.mono, self.wall)

    def advance(self, seconds: float) -> None:
        self.mono += seconds
        self.wall += seconds

    def sleep(self, seconds: float) -> None:
        """The machine sleeps: the wall clock moves on, the monotonic one stands still."""
        self.wall += seconds

    def reboot(self, boot: str = "boot-2") -> None:
        self.boot = boot
        self.mono = 1.0
