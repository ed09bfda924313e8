"""Where something stands in an event: dotted paths, as presets write them.

`a.b` goes into objects, `*` into every value of an object or item of a list, a leading `/` begins at the event
instead of the element that a rule looks at, `.` is that element itself and `@key` the name it stands under.
`a + b` adds numbers. Nothing here fails on an event of another shape: it finds nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from recall.domain.frozen import frozen

#: So many items of one list are looked at; a hostile event has more.
MOST_ITEMS: Final = 200
_LARGEST: Final = 1 << 53


@frozen
class Element:
    """What a rule looks at: a value in an event, and the name or place it stands under."""

    event: Mapping[str, Any]
    value: Any
    key: str = ""


@frozen
class Path:
    """A compiled path."""

    steps: tuple[str, ...]
    from_event: bool = False
    of_key: bool = False
    many: bool = False

    @classmethod
    def parse(cls, text: str) -> Path:
        if text == "@key":
            return cls((), of_key=True)
        bare = text.removeprefix("/")
        steps = tuple(step for step in bare.split(".") if step)
        return cls(steps, from_event=bare != text, many="*" in steps)

    def values(self, element: Element) -> Iterable[Any]:
        """Everything that stands there, None excluded."""
        if self.many:
            root = element.event if self.from_event else element.value
            return (value for _, value in walk(root, self.steps) if value is not None)
        value = self.first(element)
        return () if value is None else (value,)

    def first(self, element: Element) -> Any:
        """What stands there; None: nothing."""
        if self.of_key:
            return element.key
        if self.many:
            return next(iter(self.values(element)), None)
        value: Any = element.event if self.from_event else element.value
        for step in self.steps:
            if not isinstance(value, dict):
                return None
            value = cast("dict[str, Any]", value).get(step)
        return value


def walk(value: Any, steps: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Everything that a path leads to, with the name it stands under."""
    found = [("", value)]
    for step in steps:
        found = [inner for _, outer in found for inner in _inner(outer, step)][:MOST_ITEMS]
    yield from found


def _inner(value: Any, step: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        if step == "*":
            yield from table.items()
        elif step in table:
            yield step, table[step]
    elif isinstance(value, list) and step == "*":
        yield from ((str(place), item) for place, item in enumerate(cast("list[Any]", value)[:MOST_ITEMS]))


def number_of(value: Any) -> float | None:
    """A number that can be counted with; no truth value, nothing endless, nothing below zero."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 <= value < _LARGEST and math.isfinite(value) else None
