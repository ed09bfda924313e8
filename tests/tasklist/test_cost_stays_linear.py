"""Hostile and very long lists cost no more than their length allows."""

from __future__ import annotations

import time

import pytest

from recall.tasklist import parse

MANY = 50_000
HOSTILE = {
    "opening parentheses": "- [ ] T-1 " + "(" * MANY,
    "nested parentheses": "- [ ] T-1 " + "(" * MANY + ")" * MANY,
    "groups": "- [ ] T-1 " + "(a)" * MANY,
    "blanks": "- [ ] T-1 a" + " " * MANY + "b (after: none)",
    "blanks in a value": "- [ ] T-1 a\n  - after: none" + " " * MANY + "x",
    "digits": "- [ ] T-1 a\n  - after: " + "1" * MANY,
    "ranges": "- [ ] T-1 a\n  - after: " + "T-1.." * (MANY // 5),
    "dashes": "- [ ] T-1 a\n  - after: " + "T-1-" * (MANY // 5),
    "comments": "- [ ] T-1 " + "<!--" * MANY,
    "stars": "- [ ] " + "*" * MANY,
    "bars": "- [ ] T-1 x\n  " + " | a:" * (MANY // 5),
    "empty lines in a fence": "```\n" + "\n" * MANY,
    "list marks": "- " * MANY,
    "quotation marks": ">" * MANY,
    "one title many times": "- [ ] Same\n" * 2000,
    "one id many times": "- [ ] T-1 Same\n" * 2000,
    "wide ranges": "".join(f"- [ ] T-{i} x (after: T-{i + 1}..T-{i + 50})\n" for i in range(1000)),
    "no UTF-8": "- [ ] Same \udcff\n" * 2000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_lines_cost_no_more_than_others(name: str) -> None:
    data = HOSTILE[name].encode("utf-8", "surrogateescape")
    started = time.process_time()
    parse(data)
    assert time.process_time() - started < 3
