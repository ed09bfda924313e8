"""Whether two path globs could name the same file. In doubt they could."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import TypeVar, cast

_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_MAX_ALTERNATIVES = 64
_MAX_PAIRS = 250_000

#: One place of a segment: a run of stars, `?`, a character set, an escaped or a plain character.
_PLACE = re.compile(r"\*+|\?|\[(?P<not>[!^])?(?P<set>\]?[^\]]+)\]|\\.|.", re.DOTALL)
_RANGE = re.compile(r"(.)(?:-(.))?", re.DOTALL)

_STAR = "*"
_ANY_DEPTH = "**"

#: The characters that one place of a segment accepts: (negated, code point ranges).
_Place = tuple[bool, tuple[tuple[str, str], ...]]
_Token = _Place | str
_ANY: _Place = (True, ())
_T = TypeVar("_T")


def overlapping(ours: Iterable[str], theirs: Iterable[str]) -> tuple[str, str] | None:
    """Give the first pair of globs, one of each side, that could match one path."""
    return next(((a, b) for a, b in product(ours, theirs) if overlap(a, b)), None)


@lru_cache(maxsize=4096)
def overlap(a: str, b: str) -> bool:
    """Say whether some path matches both globs.

    `**` crosses folders, `*`, `?` and `[…]` do not, `{a,b}` is either. A glob covers what is inside a folder
    that it matches, unless it ends in something like `*.py`; one with a wildcard but no slash matches at any
    depth.
    """
    return any(_paths_meet(one, other) for one, other in product(_alternatives(a), _alternatives(b)))


def _alternatives(glob: str) -> list[tuple[str, ...]]:
    expanded = [glob]
    while any(_BRACES.search(one) for one in expanded):
        expanded = [wider for one in expanded for wider in _expand_once(one)]
        if len(expanded) > _MAX_ALTERNATIVES:
            return [(_ANY_DEPTH,)]
    return [_segments(one) for one in expanded]


def _expand_once(glob: str) -> list[str]:
    braces = _BRACES.search(glob)
    if braces is None:
        return [glob]
    return [glob[: braces.start()] + choice + glob[braces.end() :] for choice in braces[1].split(",")]


def _segments(glob: str) -> tuple[str, ...]:
    parts = tuple(part for part in glob.strip().split("/") if part not in {"", "."})
    if ".." in parts:
        return (_ANY_DEPTH,)
    anywhere = "/" not in glob.strip().rstrip("/") and _wild(glob)
    files_only = bool(parts) and _wild(parts[-1]) and "." in parts[-1]
    return ((_ANY_DEPTH,) if anywhere else ()) + parts + (() if files_only else (_ANY_DEPTH,))


def _wild(glob: str) -> bool:
    return any(mark in glob for mark in "*?[")


def _paths_meet(a: Sequence[str], b: Sequence[str]) -> bool:
    return _meet(a, b, _ANY_DEPTH, _segments_meet)


def _segments_meet(a: str, b: str) -> bool:
    return a == b or _meet(_places(a), _places(b), _STAR, _places_meet)


def _meet(a: Sequence[_T], b: Sequence[_T], many: _T, fits: Callable[[_T, _T], bool]) -> bool:
    """Walk both at once, where `many` stands for any number of items: is there a sequence that both accept?"""
    if len(a) * len(b) > _MAX_PAIRS:
        return True
    todo, seen = [(0, 0)], {(0, 0)}
    while todo:
        i, j = todo.pop()
        if i == len(a) and j == len(b):
            return True
        for step in _steps(a, b, (i, j), many, fits):
            if step not in seen:
                seen.add(step)
                todo.append(step)
    return False


def _steps(
    a: Sequence[_T], b: Sequence[_T], at: tuple[int, int], many: _T, fits: Callable[[_T, _T], bool]
) -> Iterator[tuple[int, int]]:
    i, j = at
    left, right = i < len(a), j < len(b)
    if (left and a[i] == many) or (right and b[j] == many):
        if left:
            yield i + 1, j
        if right:
            yield i, j + 1
    if left and right and many not in (a[i], b[j]) and fits(a[i], b[j]):
        yield i + 1, j + 1


@lru_cache(maxsize=4096)
def _places(segment: str) -> tuple[_Token, ...]:
    return tuple(_token(match) for match in _PLACE.finditer(segment))


def _token(match: re.Match[str]) -> _Token:
    text = match[0]
    if text.startswith("*"):
        return _STAR
    if text == "?":
        return _ANY
    if match["set"] is None:
        return False, ((text[-1], text[-1]),)
    ranges = tuple((low, high or low) for low, high in _RANGE.findall(match["set"]))
    return bool(match["not"]), ranges


def _places_meet(a: _Token, b: _Token) -> bool:
    (a_not, a_ranges), (b_not, b_ranges) = cast(_Place, a), cast(_Place, b)
    if a_not and b_not:
        return True
    if a_not != b_not:
        wanted, barred = (b_ranges, a_ranges) if a_not else (a_ranges, b_ranges)
        return not all(any(low <= x and y <= high for low, high in barred) for x, y in wanted)
    return any(x <= high and low <= y for x, y in a_ranges for low, high in b_ranges)
