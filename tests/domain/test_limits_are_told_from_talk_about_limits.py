"""More wordings than anybody has listed, and everything that only looks like one.

It is Wednesday, 15 July 2026, 12:00 UTC; times without a zone are Berlin's (14:00).
"""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.domain.limits import DEFAULT_PATTERNS, read_limits
from recall.domain.limits.vocabulary import HINTS
from recall.domain.reset_time import GRACE, HORIZON
from recall.domain.usage import LimitClass, LimitFinding, LimitPatterns

NOW = datetime(2026, 7, 15, 12, tzinfo=UTC).timestamp()

#: `limits`: log, the classes that are right, the reset in UTC. `talk`: log, exit code, whether a report came.
WORDINGS: dict[str, list[dict[str, Any]]] = json.loads(
    Path(__file__).with_name("limit_wordings.json").read_text(encoding="utf-8")
)


def read(
    log: str, exit_code: int | None = 1, *, reported: bool = False, patterns: LimitPatterns = LimitPatterns()
) -> LimitFinding:
    return read_limits(log, exit_code=exit_code, reported=reported, now=NOW, tz="Europe/Berlin", patterns=patterns)


@pytest.mark.parametrize("case", WORDINGS["limits"], ids=lambda case: case["log"][:40])
def test_a_limit_is_seen_and_its_end_read(case: dict[str, Any]) -> None:
    found = read(case["log"])
    assert found.kind.value in case["kinds"]
    if case["reset"] is None:
        assert found.reset_at is None
    else:
        assert found.reset_at == pytest.approx(datetime.fromisoformat(f"{case['reset']}+00:00").timestamp())


@pytest.mark.parametrize("case", WORDINGS["talk"], ids=lambda case: case["log"][:40])
def test_talk_of_limits_is_no_limit(case: dict[str, Any]) -> None:
    found = read(case["log"], case["exit_code"], reported=case["reported"])
    assert not found.limited
    assert found.kind in {LimitClass.NONE, LimitClass.TRANSIENT}


@pytest.mark.parametrize("word", ["usage_limit_reached", "HTTP 429", "insufficient_quota"])
@pytest.mark.parametrize("exit_code", [0, 1, None, -9])
def test_the_classic_words_are_known_for_every_agent(word: str, exit_code: int | None) -> None:
    found = read(f"working on it\n\n{word}\n", exit_code)
    assert (found.kind, found.limited, found.reset_at) == (LimitClass.LIMIT, True, None)


def test_only_the_last_lines_count() -> None:
    assert read("HTTP 429\n" + "step\n" * 19).limited
    assert not read("HTTP 429\n" + "step\n" * 20).limited


def test_a_finding_shows_the_line_without_its_colours() -> None:
    found = read("\x1b[31mYou've hit your limit · resets 5pm\x1b[0m")
    assert (found.matched, found.source) == ("You've hit your limit · resets 5pm", "text")
    assert found.reason == "usage limit reached until 2026-07-15 15:00 UTC"


def test_an_event_beats_the_text_beside_it() -> None:
    info = {"status": "rejected", "resetsAt": NOW + 7200}
    event = json.dumps({"type": "rate_limit_event", "rate_limit_info": info})
    result = '{"type":"result","subtype":"success","is_error":true,"result":"You\'ve hit your limit · resets 9pm"}'
    found = read(f"{event}\n{result}\nYou've hit your limit · resets 10pm")
    assert (found.reset_at, found.source) == (NOW + 7200, "event")


def test_a_success_event_ends_all_talk_of_limits() -> None:
    retried = '{"type":"error","message":"HTTP 429, retrying"}'
    done = '{"type":"result","subtype":"success","is_error":false,"result":"done"}'
    assert read(f"{retried}\n{done}", 0).kind is LimitClass.NONE


def test_an_agents_own_patterns_go_first() -> None:
    own = LimitPatterns(limit=("brain is full",), credit=("hit your usage limit",))
    assert read("Sorry: brain is full until 5pm", patterns=own).kind is LimitClass.LIMIT
    assert read("You've hit your usage limit", patterns=own).kind is LimitClass.CREDIT


def test_a_pattern_that_is_no_expression_is_meant_literally() -> None:
    assert read("limit (x reached [now", patterns=LimitPatterns(limit=("(x reached [now",))).limited


def test_the_common_patterns_can_be_listed() -> None:
    assert all((DEFAULT_PATTERNS.limit, DEFAULT_PATTERNS.credit, DEFAULT_PATTERNS.auth, DEFAULT_PATTERNS.transient))


HOSTILE = [
    "{", "[{", '{"a":', 'error: {"a":', "you hit ", "resets in ", "1 h ", "\\u001b", "retry=1 ",
    "usage limit ",
    "you reached your ", "2026-01-01 ", "user_", "you are out of usage limit 429 quota reached resets 5pm ",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_hostile_log_takes_no_time(unit: str) -> None:
    log = "\n".join([unit * (20_000 // len(unit))] * 20)
    started = time.process_time()
    read(log)
    assert time.process_time() - started < 1


ALL_LOGS = [case["log"] for group in WORDINGS.values() for case in group]


@pytest.mark.parametrize("group", HINTS, ids=lambda group: group[0][:20])
def test_no_hint_hides_a_match(group: tuple[str, ...]) -> None:
    for log in ALL_LOGS:
        if any(re.search(expression, log, re.IGNORECASE) for expression in group):
            assert any(hint in log.lower() for hint in HINTS[group]), log


PIECES = [
    "You've hit your limit", "resets", "try again in", "429", "5pm", "25:61", "Feb 30", "Mon", "(Mars/X)",
    "2026-13-45",
    "99999999999", "0", "{", '"error":', "}", "\n", "GMT+99", "99999999999 weeks", "|", ",", "on", "1766502000000",
]  # fmt: skip


@given(
    st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=12).map(" ".join), st.sampled_from(["", "x/y"])
)
def test_no_log_breaks_the_reading(log: str, tz: str) -> None:
    found = read_limits(log, exit_code=1, reported=False, now=NOW, tz=tz, patterns=LimitPatterns())
    if found.reset_at is not None:
        assert NOW - GRACE <= found.reset_at <= NOW + HORIZON
