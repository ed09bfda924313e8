"""The machine's own clock and randomness, behind the ports of `domain`."""

from __future__ import annotations

import random
import secrets
import time
from pathlib import Path

from recall.domain.clock import Instant


class SystemClock:
    """CLOCK_MONOTONIC of this boot, and the wall clock beside it."""

    def __init__(self) -> None:
        self._boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()

    def now(self) -> Instant:
        return Instant(self._boot, time.monotonic(), time.time())


class SystemRng:
    """The operating system's randomness."""

    def __init__(self) -> None:
        self._random = random.SystemRandom()

    def random(self) -> float:
        return self._random.random()

    def token(self, length: int = 8) -> str:
        return secrets.token_hex((length + 1) // 2)[:length]
