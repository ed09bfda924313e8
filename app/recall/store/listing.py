"""A list laid out as the store keeps it: all of an import that needs no database."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from recall.domain.imports import Edge, Listing, Value
from recall.domain.task import TaskRef, TaskSpec
from recall.domain.text import clean, clean_line
from recall.store.chains import Cycle, longest_behind

#: The columns of a task that its list decides, in the order of `Listing.rows`, with the words for what changed there.
COLUMNS: Mapping[str, str] = {
    "title": "title",
    "body": "text",
    "type": "type",
    "listed_priority": "priority",
    "agents": "agents",
    "verify": "verify",
    "touches": "touches",
    "timeout_s": "timeout",
    "max_attempts": "attempts",
    "is_group": "group",
    "parent": "group",
}


def lay_out(region: str, specs: Sequence[TaskSpec]) -> Listing:
    cleaned = {TaskRef(region, spec.id): _cleaned(spec) for spec in specs}
    return Listing(
        region=region,
        specs=cleaned,
        rows={ref: _row(spec) for ref, spec in cleaned.items()},
        edges=frozenset(edge for ref, spec in cleaned.items() for edge in _edges(ref, spec)),
        behind=_behind(cleaned),
        outside=tuple((ref, need) for ref, spec in cleaned.items() for need in spec.after if need not in cleaned),
        problems=(*_twins(specs), *_without_group(cleaned)),
    )


def _behind(specs: Mapping[TaskRef, TaskSpec]) -> Mapping[TaskRef, int] | None:
    needs = {ref: spec.after for ref, spec in specs.items()}
    found = longest_behind(
        needs, {ref: TaskRef(ref.region, spec.parent) for ref, spec in specs.items() if spec.parent}
    )
    return None if isinstance(found, Cycle) else found


def _cleaned(spec: TaskSpec) -> TaskSpec:
    title, body = clean_line(spec.title), clean(spec.body)
    return spec if (title, body) == (spec.title, spec.body) else replace(spec, title=title, body=body)


def _row(spec: TaskSpec) -> tuple[Value, ...]:
    return (
        spec.title,
        spec.body,
        spec.type,
        spec.priority,
        _array(spec.agents),
        spec.verify,
        _array(spec.touches),
        spec.timeout_s,
        spec.attempts,
        int(spec.is_group),
        spec.parent,
    )


def _array(strings: Collection[str]) -> str:
    return json.dumps(strings) if strings else "[]"


def _edges(ref: TaskRef, spec: TaskSpec) -> Iterator[Edge]:
    for need in spec.after:
        yield ref.region, ref.id, need.region, need.id


def _twins(specs: Sequence[TaskSpec]) -> Iterator[str]:
    for id_, count in Counter(spec.id for spec in specs).items():
        if count > 1:
            yield f"{id_} stands in the list {count} times"


def _without_group(specs: Mapping[TaskRef, TaskSpec]) -> Iterator[str]:
    for ref, spec in specs.items():
        if spec.parent and TaskRef(ref.region, spec.parent) not in specs:
            yield f"{ref}: its group {spec.parent} is not in the list"
