"""Prerequisite expressions: `T-1, T-2 and web:T-3`, `T-01..T-09`, `none`."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from recall.domain.frozen import frozen
from recall.domain.task import TaskRef
from recall.tasklist.ids import is_id, is_number
from recall.tasklist.inline import without_comments

_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
_PARENTHESES = re.compile(r"[(（][^()（）]*[)）]")
_MARKS = re.compile(r"[*`\[\]~\"'“”{}<>]+")
_PART = re.compile(r"[,，;；、\n]|\s[&+]\s|\band\b|和|及|與|与", re.IGNORECASE)
_NONE = re.compile(r"(?:none|nothing|no|nil|n/?a|-+|—+|–+|无|無|没有|沒有)(?![\w-])", re.IGNORECASE)
_RANGE_SIGN = re.compile(r"\.{2,3}|…|[–—~]")
_SPACED_RANGE = re.compile(
    r"(?<=\w)\s+(?:-\s+(?=[A-Za-z]+[-_]?\d)|(?:to|through|thru|至|到)\s+(?=#?[A-Za-z]*[-_]?\d))", re.IGNORECASE
)
_AROUND_SIGN = re.compile(r"(?<=\d)\s*(?:\.{2,3}|…|[–—])\s*(?=[A-Za-z]+[-_]?\d)")
_REGION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_LAST_NUMBER = re.compile(r"(.*?)(\d+)([A-Za-z]?)")
_OPENING_WORDS = frozenset({"task", "tasks", "item", "items", "任務", "任务", "both"})


@frozen
class References:
    """What an expression names. `unknown` are ids that the list lacks, `unread` what could not be made out;
    `bad` are full sentences about ranges."""

    refs: tuple[TaskRef, ...] = ()
    unknown: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()


@dataclass(slots=True)
class _Gathered:
    refs: list[TaskRef] = field(default_factory=list[TaskRef])
    unknown: list[str] = field(default_factory=list[str])
    unread: list[str] = field(default_factory=list[str])
    bad: list[str] = field(default_factory=list[str])


class Index:
    """The ids of one list, ordered so that a range costs only what it names."""

    def __init__(self, region: str, ids: Iterable[str]) -> None:
        self.region = region
        self.ids: Collection[str] = frozenset(ids)
        self._series: dict[str, list[tuple[int, str]]] = {}
        for id in self.ids:
            match = _LAST_NUMBER.fullmatch(id)
            if match:
                self._series.setdefault(match[1], []).append((int(match[2]), id))
        for series in self._series.values():
            series.sort()

    def between(self, first: str, last: str) -> list[str] | None:
        """Give the ids of a range, ends included; None when the two ends are not of one series."""
        low, high = _LAST_NUMBER.fullmatch(first), _LAST_NUMBER.fullmatch(last)
        if low is None or high is None or low[1] != (high[1] or low[1]) or int(low[2]) > int(high[2]):
            return None
        series = self._series.get(low[1], [])
        start = bisect_left(series, (int(low[2]), ""))
        stop = bisect_right(series, (int(high[2]) + 1, ""))
        return [id for _, id in series[start:stop]]


def read_references(value: str, index: Index) -> References:
    """Read a prerequisite field's value. Nothing is dropped in silence: a part without an id is `unread`."""
    if value in index.ids:
        return References((TaskRef(index.region, value),))
    text = _LINK.sub(r"\1", without_comments(value)).strip()
    plain = _MARKS.sub("", _PARENTHESES.sub(" ", text)).strip()
    if not any(map(str.isalnum, plain)):
        plain = _MARKS.sub("", re.sub(r"[()（）]", " ", text)).strip()
    if _says_none(plain, index):
        return References()
    gathered = _Gathered()
    for part in _PART.split(_ranges_joined(plain)):
        if part.strip():
            _read_part(part.strip(), index, gathered)
    if not gathered.refs and not gathered.unknown and not gathered.bad and not gathered.unread:
        gathered.unread.append(value.strip())
    return References(
        tuple(dict.fromkeys(gathered.refs)),
        tuple(dict.fromkeys(gathered.unknown)),
        tuple(gathered.unread),
        tuple(gathered.bad),
    )


def _says_none(plain: str, index: Index) -> bool:
    match = _NONE.match(plain)
    return match is not None and not any(
        _may_name(word, index) for word in re.split(r"[\s,;]+", plain[match.end() :])
    )


def _may_name(word: str, index: Index) -> bool:
    bare = word.strip(".:")
    return bare in index.ids or (is_id(bare) and not is_number(bare))


def _ranges_joined(text: str) -> str:
    return _AROUND_SIGN.sub("..", _SPACED_RANGE.sub("..", text))


def _read_part(part: str, index: Index, gathered: _Gathered) -> None:
    """Read one comma's worth. Behind the first other word the rest is a remark: only known ids count there."""
    before = len(gathered.refs) + len(gathered.unknown) + len(gathered.bad)
    remark = False
    for word in part.split():
        token = word.strip(".,;:!?()（）").removeprefix("#")
        if not token or (not remark and token.casefold() in _OPENING_WORDS):
            continue
        if remark:
            _known_in_remark(token, index, gathered)
        elif not _read_token(token, index, gathered):
            remark = True
    if len(gathered.refs) + len(gathered.unknown) + len(gathered.bad) == before:
        gathered.unread.append(part)


def _known_in_remark(token: str, index: Index, gathered: _Gathered) -> None:
    if token in index.ids and not is_number(token):
        gathered.refs.append(TaskRef(index.region, token))


def _read_token(token: str, index: Index, gathered: _Gathered) -> bool:
    region, colon, id = token.rpartition(":")
    if colon and _REGION.fullmatch(region) and is_id(id):
        _add(TaskRef(region, id), index, gathered)
        return True
    if token in index.ids or (is_id(token) and not _hyphen_range(token, index)):
        _add(TaskRef(index.region, token), index, gathered)
        return True
    return _read_range(token, index, gathered)


def _add(ref: TaskRef, index: Index, gathered: _Gathered) -> None:
    if ref.region == index.region and ref.id not in index.ids:
        gathered.unknown.append(ref.id)
    gathered.refs.append(ref)


def _hyphen_range(token: str, index: Index) -> tuple[str, str] | None:
    """Take `T001-T003` apart, when both ends exist and the whole does not."""
    for match in re.finditer("-", token):
        first, last = token[: match.start()], token[match.end() :]
        if first in index.ids and last in index.ids:
            return first, last
    return None


def _read_range(token: str, index: Index, gathered: _Gathered) -> bool:
    ends = _hyphen_range(token, index)
    if ends is None:
        parts = _RANGE_SIGN.split(token)
        if len(parts) != 2 or not all(is_id(part) for part in parts):
            return False
        ends = parts[0], parts[1]
    ids = index.between(*ends)
    if ids is None:
        gathered.bad.append(
            f"`{token}` is no range; expected two ids of one series, the smaller first, such as T-01..T-03"
        )
    elif not ids:
        gathered.bad.append(f"`{token}` names no task of this list; expected ids that exist")
    else:
        gathered.refs += [TaskRef(index.region, id) for id in ids]
    return True
