"""Figures as a page for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from recall.cli.words import clock_time, columns
from recall.domain.figures.leases import LeaseFigures
from recall.domain.figures.limits import LimitCost
from recall.domain.figures.measure import Figures, Success
from recall.domain.figures.spend import Spent
from recall.domain.figures.spread import Spread
from recall.domain.figures.words import (
    cost_words,
    length,
    margin_words,
    percent,
    result_words,
    step,
    tokens,
)

#: So many hours are drawn; JSON has all.
_HOURS = 24
_BAR = 30

Row = tuple[str, ...]


def figures_lines(figures: Figures, project: str, *, ascii_only: bool) -> Iterator[str]:
    yield f"{project}  since {clock_time(figures.since)}, {length(figures.now - figures.since)}"
    sections: tuple[tuple[str, list[Row]], ...] = (
        (_landed_title(figures), _hour_rows(figures, ascii_only=ascii_only)),
        ("Results", [(result_words(result), str(count)) for result, count in figures.results]),
        ("Success, with what it may be by 95 %", [_success_row(one) for one in figures.success]),
        ("Times", _time_rows(figures)),
        ("Leases", _lease_rows(figures.leases)),
        ("Limits", [_limit_row(one) for one in figures.limits] or [("none was met",)]),
        ("Use", _spent_rows(figures.spending)),
    )
    for title, rows in sections:
        yield f"\n{title}"
        yield from columns(rows) if rows else ["  no run came to an end"]


def _landed_title(figures: Figures) -> str:
    rate = f", {figures.per_hour:.1f} an hour" if figures.per_hour is not None else ""
    return f"Landed  {figures.landed}{rate}"


def _hour_rows(figures: Figures, *, ascii_only: bool) -> list[Row]:
    shown = figures.hours[-_HOURS:]
    most = max((count for _, count in shown), default=1)
    mark = "#" if ascii_only else "▇"
    rows = [(clock_time(hour), mark * max(1, round(count / most * _BAR)) + f" {count}") for hour, count in shown]
    left_out = len(figures.hours) - len(shown)
    return [(f"and {left_out} hours before", ""), *rows] if left_out else rows or [("nothing yet", "")]


def _success_row(one: Success) -> Row:
    low, high = one.weight.interval
    counts = f"{one.weight.landed} of {one.weight.runs} landed"
    said = f"{percent(low)} to {percent(high)}" if one.weight.runs else "says nothing of ability"
    others = ", ".join(f"{count} {result_words(result)}" for result, count in one.results if result != "landed")
    return one.agent, one.type, counts, percent(one.share), said, others


def _time_rows(figures: Figures) -> list[Row]:
    times = figures.times
    rows: list[tuple[str, Spread]] = [
        ("task, claim to main", times.task),
        ("until the agent began", times.start),
        ("agent at work", times.work),
        ("waiting in the queue", times.queue),
        ("verify command", times.verify),
    ]
    return [("", "count", "median", "95 %", "longest"), *((name, *_spread_row(each)) for name, each in rows)]


def _spread_row(spread: Spread) -> Row:
    if not spread.count:
        return "0", "not known", "", ""
    return str(spread.count), length(spread.median), length(spread.p95), length(spread.longest)


def _lease_rows(leases: LeaseFigures) -> list[Row]:
    gaps = leases.gaps
    rows: list[Row] = [
        ("renewals", f"{leases.renewals} in {gaps.count} runs, one each {length(leases.heartbeat)} is wanted"),
        ("lease's length", margin_words(leases)),
        ("ran out", f"{leases.ran_out}, of which {leases.taken_over} were taken over by a later claim"),
        ("refused writes", f"{leases.refused} came too late or from another"),
    ]
    if gaps.count:
        said = f"median {length(gaps.median)}, 95 % {length(gaps.p95)}, longest {length(gaps.longest)}"
        rows[1:1] = [("longest gap", said), ("beyond heartbeat", f"{length(leases.late.longest)} at most")]
    if leases.steps:
        what = f"in {leases.steps} runs, the largest {step(leases.largest_step)}: set by hand, or the machine slept"
        rows.append(("clock steps", what))
    else:
        rows.append(("clock steps", "none" if gaps.count else "not known"))
    return rows


def _limit_row(one: LimitCost) -> Row:
    results = ", ".join(f"{count} {result_words(result)}" for result, count in one.results)
    cut = f"{one.interrupted} runs cut off after {length(one.lost)} of work" if one.interrupted else "no run cut off"
    return one.agent, f"cooled {length(one.cooled)}", cut, results


def _spent_rows(spending: tuple[Spent, ...]) -> list[Row]:
    rows = [
        (
            one.day,
            one.agent,
            one.type,
            str(one.runs),
            tokens(one.input_tokens),
            tokens(one.output_tokens),
            tokens(one.cached_tokens),
            cost_words(one),
        )
        for one in spending
    ]
    return [("day", "agent", "type", "runs", "tokens in", "out", "cached", "cost"), *rows] if rows else []


def figures_json(figures: Figures) -> dict[str, object]:
    """All figures; times are seconds, moments wall seconds UTC, null where nothing is known."""
    leases = figures.leases
    return {
        "since": figures.since,
        "now": figures.now,
        "landed": {
            "count": figures.landed,
            "per_hour": figures.per_hour,
            "hours": [{"start": hour, "landed": count} for hour, count in figures.hours],
        },
        "results": {result.value: count for result, count in figures.results},
        "success": [_success_json(one) for one in figures.success],
        "times": {name: asdict(each) for name, each in _named_spreads(figures)},
        "leases": {**asdict(leases), "margin": leases.margin},
        "limits": [{**asdict(one), "results": dict(one.results)} for one in figures.limits],
        "spending": [asdict(one) for one in figures.spending],
    }


def _named_spreads(figures: Figures) -> Iterator[tuple[str, Spread]]:
    times = figures.times
    yield from (("task", times.task), ("start", times.start), ("work", times.work))
    yield from (("queue", times.queue), ("verify", times.verify))


def _success_json(one: Success) -> dict[str, object]:
    low, high = one.weight.interval
    return {
        "agent": one.agent,
        "type": one.type,
        "runs": one.runs,
        "landed": one.weight.landed,
        "failed": one.weight.failed,
        "share": one.share,
        "low": round(low, 4),
        "high": round(high, 4),
        "results": {result.value: count for result, count in one.results},
    }
