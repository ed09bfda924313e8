"""Percentiles are measured values, a short record says little, and what nobody measured is not known."""

from __future__ import annotations

import pytest

from recall.domain.event import Event
from recall.domain.figures.measure import figures_of
from recall.domain.figures.past import Past
from recall.domain.figures.spread import spread
from recall.domain.figures.words import day, length, margin_words, percent, step
from recall.domain.run import Run, RunResult, RunState

NOW = 1_800_000_000.0
HOUR = 3600.0


def _run(number: int, result: RunResult = RunResult.LANDED, *, agent: str = "ant", ended: float = NOW - 60.0) -> Run:
    return Run(
        number, "main", f"T-{number}", agent, f"{agent}-{number}", 1, 1, RunState.SETTLED, result, slot="s1",
        claimed_at=ended - 600.0, started_at=ended - 590.0, ended_at=ended - 10.0, settled_at=ended,
    )  # fmt: skip


def _cooling(seq: int, at: float, until: str, kind: str = "agent.cooling", before: str = "") -> Event:
    return Event(seq, at, "dispatcher", kind, agent="ant", before=before or None, after=until or None)


@pytest.mark.parametrize(
    ("values", "median", "p95", "longest"),
    [([7.0], 7.0, 7.0, 7.0), ([1.0, 2.0], 1.0, 2.0, 2.0), ([float(n) for n in range(1, 101)], 50.0, 95.0, 100.0)],
)
def test_percentiles_are_values_that_were_measured(
    values: list[float], median: float, p95: float, longest: float
) -> None:
    found = spread(reversed(values))
    assert (found.count, found.median, found.p95, found.longest) == (len(values), median, p95, longest)
    assert found.total == sum(values)


def test_nothing_measured_is_not_known() -> None:
    figures = figures_of(Past(NOW - HOUR, NOW, ttl=300.0, heartbeat=30.0), day)
    assert figures.times.task.median is None
    assert figures.leases.margin is None
    assert figures.leases.largest_step is None
    assert "nothing to choose" in margin_words(figures.leases)
    assert (length(None), percent(None), step(None)) == ("not known",) * 3


def test_landings_are_counted_by_the_hour_and_success_by_what_tells_of_ability() -> None:
    runs = (
        _run(1), _run(2, ended=NOW - 2 * HOUR), _run(3, RunResult.VERIFY_FAILED), _run(4, RunResult.CONFLICT),
        _run(5, ended=NOW - 30 * HOUR),
    )  # fmt: skip
    figures = figures_of(Past(NOW - 24 * HOUR, NOW, runs), day)
    assert figures.landed == 2
    assert [count for _, count in figures.hours] == [1, 1]
    assert figures.per_hour == pytest.approx(2 / 24)
    (success,) = figures.success
    assert (success.weight.landed, success.weight.failed, success.runs) == (2, 1, 4)
    low, high = success.weight.interval
    assert low < 2 / 3 < high
    assert figures.times.task.median == 600.0


def test_a_cooldown_counts_for_the_time_it_held_in_the_period() -> None:
    begun_before = _cooling(1, NOW - 3 * HOUR, "2027-01-15T07:00:00+00:00")  # an hour before NOW
    assert NOW == 1_800_000_000.0  # 2027-01-15 08:00 UTC
    lifted = _cooling(3, NOW - HOUR / 2 + 600.0, "", kind="agent.cooldown_lifted")
    again = _cooling(2, NOW - HOUR / 2, "2027-01-15T12:00:00+00:00")
    past = Past(NOW - 2 * HOUR, NOW, cooling=(lifted, again, begun_before))
    (cost,) = figures_of(past, day).limits
    assert cost.cooled == pytest.approx(HOUR + 600.0)
    assert cost.interrupted == 0


def test_a_longer_cooldown_takes_the_place_of_the_one_before_and_a_mere_pause_ends_none() -> None:
    first = _cooling(1, NOW - HOUR, "2027-01-15T07:30:00+00:00")
    second = _cooling(2, NOW - HOUR + 60.0, "2027-01-15T07:45:00+00:00")
    resumed = _cooling(3, NOW - HOUR + 120.0, "", kind="agent.resumed", before="paused")
    (cost,) = figures_of(Past(NOW - HOUR, NOW, cooling=(first, second, resumed)), day).limits
    assert cost.cooled == pytest.approx(45 * 60.0)


def test_what_cannot_be_read_of_an_event_costs_nothing() -> None:
    assert figures_of(Past(NOW - HOUR, NOW, cooling=(_cooling(1, NOW - 60.0, "soon"),)), day).limits == ()


def test_a_clock_that_was_set_back_makes_no_negative_time() -> None:
    odd = Run(1, "main", "T-1", "ant", "ant-1", 1, 1, RunState.SETTLED, RunResult.LANDED,
              claimed_at=NOW, started_at=NOW - 5, ended_at=NOW - 50, settled_at=NOW - 40)  # fmt: skip
    times = figures_of(Past(NOW - HOUR, NOW, (odd,)), day).times
    assert (times.task.median, times.start.median, times.work.median) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0.40 s"), (12.34, "12.3 s"), (200.0, "3:20"), (3 * 86400.0, "3 d 0 h")]
)
def test_times_are_written_as_exactly_as_they_are_worth(seconds: float, words: str) -> None:
    assert length(seconds) == words
    assert step(-seconds) == f"−{words}"
