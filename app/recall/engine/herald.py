"""Tells a person what is worth a call, while the dispatcher runs, and what an earlier one had no time to tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from recall.config.settings import SignalSettings
from recall.domain.clock import Clock
from recall.domain.event import Event
from recall.domain.progress import Standing
from recall.domain.signals import REPEAT, Call, Calls, QuietHours, Signal, all_done, joined, signals_of
from recall.engine.notices import Notices

_FINISHING = frozenset({"task.done", "task.cancelled"})


class Herald:
    """`screen` is told of every signal that is due, `notices` calls outside, and `ring` rings the bell once for all
    of them: each returns at once."""

    def __init__(
        self,
        settings: SignalSettings,
        clock: Clock,
        zone: str,
        screen: Callable[[Signal], None],
        *,
        ring: Callable[[], None],
        notices: Notices | None = None,
    ) -> None:
        self._calls = Calls(settings.on)
        self._quiet = QuietHours.parse(settings.quiet)
        self._clock = clock
        self._zone = zone
        self._screen = screen
        self._ring = ring if settings.bell else None
        self._notices = notices

    def catch_up(self, events: Sequence[Event], holds: Callable[[Event], bool], *, complete: int | None) -> None:
        """Take up, from `events` (oldest first), what no earlier dispatcher told outside and what `holds` still.
        `complete`: so many tasks are finished, and no others are left."""
        if self._notices is None:
            return
        now, told = self._clock.now(), self._notices.told()
        calls: list[Call] = []
        last = _last_finish(events)
        for event in events:
            signals = signals_of([event])
            if complete is not None and event is last:
                signals.append(all_done(complete))
            for signal in signals:
                if event.seq > told.get(signal.kind, 0):
                    calls += [Call(signal, event.seq)] if holds(event) else []
                elif now.wall - event.at < REPEAT:
                    self._calls.remember([signal], now.mono - max(now.wall - event.at, 0.0))
        self._repeat(self._notices, calls)

    def _repeat(self, notices: Notices, calls: list[Call]) -> None:
        """Make again, as it was, what was begun and of which nobody knows; the rest is as if it had just happened."""
        begun = dict(notices.unanswered())
        for kind, seq in begun.items():
            again = [call for call in calls if call.signal.kind == kind and call.seq <= seq]
            if again:
                notices.call(Call(joined(again).signal, seq))
            else:
                notices.let_go(kind, seq)
        for call in calls:
            if call.seq > begun.get(call.signal.kind, 0):
                self._calls.take([call.signal], call.seq, self._clock.now().mono)

    def see(self, events: Sequence[Event], standing: Callable[[], Standing | None]) -> None:
        """Note what happened and call for what is due; to be called again and again, also without events.
        `standing` is asked when something was finished, and gives None while something else goes on."""
        now = self._clock.now()
        for event in events:
            self._calls.take(signals_of([event]), event.seq, now.mono)
        last = _last_finish(events)
        if last is not None:
            where = standing()
            if where is not None and where.complete:
                self._calls.take([all_done(where.finished)], last.seq, now.mono)
        due = self._calls.due(now.mono, quiet=self._quiet.hold(now.wall, self._zone))
        if due and self._ring is not None:
            self._ring()
        for call in due:
            self._screen(call.signal)
            if self._notices is not None:
                self._notices.call(call)


def _last_finish(events: Sequence[Event]) -> Event | None:
    return next((event for event in reversed(events) if event.kind in _FINISHING), None)
