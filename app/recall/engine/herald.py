"""Tells a person what is worth a call, while the dispatcher runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from recall.config.settings import SignalSettings
from recall.domain.clock import Clock
from recall.domain.event import Event
from recall.domain.progress import Standing
from recall.domain.signals import Calls, QuietHours, Signal, all_done, signals_of

_FINISHING = frozenset({"task.done", "task.cancelled"})


class Herald:
    """`ways` are told of every signal that is due, `ring` rings the bell once for all of them: each must return at
    once."""

    def __init__(
        self,
        settings: SignalSettings,
        clock: Clock,
        zone: str,
        ways: Sequence[Callable[[Signal], None]],
        *,
        ring: Callable[[], None],
    ) -> None:
        self._calls = Calls(settings.on)
        self._quiet = QuietHours.parse(settings.quiet)
        self._clock = clock
        self._zone = zone
        self._ways = ways
        self._ring = ring if settings.bell else None

    def see(self, events: Sequence[Event], standing: Callable[[], Standing | None]) -> None:
        """Note what happened and call for what is due; to be called again and again, also without events.
        `standing` is asked when something was finished, and gives None while something else goes on."""
        now = self._clock.now()
        signals = signals_of(events)
        if any(event.kind in _FINISHING for event in events):
            where = standing()
            if where is not None and where.complete:
                signals.append(all_done(where.finished))
        self._calls.take(signals, now.mono)
        due = self._calls.due(now.mono, quiet=self._quiet.hold(now.wall, self._zone))
        if due and self._ring is not None:
            self._ring()
        for signal in due:
            for way in self._ways:
                way(signal)
