"""Readers of single values: what TOML holds in, what the settings hold out, or Unfit with what was expected."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import NamedTuple, cast

from recall.config.settings import TaskList
from recall.domain.errors import ConfigError
from recall.domain.task import DEFAULT_REGION
from recall.domain.usage import LimitPatterns

Reader = Callable[[object], object]

_DURATION = r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?"
_SIZE = r"(\d+) ?(B|KiB|MiB|GiB)"
_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_UNITS = ((86400, "d"), (3600, "h"), (60, "m"))
_BYTES = {"B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}


class Unfit(Exception):
    """The value cannot be used; the text says what was expected instead. `below` names what is wrong in a table."""

    def __init__(self, expected: str, *below: str) -> None:
        super().__init__(expected)
        self.below = below


def duration(value: object) -> float:
    """Read `"90s"`, `"30m"`, `"2h"`, `"1h30m"` as seconds."""
    match = re.fullmatch(_DURATION, value.strip()) if isinstance(value, str) and value.strip() else None
    if match is None:
        raise Unfit('a duration such as "90s", "30m", "2h" or "1h30m"')
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return days * 86400 + hours * 3600 + minutes * 60 + seconds


def positive_duration(value: object) -> float:
    seconds = duration(value)
    if seconds <= 0:
        raise Unfit('a duration longer than nothing, such as "30s"')
    return seconds


def duration_text(seconds: float) -> str:
    """Write seconds the way `duration` reads them."""
    parts: list[str] = []
    rest = seconds
    for size, unit in _UNITS:
        whole, rest = divmod(rest, size)
        if whole:
            parts.append(f"{whole:.0f}{unit}")
    if rest or not parts:
        parts.append(f"{rest:g}s")
    return "".join(parts)


def size(value: object) -> int:
    """Read `"10MiB"` as bytes."""
    match = re.fullmatch(_SIZE, value) if isinstance(value, str) else None
    if match is None:
        raise Unfit('a size such as "512KiB", "10MiB" or "1GiB"')
    return int(match[1]) * _BYTES[match[2]]


def size_text(count: int) -> str:
    """Write bytes the way `size` reads them."""
    unit = next(unit for unit in reversed(_BYTES) if count % _BYTES[unit] == 0)
    return f"{count // _BYTES[unit]}{unit}"


def text(value: object) -> str:
    if not isinstance(value, str):
        raise Unfit("a text in quotes")
    return value


def some_text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Unfit("a text in quotes that is not empty")
    return value


def remote(value: object) -> str:
    if not isinstance(value, str) or (value and not is_name(value)):
        raise Unfit('the name of a git remote, such as "origin", or "" for none')
    return value


def quiet_hours(value: object) -> str:
    from recall.domain.signals import QuietHours

    wanted = 'hours such as "22:00-07:00", or "" for none'
    if not isinstance(value, str):
        raise Unfit(wanted)
    try:
        QuietHours.parse(value)
    except ValueError as unfit:
        raise Unfit(wanted) from unfit
    return value


def occasions(value: object) -> tuple[str, ...]:
    """A list of what is worth a call."""
    from recall.domain.signals import SignalKind

    known = [kind.value for kind in SignalKind]
    wanted = "a list of " + ", ".join(f'"{kind}"' for kind in known)
    try:
        found = texts(value)
    except Unfit as unfit:
        raise Unfit(wanted) from unfit
    if not set(found) <= set(known):
        raise Unfit(wanted)
    return found


def flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise Unfit("true or false")
    return value


class Count(NamedTuple):
    """Reads whole numbers from `least` to `most`."""

    least: int
    most: int | None

    def __call__(self, value: object) -> int:
        fits = isinstance(value, int) and not isinstance(value, bool) and value >= self.least
        if not fits or (self.most is not None and cast("int", value) > self.most):
            to = f"to {self.most}" if self.most is not None else "up"
            raise Unfit(f"a whole number from {self.least} {to}")
        return cast("int", value)


def count(least: int, most: int | None = None) -> Count:
    """Give a reader of whole numbers from `least` to `most`."""
    return Count(least, most)


def amount(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1e9:
        raise Unfit("a number from 0 up; 0 is no limit")
    return float(value)


def share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise Unfit("a number from 0 to 1")
    return float(value)


class OneOf(NamedTuple):
    """Reads exactly these words."""

    words: tuple[str, ...]

    def __call__(self, value: object) -> str:
        if not isinstance(value, str) or value not in self.words:
            raise Unfit(" or ".join(f'"{word}"' for word in self.words))
        return value


def one_of(*words: str) -> OneOf:
    """Give a reader of exactly these words."""
    return OneOf(words)


def texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in cast("list[object]", value)):
        raise Unfit('a list of texts, such as ["a", "b"]')
    return tuple(cast("list[str]", value))


def is_name(word: str) -> bool:
    """Tell whether a word can name an agent or a region: it becomes part of branch and folder names."""
    return bool(re.fullmatch(_NAME, word)) and ".." not in word and not word.endswith((".", ".lock"))


def command(value: object) -> tuple[str, ...]:
    if (
        not isinstance(value, list)
        or not value
        or not all(isinstance(each, str) for each in cast("list[object]", value))
    ):
        raise Unfit('a list of program and arguments, such as ["./agent.sh", "--fast"]')
    argv = tuple(cast("list[str]", value))
    if not argv[0].strip():
        raise Unfit("a list whose first text is a program")
    return argv


def variables(value: object) -> dict[str, str]:
    table = cast("dict[str, object]", value) if isinstance(value, dict) else None
    if table is None or not all(isinstance(each, str) for each in table.values()):
        raise Unfit('a table of texts, such as { NAME = "value" }')
    return cast("dict[str, str]", table)


def keys_of_commands(value: object) -> dict[str, tuple[str, ...]]:
    """Read a table of command names, each with a key or a list of keys; which names there are, the screen knows."""
    if not isinstance(value, dict):
        raise Unfit('a table of keys, such as { requeue = "R", quit = ["q", "f10"] }')
    return {name: _keys(name, each) for name, each in cast("dict[str, object]", value).items()}


def _keys(name: str, value: object) -> tuple[str, ...]:
    from recall.config.keystrokes import keystroke

    written = cast("list[object]", value) if isinstance(value, list) else [value]
    if not written or not all(isinstance(each, str) for each in written):
        raise Unfit('a key such as "R", "/", "ctrl+r" or "f5", or a list of keys', name)
    found: list[str] = []
    for each in cast("list[str]", written):
        try:
            found.append(keystroke(each))
        except ValueError as unfit:
            raise Unfit(f'another key: "{each}" {unfit}', name) from unfit
    return tuple(dict.fromkeys(found))


def kept_paths(value: object) -> tuple[str, ...]:
    """Paths that survive the recycling of a workspace. Compiled Python would turn a broken tree green."""
    found = texts(value)
    if any("__pycache__" in path or path.endswith(".pyc") for path in found):
        raise Unfit("paths without __pycache__: stale compiled files can hide a broken tree")
    return found


def ignore_patterns(value: object) -> tuple[str, ...]:
    """Lines of a .gitignore file."""
    found = texts(value)
    if not all(line.strip() and line.isprintable() for line in found):
        raise Unfit('a list of patterns as in a .gitignore file, such as ["node_modules/", "*.pyc"]')
    return found


def repository_paths(value: object) -> tuple[str, ...]:
    """Files and folders inside the repository, by their paths from its root, without a slash at the end."""
    found = tuple(PurePosixPath(path).as_posix() for path in texts(value))
    if any(path == "." or path.startswith("/") or "\0" in path or ".." in path.split("/") for path in found):
        raise Unfit('a list of paths inside the repository, such as [".github", "deploy/prod.yml"]')
    return found


def stream(value: object) -> str | dict[str, object]:
    """Read the name of a known agent, or rules for events; whether that agent is known, the presets know."""
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        raise Unfit('the name of a known agent, such as "claude", or a table of rules')
    from recall.domain.stream.dialect import dialect_of

    table = cast("dict[str, object]", _unchanging(cast("dict[str, object]", value)))
    try:
        dialect_of(table)
    except ConfigError as wrong:
        raise Unfit(f"rules that can be read: {wrong}") from wrong
    return table


def _unchanging(value: object) -> object:
    """The same with tuples for lists, as settings hold them."""
    if isinstance(value, list):
        return tuple(_unchanging(each) for each in cast("list[object]", value))
    if isinstance(value, dict):
        return {name: _unchanging(each) for name, each in cast("dict[str, object]", value).items()}
    return value


def patterns(value: object) -> LimitPatterns:
    classes = ("limit", "credit", "auth", "transient")
    wanted = 'a table of lists of regular expressions under "limit", "credit", "auth" or "transient"'
    if not isinstance(value, dict) or not set(cast("dict[str, object]", value)) <= set(classes):
        raise Unfit(wanted)
    found = {name: _expressions(each) for name, each in cast("dict[str, object]", value).items()}
    return LimitPatterns(**found)


def _expressions(value: object) -> tuple[str, ...]:
    found = texts(value)
    for each in found:
        try:
            re.compile(each)
        except re.error as broken:
            raise Unfit(f"regular expressions; {each!r} is none: {broken}") from broken
    return found


def verify_command(value: object) -> str | None:
    """A shell command, or None for a spelled-out "none"."""
    if not isinstance(value, str) or not value.strip():
        raise Unfit('a shell command, or "none" spelled out')
    return None if value.strip().lower() == "none" else value


def task_lists(value: object) -> tuple[TaskList, ...]:
    """A list of files (region = the file's stem, `TASKS` is `main`) or a table region -> file."""
    if isinstance(value, dict):
        pairs = [(region, text(path)) for region, path in cast("dict[str, object]", value).items()]
    else:
        pairs = [(region_of(path), path) for path in texts(value)]
    if not pairs:
        raise Unfit("at least one task list")
    for region, path in pairs:
        _check_list(region, path)
    if len({region for region, _ in pairs}) < len(pairs):
        raise Unfit('a region of its own for each file: write { main = "TASKS.md", web = "web/TASKS.md" }')
    return tuple(TaskList(region, str(PurePosixPath(path))) for region, path in pairs)


def region_of(path: str) -> str:
    """The region of a task file that is listed without one."""
    stem = PurePosixPath(path).stem
    return DEFAULT_REGION if stem == "TASKS" else stem


def _check_list(region: str, path: str) -> None:
    if not is_name(region):
        raise Unfit(f'a region name of letters, digits, ".", "_" and "-" in place of {region!r}')
    parts = PurePosixPath(path).parts
    if not parts or PurePosixPath(path).is_absolute() or ".." in parts:
        raise Unfit("files inside the repository, relative to recall.toml")
