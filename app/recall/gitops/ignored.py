"""What is not taken over when a run left it uncommitted: files that tools make, also where no .gitignore has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import translate

_SPECIAL = re.compile(r"([\\*?\[])")


def excludes(patterns: Sequence[str], tracked: Iterable[str], general: str) -> str:
    """Give an excludes file for git: the patterns, then `general`, which is what the user ignores everywhere and
    counts for more. A folder in which files are `tracked` is the project's own, whatever its name: nothing in it is
    ignored for that name."""
    return "\n".join([*patterns, *_taken_back(patterns, tracked), general])


def _taken_back(patterns: Sequence[str], tracked: Iterable[str]) -> Iterator[str]:
    names = "|".join(translate(pattern.rstrip("/").rpartition("/")[2]) for pattern in patterns)
    if not names:
        return
    ignored = re.compile(names)
    for folder in sorted(_folders(tracked)):
        if ignored.match(folder.rpartition("/")[2]) and "\n" not in folder:
            literal = _SPECIAL.sub(r"\\\1", folder)
            yield f"!/{literal}/"


def _folders(paths: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found
