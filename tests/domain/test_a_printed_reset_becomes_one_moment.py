"""Clock times, zones, the change of the clocks, stale and absurd times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.domain.reset_time import GRACE, field_reset, find_reset, zone


def at(text: str) -> float:
    return datetime.fromisoformat(f"{text}+00:00").timestamp()


def test_the_example_of_taipei() -> None:
    assert find_reset("resets 3:30pm (Asia/Taipei)", at("2026-07-15T06:00"), "UTC") == at("2026-07-15T07:30")


@pytest.mark.parametrize(
    ("now", "printed", "right"),
    [
        ("2026-07-15T19:16", "7:14 PM", "2026-07-15T19:14"),
        ("2026-07-15T19:25", "7:14 PM", "2026-07-16T19:14"),
        ("2026-07-16T00:03", "11:58pm", "2026-07-15T23:58"),
        ("2026-07-15T23:58", "12:03am", "2026-07-16T00:03"),
        ("2026-07-15T12:00", "12pm", "2026-07-15T12:00"),
        ("2026-07-15T12:00", "12am", "2026-07-16T00:00"),
        ("2026-07-15T12:00", "midnight", "2026-07-16T00:00"),
        ("2026-07-15T09:00", "noon", "2026-07-15T12:00"),
        ("2026-07-15T12:00", "Wed 12:00pm", "2026-07-15T12:00"),
        ("2026-07-15T12:30", "Wed 12:00pm", "2026-07-22T12:00"),
        ("2026-07-16T00:02", "Wed 11:59pm", "2026-07-15T23:59"),
        ("2026-12-31T20:00", "Jan 2 at 8am", "2027-01-02T08:00"),
        ("2028-02-27T08:00", "Feb 29 at 8am", "2028-02-29T08:00"),
        ("2026-07-15T12:00", "today at 5pm", "2026-07-15T17:00"),
        ("2026-07-15T12:00", "5 p.m.", "2026-07-15T17:00"),
        ("2026-07-15T12:00", "17:00:30", "2026-07-15T17:00:30"),
    ],
)
def test_a_clock_time_is_the_nearest_that_makes_sense(now: str, printed: str, right: str) -> None:
    assert find_reset(f"resets {printed}", at(now), "UTC") == at(right)


@pytest.mark.parametrize(
    ("now", "text", "right"),
    [
        # twice: the first that is still ahead
        ("2026-10-24T21:00", "resets 2:30am (Europe/Berlin)", "2026-10-25T00:30"),
        ("2026-10-25T00:31", "resets 2:30am (Europe/Berlin)", "2026-10-25T01:30"),
        ("2026-11-01T02:00", "resets 1:30am (America/New_York)", "2026-11-01T05:30"),
        # skipped: after the jump
        ("2026-03-28T22:00", "resets 2:30am (Europe/Berlin)", "2026-03-29T01:30"),
        ("2026-03-08T02:00", "resets 2:30am (America/New_York)", "2026-03-08T07:30"),
        # across the change
        ("2026-10-24T20:00", "resets Oct 25 at 8am (Europe/Berlin)", "2026-10-25T07:00"),
    ],
)
def test_the_change_of_the_clocks(now: str, text: str, right: str) -> None:
    assert find_reset(text, at(now), "UTC") == at(right)


@pytest.mark.parametrize(
    "text",
    [
        "resets Dec 30, 11am (UTC)",
        "resets 2024-01-01 00:00 UTC",
        "resets_at=1600000000",
        "resets_at=99999999999999",
        "try again in 400 days",
        "resets 25:00",
        "resets Feb 31 at 8am",
        "try again later. Support opens at 5pm",
        "resets",
        "",
        "resets 5 apples",
    ],
)
def test_what_cannot_be_believed_is_no_time(text: str) -> None:
    assert find_reset(text, at("2027-01-01T09:00"), "UTC") is None


@pytest.mark.parametrize(
    "name", ["Mars/Olympus_Mons", "", "America", "../../etc/passwd", "/etc/passwd", "GMT+99", "\x00"]
)
def test_an_unknown_zone_is_none(name: str) -> None:
    assert zone(name) is None


def test_zone_names_and_offsets() -> None:
    moment = datetime(2026, 7, 15, 12, tzinfo=UTC)
    hours = {
        name: moment.astimezone(zone(name)).utcoffset() for name in ("GMT-3", "Etc/GMT+5", "+05:30", "PT", "JST")
    }
    assert [h.total_seconds() / 3600 for h in hours.values() if h is not None] == [-3, -5, 5.5, -7, 9]


@pytest.mark.parametrize(
    ("key", "value", "wait"),
    [
        ("retry-after", "120", 120),
        ("Retry-After", 90, 90),
        ("retry-after-ms", "997000", 997),
        ("retryDelay", "34.5s", 34.5),
        ("quotaResetDelay", "1h2m3s", 3723),
        ("resets_in_seconds", 602705, 602705),
        ("resetsAt", 1_784_116_800 + 60, 60),
        ("reset_at_ms", "1784116860000", None),
        ("resetAt", "2026-07-15T12:01:00.000Z", 60),
        ("next_reset", "Wed, 15 Jul 2026 12:01:00 GMT", 60),
        ("resets_at", 1_784_116_860_000, 60),
        ("resets_at", "soon", None),
    ],
)
def test_fields_of_errors_and_headers(key: str, value: str | float, wait: float | None) -> None:
    reset = field_reset(key, value, 1_784_116_800.0, "UTC")
    if wait is not None:
        assert reset is not None
        assert reset.at - 1_784_116_800.0 == pytest.approx(wait)


def test_a_stated_wait_beats_a_stamp_in_a_guessed_zone() -> None:
    text = "Your limit will reset at 2026-09-12 00:35:41 retry-after-ms=997000"
    assert find_reset(text, at("2026-09-11T16:19:02"), "UTC") == at("2026-09-11T16:35:39")


ZONES = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Taipei", "Australia/Lord_Howe"])


@given(st.datetimes(datetime(2025, 1, 1), datetime(2030, 1, 1)), st.integers(0, 86_000), ZONES)  # noqa: DTZ001
def test_a_printed_clock_time_comes_back_within_a_day(start: datetime, ahead: int, name: str) -> None:
    """Whatever the zone and the season: the clock that is shown at a moment within a day is read as that moment,
    or, where it is shown twice, as the other one."""
    now = start.replace(tzinfo=UTC, microsecond=0)
    reset = (now + timedelta(seconds=ahead)).replace(second=0).astimezone(ZoneInfo(name))
    found = find_reset(f"resets {reset:%I:%M%p} ({name})", now.timestamp(), "UTC")
    assert found is not None
    assert datetime.fromtimestamp(found, reset.tzinfo).strftime("%H:%M") == f"{reset:%H:%M}"
    assert now.timestamp() - GRACE <= found <= now.timestamp() + 90_000
