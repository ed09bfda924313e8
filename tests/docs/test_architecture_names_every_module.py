"""docs/ARCHITECTURE.md has exactly one line for every package and module that there is, and for no other."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "ARCHITECTURE.md"
#: A made-up project that the rehearsal copies; no module of ours.
PROPS = ROOT / "app" / "recall" / "rehearsal" / "project"

_LINE = re.compile(r"^- `(recall(?:_\w+)?(?:\.\w+)*)`: (.+)$", re.MULTILINE)
_LONGEST = 130  # characters of one line


def _modules() -> set[str]:
    found: set[str] = set()
    for source in ("app", "widgets", "styles"):
        root = ROOT / source
        for file in root.rglob("*.py"):
            if not file.is_relative_to(PROPS):
                parts = file.relative_to(root).with_suffix("").parts
                found.add(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return found


def _lines() -> list[tuple[str, str]]:
    return _LINE.findall(GUIDE.read_text("utf-8").partition("## Codebase guide")[2])


def test_every_module_has_its_line() -> None:
    missing = sorted(_modules() - {name for name, _ in _lines()})
    assert missing == [], "write one line for each into the codebase guide of docs/ARCHITECTURE.md"


def test_no_line_names_a_module_that_is_gone() -> None:
    assert sorted({name for name, _ in _lines()} - _modules()) == []


def test_each_module_has_one_short_line() -> None:
    counted = Counter(name for name, _ in _lines())
    assert [name for name, count in counted.items() if count > 1] == []
    assert [name for name, line in _lines() if len(line) > _LONGEST or not line.endswith(".")] == []


def test_each_line_says_something_of_its_own() -> None:
    counted = Counter(line for _, line in _lines())
    assert [line for line, count in counted.items() if count > 1] == []
