"""From one line of an agent's output to what it says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

from recall.domain.stream.dialect import Condition, Dialect, Rule
from recall.domain.stream.facts import (
    Called,
    Ended,
    Fact,
    Failed,
    Limited,
    Returned,
    Said,
    SessionNamed,
    Thought,
    Used,
)
from recall.domain.stream.paths import MOST_ITEMS, Element, Path, number_of, walk
from recall.domain.stream.tools import MOST_TEXT, line_count, tool_of

#: A longer line is not taken apart.
LONGEST_EVENT: Final = 256 * 1024
_TEXT_KEYS: Final = ("text", "content", "output", "stdout", "message", "stderr", "error")
_DEEPEST: Final = 6


def facts_of(line: bytes, dialect: Dialect) -> tuple[Fact, ...] | None:
    """What a line says, which may be nothing worth showing. None: it is not an event that the dialect knows."""
    if len(line) > LONGEST_EVENT or not line.lstrip().startswith(b"{"):
        return None
    try:
        event: object = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(event, dict):
        return None
    known = cast("Mapping[str, Any]", event)
    rules = dialect.rules_for(dialect.kind(known))
    return None if rules is None else tuple(fact for rule in rules for fact in _facts(rule, known))


def _facts(rule: Rule, event: Mapping[str, Any]) -> Iterator[Fact]:
    for element in _elements(rule, event):
        if all(_holds(condition, element) for condition in rule.when):
            fact = _MAKERS[rule.fact](_Parts(rule, element))
            if fact is not None:
                yield fact


def _elements(rule: Rule, event: Mapping[str, Any]) -> list[Element]:
    """What a rule looks at; a list counts as its items."""
    if rule.each is None:
        return [Element(event, event)]
    if not rule.each.many:
        value = rule.each.first(Element(event, event))
        if isinstance(value, list):
            items = cast("list[Any]", value)[:MOST_ITEMS]
            return [Element(event, item, str(place)) for place, item in enumerate(items)]
        return [Element(event, value)] if value is not None else []
    return [Element(event, value, key) for key, value in walk(event, rule.each.steps)]


def _holds(condition: Condition, element: Element) -> bool:
    value = condition.path.first(element)
    return isinstance(value, str | bool | int) and value in condition.values


class _Parts:
    """The parts of one fact."""

    def __init__(self, rule: Rule, element: Element) -> None:
        self._rule = rule
        self._element = element

    def value(self, part: str) -> Any:
        if part in self._rule.put:
            return self._rule.put[part]
        for choice in self._choices(part):
            value = choice[0].first(self._element)
            if value is not None:
                return value
        return None

    def text(self, part: str) -> str:
        return text_of(self.value(part))

    def number(self, part: str) -> float | None:
        """The first choice that holds a number; a sum of what is there of it."""
        for choice in self._choices(part):
            numbers = [number_of(value) for path in choice for value in path.values(self._element)]
            found = [number for number in numbers if number is not None]
            if found:
                return sum(found)
        return None

    def count(self, part: str) -> int | None:
        number = self.number(part)
        return int(number) if number is not None else None

    def failed(self) -> bool:
        ok, code = self.value("ok"), self.value("code")
        wrong_code = number_of(abs(code)) not in (None, 0) if isinstance(code, int) else False
        return bool(self.value("failed")) or ok is False or wrong_code

    def _choices(self, part: str) -> tuple[tuple[Path, ...], ...]:
        source = self._rule.take.get(part)
        return source.choices if source is not None else ()


def text_of(value: Any, depth: int = 0) -> str:
    """The words in a value: text, a list of texts, an object that holds some under a usual name."""
    if isinstance(value, str):
        return value[:MOST_TEXT]
    if depth > _DEEPEST:
        return ""
    if isinstance(value, list):
        parts = (text_of(item, depth + 1) for item in cast("list[Any]", value)[:MOST_ITEMS])
        return "\n".join(part for part in parts if part)[:MOST_TEXT]
    if isinstance(value, dict):
        table = cast("Mapping[str, Any]", value)
        parts = (text_of(table.get(key), depth + 1) for key in _TEXT_KEYS)
        return next((part for part in parts if part), "")
    return ""


def _said(parts: _Parts) -> Fact | None:
    text = parts.text("text")
    return Said(text, part=bool(parts.value("part"))) if text else None


def _thought(parts: _Parts) -> Fact | None:
    text = parts.text("text").strip()
    return Thought(text) if text else None


def _call(parts: _Parts) -> Fact | None:
    return Called(parts.text("id")[:200], tool_of(parts.text("tool")[:200] or "tool", parts.value("input")))


def _result(parts: _Parts) -> Fact | None:
    value = parts.value("text")
    text = text_of(value)
    whole = value if isinstance(value, str) else text
    return Returned(parts.text("id")[:200], text, line_count(whole), failed=parts.failed())


def _session(parts: _Parts) -> Fact | None:
    id_ = parts.text("id")[:200]
    return SessionNamed(id_, parts.text("folder")[:1000]) if id_ else None


def _used(parts: _Parts, *, total: bool = False) -> Fact | None:
    """All zero means that the program does not know."""
    tokens = [parts.count(part) for part in ("input", "output", "cached")]
    cost = parts.number("cost") or None
    if not any(tokens) and cost is None:
        return None
    return Used(*tokens, cost_usd=cost, total=total, key=parts.text("key")[:200])


def _failed(parts: _Parts) -> Fact | None:
    text = parts.text("text").strip()
    return Failed(text) if text else None


def _limited(parts: _Parts) -> Fact | None:
    return Limited(parts.text("window")[:80], parts.number("reset"))


def _ended(parts: _Parts) -> Fact | None:
    return Ended(parts.text("text").strip(), failed=parts.failed())


_MAKERS: Final[Mapping[str, Callable[[_Parts], Fact | None]]] = {
    "said": _said,
    "thought": _thought,
    "call": _call,
    "result": _result,
    "session": _session,
    "usage": _used,
    "usage_total": lambda parts: _used(parts, total=True),
    "error": _failed,
    "limit": _limited,
    "end": _ended,
}
