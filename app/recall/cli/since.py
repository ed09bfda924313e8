"""From when on: a time as people say it, looking back."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import click

from recall.config.values import Unfit, positive_duration

_CLOCK_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_DAYS = {"today": 0, "yesterday": 1}


def moment_before(text: str, now: float) -> float:
    """Read a time of day (the last one), a date with or without time, `today`, `yesterday`, or how long ago, as wall
    seconds UTC. Raises click.BadParameter for anything else, and for what is yet to come."""
    found = _read(text.strip(), now)
    if found is None:
        raise click.BadParameter(
            f"{text!r} is no time: give a time of day (22:00), a date (2026-12-24, 2026-12-24T18:00), "
            "today, yesterday, or how long ago (8h, 90m, 2d)"
        )
    if found > now:
        raise click.BadParameter(f"{text!r} is yet to come")
    return found


def _read(text: str, now: float) -> float | None:
    clock = _CLOCK_TIME.fullmatch(text)
    if clock is not None:
        return _last(int(clock[1]), int(clock[2]), now)
    if text in _DAYS:
        return _midnight(now, _DAYS[text])
    try:
        return now - positive_duration(text)
    except Unfit:
        pass
    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _last(hour: int, minute: int, now: float) -> float:
    moment = _local(now).replace(hour=hour, minute=minute, second=0, microsecond=0)
    if moment.astimezone().timestamp() > now:
        moment -= timedelta(days=1)
    return moment.astimezone().timestamp()


def _local(wall: float) -> datetime:
    """A moment as clocks here show it, without its offset: another day may have another one."""
    return datetime.fromtimestamp(wall).astimezone().replace(tzinfo=None)


def _midnight(now: float, days: int) -> float:
    today = _local(now).replace(hour=0, minute=0, second=0, microsecond=0)
    return (today - timedelta(days=days)).astimezone().timestamp()
