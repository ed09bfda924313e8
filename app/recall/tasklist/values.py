"""The values of single fields: priority, limits, globs, names of agents."""

from __future__ import annotations

import re
from collections.abc import Collection

#: Higher runs earlier; a task without a priority is like P2.
PRIORITIES = {
    "critical": 20,
    "urgent": 20,
    "p0": 20,
    "high": 10,
    "p1": 10,
    "medium": 0,
    "normal": 0,
    "none": 0,
    "p2": 0,
    "low": -10,
    "p3": -10,
    "p4": -20,
    "高": 10,
    "中": 0,
    "低": -10,
}
PRIORITY_BOUND = 1_000_000

_DECORATION = " \t*_`~\"'"
_SYMBOLS = re.compile(r"^[^\w+-]+")
_INTEGER = re.compile(r"[+-]?\d{1,9}(?![\w.]*\d)(?!\w)")
_DURATION = re.compile(
    r"(?:\d+(?:\.\d+)?\s*(?:s|sec|secs|seconds?|m|min|mins|minutes?|h|hrs?|hours?|d|days?)\s*)+", re.I
)
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z])", re.IGNORECASE)
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_REMARK = re.compile(r"[(（][^()（）]*[)）]")
_CODE = re.compile(r"`([^`]+)`")
_LINE_NUMBERS = re.compile(r":\d+(?:-\d+)?$")
_WORD_BEFORE_PATH = re.compile(r"^[A-Za-z ]+:\s*")
_NOTHING = frozenset({"", "-", "—", "–", "none", "n/a", "any", "unassigned", "tbd", "无", "無"})


def says_nothing(value: str) -> bool:
    return value.strip(_DECORATION).casefold() in _NOTHING


def read_priority(value: str) -> int | None:
    """Read `3`, `P1`, `**High** (blocks the release)`, `🔴 critical`; None when it is none of these."""
    bare = _SYMBOLS.sub("", value.strip(_DECORATION)).strip(_DECORATION)
    number = _INTEGER.match(bare)
    if number:
        return max(-PRIORITY_BOUND, min(PRIORITY_BOUND, int(number[0])))
    word = re.match(r"[^\W_]+", bare)
    return PRIORITIES.get(word[0].casefold()) if word else None


def read_duration(value: str) -> float | None:
    """Read `90s`, `30 min`, `1h30m` as seconds."""
    bare = _REMARK.sub("", value).strip(_DECORATION)
    if not _DURATION.fullmatch(bare):
        return None
    seconds = sum(float(number) * _SECONDS[unit.lower()] for number, unit in _DURATION_PART.findall(bare))
    return seconds if 0 < seconds < 1e9 else None


def read_count(value: str) -> int | None:
    bare = _REMARK.sub("", value).strip(_DECORATION)
    return int(bare) if re.fullmatch(r"[1-9]\d{0,3}", bare) else None


def read_globs(value: str) -> tuple[str, ...]:
    """Read paths and globs: in backticks, or separated by commas, spaces or lines."""
    words = [word for part in re.split(r"[,;\n]", value) for word in _CODE.findall(part) or _bare_words(part)]
    globs = (_LINE_NUMBERS.sub("", word.strip(" `\"'")).removeprefix("./") for word in words)
    return tuple(dict.fromkeys(glob for glob in globs if glob.casefold() not in _NOTHING))


def _bare_words(part: str) -> list[str]:
    return _WORD_BEFORE_PATH.sub("", _REMARK.sub("", part).strip()).split()


def read_command(value: str) -> str:
    """Read a command, which may stand in backticks."""
    bare = value.strip()
    inside = bare.strip("`")
    ticks = len(bare) - len(bare.lstrip("`"))
    quoted = ticks > 0 and bare == f"{'`' * ticks}{inside}{'`' * ticks}" and "`" * ticks not in inside
    return inside.strip() if quoted else bare


def read_type(value: str) -> str:
    """Read one task type; of several the first."""
    return re.split(r"[,;|\n]", _REMARK.sub("", value))[0].strip(_DECORATION + "[]").casefold()


def read_agents(value: str, known: Collection[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split names into those of configured agents and all others. Case and a leading `@` do not matter."""
    spelled = {name.casefold(): name for name in known}
    named: list[str] = []
    others: list[str] = []
    for word in re.split(r"[,;\s]+|\band\b|\bor\b", _REMARK.sub("", value)):
        bare = word.strip(_DECORATION + "[]").removeprefix("@")
        if bare.casefold() in spelled:
            named.append(spelled[bare.casefold()])
        elif bare.casefold() not in _NOTHING:
            others.append(bare)
    return tuple(dict.fromkeys(named)), tuple(others)
