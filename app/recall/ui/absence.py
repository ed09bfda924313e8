"""Whether a person was away, since when, and what happened meanwhile."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from recall.domain.event import Event
from recall.domain.words import elapsed

#: So many seconds without a key or a click are an absence.
LONG = 3600.0
#: How far back a report goes for somebody who was not away.
_USUAL = 86_400.0


class Away(NamedTuple):
    """From wall second `since`, when the newest event was `seq`, to `until`."""

    since: float
    until: float
    seq: int


class Absence:
    """Told of every key and click."""

    def __init__(self) -> None:
        self._last: tuple[float, int] | None = None
        self._since: float | None = None

    def touched(self, now: float, seq: int) -> Away | None:
        """Note a sign of the person at wall second `now`, the newest event being `seq`. Gives the absence that it
        ends, if it was a long one."""
        last, self._last = self._last, (now, seq)
        if last is None or now - last[0] < LONG:
            return None
        self._since = last[0]
        return Away(last[0], now, last[1])

    def since(self, now: float) -> float:
        """From when on a report tells what the person does not know yet."""
        return self._since if self._since is not None else now - _USUAL


def greeting(away: Away, events: Iterable[Event], key: str) -> str:
    """What to say to somebody who comes back; "" when nothing came to an end meanwhile. `key` opens the report."""
    kinds = [event.kind for event in events]
    ended = kinds.count("run.settled")
    if not ended:
        return ""
    landed = sum(kind == "merge.landed" for kind in kinds)
    needs = sum(kind == "task.needs_person" for kind in kinds)
    parts = [f"{landed} landed", f"{ended - landed} did not" if ended > landed else ""]
    parts.append(f"{needs} came to need you" if needs else "")
    said = ", ".join(part for part in parts if part)
    return f"while you were away ({elapsed(away.until - away.since)}): {said}. {key} shows the report"
