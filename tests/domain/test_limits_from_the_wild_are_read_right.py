"""Every real log tail in tests/cases/limits.json, with and without the agent's own patterns."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from recall.agents.presets import load_preset
from recall.domain.limits import read_limits
from recall.domain.usage import LimitClass, LimitFinding, LimitPatterns

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "cases" / "limits.json").read_text())

#: How the cases name a class, and which of ours are right for it.
CLASSES = {
    "usage_limit": {LimitClass.LIMIT},
    "rate_limit_short": {LimitClass.TRANSIENT, LimitClass.LIMIT},
    "spend_limit": {LimitClass.CREDIT},
    "transient": {LimitClass.TRANSIENT},
}


def moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def read(case: dict[str, Any], patterns: LimitPatterns) -> LimitFinding:
    given = case["input"]
    return read_limits(
        given["log_tail"],
        exit_code=given["exit_code"],
        reported=given["outcome_report_present"],
        now=moment(given["now"]),
        tz=given["local_tz"],
        patterns=patterns,
    )


@pytest.mark.parametrize("own_patterns", [False, True], ids=["common", "preset"])
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_log_from_the_wild(case: dict[str, Any], own_patterns: bool) -> None:
    patterns = load_preset(case["input"]["agent"]).patterns if own_patterns else LimitPatterns()
    found, expected = read(case, patterns), case["expected"]
    assert found.limited == expected["limited"]
    if expected["class"] in CLASSES:
        assert found.kind in CLASSES[expected["class"]]
    if not expected["limited"]:
        return
    right = expected.get("reset_at_any", [expected.get("reset_at")])
    assert any(is_near(found.reset_at, one, expected["tolerance_s"]) for one in right), found
    assert not any(is_near(found.reset_at, one, 0) for one in expected.get("reset_at_must_not", []))


def is_near(reset_at: float | None, right: str | None, tolerance: float) -> bool:
    if right is None or reset_at is None:
        return right is None and reset_at is None
    return abs(reset_at - moment(right)) <= tolerance
