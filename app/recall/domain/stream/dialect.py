"""How one program's events are read: rules, which are data of its preset.

A rule names events by their kind (`type`, or `type/subtype`; globs are allowed), picks an element of them (`each`,
a path), asks something of it (`when`) and makes a fact of it, whose parts stand where `take` says or are given
(`put`). All rules that fit an event apply, in their order. A rule for every kind (`*`) makes no event a known one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Final, cast

from recall.domain.errors import ConfigError
from recall.domain.frozen import frozen
from recall.domain.stream.paths import Path

#: The facts that a rule may make, with the parts that each has.
FACTS: Final[Mapping[str, frozenset[str]]] = {
    "said": frozenset({"text", "part"}),
    "thought": frozenset({"text"}),
    "call": frozenset({"id", "tool", "input"}),
    "result": frozenset({"id", "text", "failed", "ok", "code"}),
    "session": frozenset({"id", "folder"}),
    "usage": frozenset({"key", "input", "output", "cached", "cost"}),
    "usage_total": frozenset({"input", "output", "cached", "cost"}),
    "error": frozenset({"text"}),
    "limit": frozenset({"window", "reset"}),
    "end": frozenset({"text", "failed", "ok", "code"}),
}
_KEYS: Final = frozenset({"on", "fact", "each", "when", "take", "put"})


@frozen
class Source:
    """Where a part of a fact stands: the paths, tried in turn, each a sum of one or more."""

    choices: tuple[tuple[Path, ...], ...]

    @classmethod
    def parse(cls, texts: Sequence[str]) -> Source:
        return cls(tuple(tuple(Path.parse(part.strip()) for part in text.split(" + ")) for text in texts))


@frozen
class Condition:
    """A path and the values of which one must stand there; with none, anything may."""

    path: Path
    values: tuple[object, ...]


@frozen
class Rule:
    on: str
    fact: str
    each: Path | None = None
    when: tuple[Condition, ...] = ()
    take: Mapping[str, Source] = field(default_factory=dict[str, Source])
    put: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, eq=False)
class Dialect:
    """`kind_keys` are the fields whose values, joined by `/`, are an event's kind. `quiet` are kinds of which
    nothing is shown; an event that is neither there nor in a rule is not known. `cost_of_session`: the price that a
    resumed session tells includes what it cost before."""

    rules: tuple[Rule, ...]
    quiet: tuple[str, ...] = ()
    kind_keys: tuple[str, ...] = ("type", "subtype")
    cost_of_session: bool = False

    def kind(self, event: Mapping[str, Any]) -> str:
        parts = (event.get(key) for key in self.kind_keys)
        return "/".join(part[:60] for part in parts if isinstance(part, str))

    def rules_for(self, kind: str) -> tuple[Rule, ...] | None:
        """The rules for a kind of event; None for one that is not known."""
        return _rules_for(self, kind)


@lru_cache(maxsize=512)
def _rules_for(dialect: Dialect, kind: str) -> tuple[Rule, ...] | None:
    found = tuple(rule for rule in dialect.rules if _names(rule.on, kind))
    known = any(rule.on != "*" for rule in found) or any(_names(quiet, kind) for quiet in dialect.quiet)
    return found if known else None


def _names(on: str, kind: str) -> bool:
    """`a` names `a` and every `a/b`."""
    return fnmatchcase(kind, on) or fnmatchcase(kind, f"{on}/*")


def dialect_of(table: Mapping[str, Any], base: Dialect | None = None) -> Dialect:
    """Read the `[stream]` table of a preset or an agent; its rules come before those of `base`. Raises ConfigError
    with what is wrong with it."""
    unknown = table.keys() - {"like", "kind", "quiet", "cost_of_session", "events"}
    if unknown:
        raise ConfigError(f"a stream has no {', '.join(sorted(unknown))}")
    events = table.get("events", ())
    if not isinstance(events, list | tuple):
        raise ConfigError("the events of a stream are a list of tables")
    rules = tuple(_rule(one, number) for number, one in enumerate(cast("Sequence[Any]", events), 1))
    return Dialect(
        rules=rules + (base.rules if base else ()),
        quiet=_texts(table.get("quiet", ()), "quiet") + (base.quiet if base else ()),
        kind_keys=_texts(table.get("kind", base.kind_keys if base else Dialect.kind_keys), "kind"),
        cost_of_session=bool(table.get("cost_of_session", base.cost_of_session if base else False)),
    )


def _rule(given: Any, number: int) -> Rule:
    place = f"stream event {number}"
    table = _table(given, place)
    fact, on = table.get("fact"), table.get("on")
    if not isinstance(fact, str) or fact not in FACTS or not isinstance(on, str):
        raise ConfigError(f"{place}: it needs `on` and a `fact` out of {', '.join(sorted(FACTS))}")
    take, put, when = (_table(table.get(name, {}), f"{place}: {name}") for name in ("take", "put", "when"))
    unknown = (table.keys() - _KEYS) | ((take.keys() | put.keys()) - FACTS[fact])
    if unknown:
        raise ConfigError(f"{place}: a {fact} has no {', '.join(sorted(unknown))}")
    each = table.get("each")
    return Rule(
        on=on,
        fact=fact,
        each=Path.parse(each) if isinstance(each, str) else None,
        when=tuple(Condition(Path.parse(path), _values(value)) for path, value in when.items()),
        take={part: Source.parse(_texts(value, f"{place}: {part}")) for part, value in take.items()},
        put=put,
    )


def _table(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{place} is no table")
    return cast("Mapping[str, Any]", value)


def _texts(value: Any, place: str) -> tuple[str, ...]:
    """A text, or a list of them."""
    texts = _values(value)
    if not all(isinstance(text, str) for text in texts):
        raise ConfigError(f"{place} is neither a text nor a list of texts")
    return cast("tuple[str, ...]", texts)


def _values(value: Any) -> tuple[object, ...]:
    return tuple(cast("Sequence[object]", value)) if isinstance(value, list | tuple) else (value,)
