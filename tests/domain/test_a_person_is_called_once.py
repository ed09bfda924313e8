"""What calls a person, how often, and when not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.domain.event import Event
from recall.domain.receipts import is_notice, notice_key, read_notice_key
from recall.domain.signals import Calls, QuietHours, Signal, SignalKind, all_done, signals_of

ALL = [kind.value for kind in SignalKind]


def needs(task: str, why: str = "asks: which way?") -> Signal:
    event = Event(
        1, 0.0, "dispatcher", "task.needs_person", region="main", task=task, after="needs_person", reason=why
    )
    (signal,) = signals_of([event])
    return signal


def test_each_occasion_is_recognised_by_its_event() -> None:
    events = [
        Event(1, 0.0, "dispatcher", "task.needs_person", "main", "T-1", after="needs_person", reason="no more\nx"),
        Event(2, 0.0, "dispatcher", "agent.stopped", agent="claude", reason="not logged in"),
        Event(3, 0.0, "dispatcher", "agent.cooling", agent="codex", reason="limit reached"),
        Event(4, 0.0, "dispatcher", "main.red", reason="main at abc is red"),
        Event(5, 0.0, "dispatcher", "merge.waiting_checkout", "main", "T-2", reason="your edit of a.py"),
        Event(6, 0.0, "dispatcher", "task.done", "main", "T-3", after="done"),
        Event(7, 0.0, "dispatcher", "merge.pull_request", "main", "T-4", before="verifying", after="pull_request"),
        Event(8, 0.0, "dispatcher", "merge.pull_request", "main", "T-4", before="pull_request", after="pull_request",
              reason="gh is not installed"),
    ]  # fmt: skip
    assert [(one.kind, one.title, one.text) for one in signals_of(events)] == [
        (SignalKind.NEEDS_YOU, "T-1 needs you", "no more"),
        (SignalKind.NEEDS_YOU, "claude needs you", "not logged in"),
        (SignalKind.LIMIT, "codex is at a limit", "limit reached"),
        (SignalKind.MAIN_RED, "main is red", "main at abc is red"),
        (SignalKind.NEEDS_YOU, "T-2 waits for your checkout", "your edit of a.py"),
        (SignalKind.NEEDS_YOU, "T-4's pull request needs you", "gh is not installed"),
    ]


def test_what_comes_together_is_told_together() -> None:
    calls = Calls(ALL)
    calls.take([needs(f"T-{number}") for number in range(6)], 1, 0.0)
    (told,) = calls.due(0.0, quiet=False)
    assert (told.signal.title, told.signal.text) == ("6 need you", "T-0, T-1, T-2, T-3 and 2 more")


def test_the_next_call_of_a_kind_waits_and_is_not_lost() -> None:
    calls = Calls(ALL)
    calls.take([needs("T-1")], 1, 0.0)
    assert len(calls.due(0.0, quiet=False)) == 1
    calls.take([needs("T-2"), all_done(9)], 1, 5.0)
    assert [one.signal.kind for one in calls.due(5.0, quiet=False)] == [SignalKind.ALL_DONE]
    assert [one.signal.title for one in calls.due(31.0, quiet=False)] == ["T-2 needs you"]
    assert calls.due(100.0, quiet=False) == []


def test_the_same_words_are_told_once_and_new_ones_again() -> None:
    calls = Calls(ALL)
    calls.take([needs("T-1")], 1, 0.0)
    calls.due(0.0, quiet=False)
    calls.take([needs("T-1")], 1, 100.0)
    assert calls.due(100.0, quiet=False) == []
    calls.take([needs("T-1", "out of attempts")], 1, 200.0)
    assert len(calls.due(200.0, quiet=False)) == 1
    calls.take([needs("T-1")], 1, 1000.0)
    assert len(calls.due(1000.0, quiet=False)) == 1


def test_what_an_earlier_process_told_is_not_told_again_so_soon() -> None:
    calls = Calls(ALL)
    calls.remember([needs("T-1")], -100.0)
    calls.take([needs("T-1")], 8, 0.0)
    assert calls.due(0.0, quiet=False) == []
    calls.take([needs("T-1")], 9, 501.0)
    assert [one.seq for one in calls.due(501.0, quiet=False)] == [9]


def test_a_call_is_named_by_the_newest_that_it_tells_of() -> None:
    calls = Calls(ALL)
    calls.take([needs("T-1")], 3, 0.0)
    calls.take([needs("T-2")], 5, 0.0)
    (told,) = calls.due(0.0, quiet=False)
    key = notice_key(told.signal.kind, told.seq)
    assert key == "notice:needs-you:5"
    assert is_notice(key)
    assert read_notice_key(key) == ("needs-you", 5)


def test_in_quiet_hours_nothing_is_told_and_nothing_forgotten() -> None:
    calls = Calls(ALL)
    calls.take([needs("T-1"), needs("T-2")], 1, 0.0)
    assert calls.due(0.0, quiet=True) == []
    assert [one.signal.title for one in calls.due(9999.0, quiet=False)] == ["2 need you"]


def test_only_what_is_wanted_is_told() -> None:
    calls = Calls(["main-red"])
    calls.take([needs("T-1"), all_done(3)], 1, 0.0)
    assert calls.due(0.0, quiet=False) == []


@pytest.mark.parametrize(
    ("hours", "clock", "held"),
    [
        ("22:00-07:00", "23:30", True),
        ("22:00-07:00", "06:59", True),
        ("22:00-07:00", "07:00", False),
        ("22:00-07:00", "12:00", False),
        ("12:00-13:00", "12:30", True),
        ("12:00-13:00", "13:00", False),
        ("", "00:00", False),
    ],
)
def test_quiet_hours_are_those_of_the_persons_zone(hours: str, clock: str, held: bool) -> None:
    hour, minute = map(int, clock.split(":"))
    wall = 1_767_225_600.0 + (hour * 60 + minute) * 60 - 8 * 3600  # that time of day in Taipei, eight hours ahead
    assert QuietHours.parse(hours).hold(wall, "Asia/Taipei") is held


@given(st.text(max_size=12))
def test_any_text_is_hours_or_refused(text: str) -> None:
    try:
        QuietHours.parse(text)
    except ValueError:
        return
    assert text == "" or text.count("-") >= 1
