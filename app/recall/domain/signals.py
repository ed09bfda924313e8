"""What is worth calling a person for, and when: once for one thing, several at once together, never at night."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from zoneinfo import ZoneInfo

from recall.domain.event import Event
from recall.domain.frozen import frozen
from recall.domain.task import TaskRef
from recall.domain.text import clean_line, clip

#: Between two calls of one kind, in seconds: what comes together is told together.
_PAUSE = 30.0
#: The same thing with the same words is not told again for so long, in seconds.
REPEAT = 600.0
_MOST_NAMED = 4
_TEXT = 200


class SignalKind(StrEnum):
    """The occasions, as recall.toml names them."""

    NEEDS_YOU = "needs-you"
    ALL_DONE = "all-done"
    LIMIT = "limit"
    MAIN_RED = "main-red"


@frozen
class Signal:
    """`subject` is what it is about; `title` and `text` are one line each."""

    kind: SignalKind
    subject: str
    title: str
    text: str


@frozen
class Call:
    """A signal that is to be told now. `seq` is the newest event that it tells of."""

    signal: Signal
    seq: int


def signals_of(events: Sequence[Event]) -> list[Signal]:
    """Give what these events call a person for. That everything is done cannot be read from events."""
    return [signal for event in events if (signal := _signal_of(event)) is not None]


def all_done(finished: int) -> Signal:
    text = f"{finished} tasks are finished" if finished != 1 else "the only task is finished"
    return Signal(SignalKind.ALL_DONE, "", "all done", text)


def _signal_of(event: Event) -> Signal | None:
    why = clip(clean_line(event.reason.partition("\n")[0]), _TEXT)
    if event.after == "needs_person" and event.region and event.task:
        subject = str(TaskRef(event.region, event.task))
        return Signal(SignalKind.NEEDS_YOU, subject, f"{subject} needs you", why)
    if event.kind in ("agent.stopped", "agent.suspected"):
        return Signal(SignalKind.NEEDS_YOU, event.agent or "", f"{event.agent} needs you", why)
    if event.kind == "merge.waiting_checkout" and event.region and event.task:
        subject = str(TaskRef(event.region, event.task))
        return Signal(SignalKind.NEEDS_YOU, subject, f"{subject} waits for your checkout", why)
    if event.kind == "merge.pull_request" and event.before == event.after and event.region and event.task:
        subject = str(TaskRef(event.region, event.task))
        return Signal(SignalKind.NEEDS_YOU, subject, f"{subject}'s pull request needs you", why)
    if event.kind == "agent.cooling":
        return Signal(SignalKind.LIMIT, event.agent or "", f"{event.agent} is at a limit", why)
    if event.kind == "main.red":
        return Signal(SignalKind.MAIN_RED, "", "main is red", why)
    return None


@frozen
class QuietHours:
    """From `begin` to `end`, in minutes after midnight; over midnight when `end` is earlier. Equal: never."""

    begin: int = 0
    end: int = 0

    @staticmethod
    def parse(text: str) -> QuietHours:
        """Read `22:00-07:00`, or "" for never. Raises ValueError for anything else."""
        if not text:
            return QuietHours()
        begin, _, end = text.partition("-")
        return QuietHours(_minutes(begin), _minutes(end))

    def hold(self, wall: float, zone: str) -> bool:
        """Tell whether nobody wants to be called at this moment (wall seconds UTC)."""
        local = datetime.fromtimestamp(wall, ZoneInfo(zone))
        minute = local.hour * 60 + local.minute
        if self.begin <= self.end:
            return self.begin <= minute < self.end
        return minute >= self.begin or minute < self.end


def _minutes(text: str) -> int:
    hour, _, minute = text.strip().partition(":")
    if not (len(minute) == 2 and hour.isdigit() and minute.isdigit() and int(hour) < 24 and int(minute) < 60):
        raise ValueError(f"{text!r} is no time of day")
    return int(hour) * 60 + int(minute)


class Calls:
    """Remembers what was told, and what waits to be. Times are seconds of one monotonic clock."""

    def __init__(self, kinds: Iterable[str]) -> None:
        self._kinds = frozenset(kinds)
        self._waiting: list[Call] = []
        self._told: dict[Signal, float] = {}
        self._last: dict[SignalKind, float] = {}

    def take(self, signals: Iterable[Signal], seq: int, now: float) -> None:
        """Note what the event `seq` brought; what nobody wants to hear of, or heard just now, is dropped."""
        self._told = {signal: at for signal, at in self._told.items() if now - at < REPEAT}
        for signal in signals:
            if signal.kind in self._kinds and signal not in self._told:
                self._told[signal] = now
                self._waiting.append(Call(signal, seq))

    def remember(self, signals: Iterable[Signal], at: float) -> None:
        """Note that these were told at a moment before now."""
        self._told.update(dict.fromkeys(signals, at))

    def due(self, now: float, *, quiet: bool) -> list[Call]:
        """Give what is to be told now, one a kind."""
        if quiet:
            return []
        ready = {one.signal.kind for one in self._waiting if self._may_call(one.signal.kind, now)}
        self._last.update(dict.fromkeys(ready, now))
        told = [
            joined([one for one in self._waiting if one.signal.kind is kind]) for kind in SignalKind if kind in ready
        ]
        self._waiting = [one for one in self._waiting if one.signal.kind not in ready]
        return told

    def _may_call(self, kind: SignalKind, now: float) -> bool:
        return now - self._last.get(kind, now - _PAUSE) >= _PAUSE


def joined(calls: Sequence[Call]) -> Call:
    """Make one call of those of one kind."""
    return Call(_joined([call.signal for call in calls]), calls[-1].seq)


def _joined(signals: Sequence[Signal]) -> Signal:
    first = signals[0]
    subjects = list(dict.fromkeys(one.subject for one in signals if one.subject))
    if len(subjects) < 2:
        return signals[-1]
    named = ", ".join(subjects[:_MOST_NAMED])
    more = f" and {len(subjects) - _MOST_NAMED} more" if len(subjects) > _MOST_NAMED else ""
    what = "agents are at a limit" if first.kind is SignalKind.LIMIT else "need you"
    return Signal(first.kind, named, f"{len(subjects)} {what}", named + more)
