"""How long verifications took, from what happened in the merge queue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from recall.domain.event import Event

#: A verification that is over sooner, in seconds, was none: its verdict was known.
_REMEMBERED = 0.1


class Verifications:
    """Takes events in their order, in as many portions as they come in."""

    def __init__(self) -> None:
        self._begun: dict[int, float] = {}

    def see(self, events: Iterable[Event]) -> Iterator[float]:
        """Give the seconds of each verification that ends among these events. A verdict that was remembered took no
        time, and says nothing."""
        for event in events:
            if event.merge_id is None:
                continue
            began = self._begun.pop(event.merge_id, None)
            if event.kind == "merge.verifying":
                self._begun[event.merge_id] = event.at
            if began is not None and event.at - began >= _REMEMBERED:
                yield event.at - began
