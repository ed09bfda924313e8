"""Processes are ended by identity. Nothing in the program ends whatever happens to have a name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for folder in ("app", "widgets", "styles") for path in (ROOT / folder).rglob("*.py"))
BY_NAME = re.compile(r"\b(?:pkill|killall|pgrep|pidof|skill|taskkill)\b|\bfuser\b\s+-k|\bkill\(\s*-")


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_source_ends_processes_by_name(source: Path) -> None:
    found = [line for line in source.read_text().splitlines() if BY_NAME.search(line)]
    assert found == []


@pytest.mark.parametrize("line", ['run(["pkill", "-f", name])', "killall node", "fuser -k 80/tcp", "os.kill(-1, 9)"])
def test_such_a_line_would_be_found(line: str) -> None:
    assert BY_NAME.search(line)
