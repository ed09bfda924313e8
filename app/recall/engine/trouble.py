"""Trouble is told when it comes, and again only now and then while it stays."""

from __future__ import annotations

import threading
from collections.abc import Callable

from recall.domain.clock import Clock

_REMIND_AFTER = 60.0
_REMEMBERED = 100


class TroubleTeller:
    """Passes each sentence on at most once a minute. May be called from any thread."""

    def __init__(self, tell: Callable[[str], None], clock: Clock) -> None:
        self._tell = tell
        self._clock = clock
        self._lock = threading.Lock()
        self._told: dict[str, float] = {}

    def __call__(self, text: str) -> None:
        now = self._clock.now().mono
        with self._lock:
            if now - self._told.get(text, -_REMIND_AFTER) < _REMIND_AFTER:
                return
            if len(self._told) >= _REMEMBERED:
                self._told.clear()
            self._told[text] = now
        self._tell(text)
