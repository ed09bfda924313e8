"""When a usage limit ends, read from the words and fields that agents print.

All moments are wall seconds UTC. Nothing here is a list of sentences: a word such as `resets` or `try again`
announces a moment, and the moment is put together from whatever date, weekday, clock, zone or duration follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from itertools import islice
from zoneinfo import ZoneInfo

from recall.domain.frozen import frozen

#: A printed moment this long ago has just passed; it is not the same time tomorrow.
GRACE = 600.0

#: No limit lasts longer than a month. What is further away was misread, or calls for a person.
HORIZON = 35 * 86_400.0

#: A wait that a client computes for its own retry, not the end of a usage window.
SHORT = 300.0

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

_ABBREVIATIONS = {
    "UTC": "UTC", "GMT": "UTC", "Z": "UTC",
    "ET": "America/New_York", "EST": "-05:00", "EDT": "-04:00",
    "CT": "America/Chicago", "CST": "-06:00", "CDT": "-05:00",
    "MT": "America/Denver", "MST": "-07:00", "MDT": "-06:00",
    "PT": "America/Los_Angeles", "PST": "-08:00", "PDT": "-07:00",
    "BST": "+01:00", "WET": "+00:00", "WEST": "+01:00", "CET": "+01:00", "CEST": "+02:00",
    "EET": "+02:00", "EEST": "+03:00", "MSK": "+03:00", "IST": "+05:30", "SGT": "+08:00", "HKT": "+08:00",
    "JST": "+09:00", "KST": "+09:00", "AEST": "+10:00", "AEDT": "+11:00",
}  # fmt: skip

#: Words that announce the end of a limit. `try again` and its like may also mean a client's own short retry.
_ANNOUNCED = re.compile(
    r"""\b(?P<reset>re-?set(?:s|ting)?(?:[-_ ]?(?:at|in|time|date|after|on))?|renew(?:s|al)?|refresh(?:es)?
          |re-?opens?|unlocks?|unlocked|replenish(?:es|ed)?|restored?|cycle\ ends|window\ ends|lift(?:s|ed))\b
      |\b(?P<retry>(?:try|trying|tried)(?:\ it)?\ again|retry(?:ing)?(?:[-_ ]?(?:after|at|in|delay))?|come\ back
          |be\ back|available(?:\ again)?|wait(?:ing)?|until|till|expires?|resumes?|continue)\b
      |(?P<stands_before>将(?:在|于)|请(?:在|于))""",
    re.IGNORECASE | re.VERBOSE,
)

_FIELD = re.compile(
    r"""["']?\b(?P<key>[\w-]*(?:retry|reset|wait|cool-?down)[\w-]*)["']?\s*[:=]\s*["']?
        (?P<value>[A-Za-z]{3},\ [^"'\n]{20,28}|\d{4}-\d\d-\d\d[T\ ][^\s"',})\]]+|[\d.]+[\w.]*)""",
    re.IGNORECASE | re.VERBOSE,
)

_NUMBER_OF = r"(?:\d{1,9}(?:\.\d{1,9})?|an?|one|half\ an)"
_UNIT = r"(?:milliseconds?|millis|ms|weeks?|wks?|w|days?|d|hours?|hrs?|hr|h|minutes?|mins?|m|seconds?|secs?|s)"
_DURATION = re.compile(rf"(?:{_NUMBER_OF}\s*{_UNIT}(?![a-z])(?:\s*,?\s*(?:and\s+)?(?=\d))?){{1,7}}", re.IGNORECASE)
_PART = re.compile(rf"({_NUMBER_OF})\s*({_UNIT})(?![a-z])", re.IGNORECASE)
_STOPWATCH = re.compile(r"(\d{1,3}):(\d\d):(\d\d)\b")

_MONTH = "(?:" + "|".join(_MONTHS) + ")[a-z]{0,6}"
_YEAR = r"(?:,?\s+(?P<{}>20\d\d)\b(?!:))?"
_TOKENS = {
    "iso": re.compile(r"(?P<y>20\d\d)[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d)"),
    "slashed": re.compile(r"(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<y>20\d\d)\b"),
    "month_day": re.compile(
        rf"(?P<m>{_MONTH})\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:){_YEAR.format('y')}", re.IGNORECASE
    ),
    "day_month": re.compile(
        rf"(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m>{_MONTH})\b\.?{_YEAR.format('y')}", re.IGNORECASE
    ),
    "weekday": re.compile("(?P<day>" + "|".join(_DAYS) + r")(?:s|nes|rs|ur)?(?:day)?s?\b\.?", re.IGNORECASE),
    "epoch": re.compile(r"(?P<epoch>\d{10}(?:\d{3})?)(?:\.\d+)?\b"),
    "clock": re.compile(
        r"(?P<h>\d{1,2})(?:(?::(?P<m>\d\d)(?::(?P<s>\d\d)(?:\.\d+)?)?)?\s?(?P<half>[ap])\.?\s?m\b\.?"
        r"|:(?P<m24>\d\d)(?::(?P<s24>\d\d)(?:\.\d+)?)?(?!\d))",
        re.IGNORECASE,
    ),
    "word": re.compile(r"(?P<word>today|tonight|tomorrow|midnight|noon)\b", re.IGNORECASE),
    "zone": re.compile(
        r"(?P<name>[A-Z][A-Za-z_]+(?:/[A-Za-z0-9_+-]+){1,2})"
        r"|(?:UTC|GMT)?(?P<offset>[+-]\d{1,2}(?::?\d\d)?)(?!\d)"
        r"|(?P<abbreviation>" + "|".join(sorted(_ABBREVIATIONS, key=len, reverse=True)) + r")\b"
    ),
}
_FILLER = re.compile(
    r"(?:[\s,·∙()\[\]~-]|(?:at|on|the|by|about|around|approximately|next|this|of|in)\b|T(?=\d))+", re.I
)
_SENTENCE_END = re.compile(r"[.;!?](?:\s|$)")
_REACH = 48
_MOST = 12


@frozen
class Reset:
    """A moment that was read. `certain`: it names its zone or needs none. `relative`: counted from now.
    `retry`: announced as a retry, so perhaps only a client's own pause."""

    at: float
    certain: bool
    relative: bool = False
    retry: bool = False


def find_reset(text: str, now: float, tz: str) -> float | None:
    """Give the moment at which the limit in this cleaned text ends, or None if it names none that can be
    believed. Moments without a zone are read in the zone `tz`."""
    return best_reset(resets_in(text, now, tz), now)


def best_reset(found: list[Reset], now: float) -> float | None:
    """Choose between moments: one that needs no zone, else a long wait, else a time in a guessed zone."""
    believed = [reset for reset in found if now - GRACE <= reset.at <= now + HORIZON]
    ranked = sorted(believed, key=lambda reset: _doubt(reset, now))
    return ranked[0].at if ranked else None


def resets_in(text: str, now: float, tz: str) -> list[Reset]:
    """Give every moment that the text announces, in order."""
    found = [
        reset for match in _FIELD.finditer(text) if (reset := field_reset(match["key"], match["value"], now, tz))
    ]
    if (bar := re.search(r"\|\s*(\d{10}(?:\d{3})?)\b", text)) is not None:
        found.append(Reset(_epoch(bar[1]), certain=True))
    found += (
        reset for match in islice(_ANNOUNCED.finditer(text), _MOST) if (reset := _announced(text, match, now, tz))
    )
    return found


def field_reset(key: str, value: str | float, now: float, tz: str) -> Reset | None:
    """Read a field such as `resets_at`, `retry-after-ms` or `retryDelay`. Small numbers are seconds from now
    (milliseconds if the key says so), large ones seconds or milliseconds since 1970."""
    name = key.lower().replace("-", "").replace("_", "")
    retry = "reset" not in name
    text = str(value).strip()
    if re.fullmatch(r"\d{1,16}(?:\.\d+)?", text):
        number = float(text)
        if number >= 1e9 and not name.endswith("ms"):
            return Reset(_epoch(text), certain=True, retry=retry)
        return Reset(
            now + (number / 1000 if name.endswith("ms") else number), certain=True, relative=True, retry=retry
        )
    if (wait := _DURATION.match(text)) is not None:
        return Reset(now + _seconds(wait[0]), certain=True, relative=True, retry=retry)
    moment = _moment(text, 0, now, tz)
    return None if moment is None else Reset(moment.at, moment.certain, retry=retry)


@lru_cache(maxsize=256)
def zone(name: str) -> tzinfo | None:
    """Give the zone of a name, an abbreviation or an offset (`GMT-3` is three hours behind UTC); None if the
    system does not know it."""
    named = _ABBREVIATIONS.get(name, name)
    offset = re.fullmatch(r"(?:UTC|GMT)?([+-])(\d{1,2}):?(\d\d)?", named)
    if offset is not None:
        minutes = int(offset[2]) * 60 + int(offset[3] or 0)
        return timezone(timedelta(minutes=-minutes if offset[1] == "-" else minutes)) if minutes < 1440 else None
    if named == "UTC":
        return UTC
    try:
        return ZoneInfo(named)
    except (KeyError, ValueError, OSError):
        return None


def _doubt(reset: Reset, now: float) -> tuple[int, bool]:
    if reset.certain and not reset.relative:
        return 0, reset.retry
    if reset.relative and (not reset.retry or reset.at - now >= SHORT):
        return 1, reset.retry
    return 3 if reset.relative else 2, reset.retry


def _announced(text: str, word: re.Match[str], now: float, tz: str) -> Reset | None:
    """Read the moment that follows an announcing word in the same sentence."""
    reach = text[word.end() : word.end() + _REACH]
    start = next(_values(reach), None)
    if start is None or _SENTENCE_END.search(reach, 0, start):
        return None
    at, retry = word.end() + start, word["retry"] is not None
    wait = _DURATION.match(text, at)
    if wait is not None:
        return Reset(now + _seconds(wait[0]), certain=True, relative=True, retry=retry)
    watch = _STOPWATCH.match(text, at)
    if watch is not None and re.search(r"\b(?:in|after|for)\s*$", text[:at], re.IGNORECASE):
        hours, minutes, seconds = map(int, watch.groups())
        return Reset(now + hours * 3600 + minutes * 60 + seconds, certain=True, relative=True, retry=retry)
    moment = _moment(text, at, now, tz)
    return None if moment is None else Reset(moment.at, moment.certain, retry=retry)


def _values(reach: str) -> Iterator[int]:
    """Give the first place where a moment or a duration starts."""
    starts = [match.start() for name, token in _TOKENS.items() if name != "zone" and (match := token.search(reach))]
    starts += [match.start() for pattern in (_DURATION, _STOPWATCH) if (match := pattern.search(reach))]
    if starts:
        yield min(starts)


def _moment(text: str, at: int, now: float, tz: str) -> Reset | None:
    """Collect the date, weekday, clock and zone that stand together from `at` on, in any order."""
    said = _collect(text, at)
    if "epoch" in said:
        return Reset(_epoch(said["epoch"]["epoch"]), certain=True)
    try:
        return _resolve(said, now, tz)
    except (ValueError, OverflowError):
        return None


def _collect(text: str, at: int) -> dict[str, re.Match[str]]:
    said: dict[str, re.Match[str]] = {}
    while True:
        filler = _FILLER.match(text, at)
        start = filler.end() if filler else at
        for name, token in _TOKENS.items():
            match = token.match(text, start) if name not in said else None
            if match is not None:
                said[name], at = match, match.end()
                break
        else:
            return said


def _resolve(said: dict[str, re.Match[str]], now: float, tz: str) -> Reset | None:
    named = zone(next(filter(None, said["zone"].groups()))) if "zone" in said else None
    where = named or zone(tz) or UTC
    clock = _clock(said)
    today = datetime.fromtimestamp(now, where).date()
    days = list(_days(said, today, now))
    if not days or (clock is None and not set(said) - {"zone", "word"}):
        return None
    hour, minute, second = clock or (0, 0, 0)
    stamps = [_stamp(datetime(d.year, d.month, d.day, hour, minute, second), where, now) for d in days]  # noqa: DTZ001
    exact = len(stamps) == 1
    at = stamps[0] if exact else next((stamp for stamp in stamps if stamp >= now - GRACE), stamps[-1])
    return Reset(at, certain=named is not None)


def _clock(said: dict[str, re.Match[str]]) -> tuple[int, int, int] | None:
    word = said["word"]["word"].lower() if "word" in said else ""
    if "clock" not in said:
        return {"midnight": (0, 0, 0), "noon": (12, 0, 0)}.get(word)
    clock = said["clock"]
    hour = int(clock["h"])
    minute, second = int(clock["m"] or clock["m24"] or 0), int(clock["s"] or clock["s24"] or 0)
    if clock["half"] and hour <= 12:
        hour = hour % 12 + (12 if clock["half"].lower() == "p" else 0)
    return hour, minute, second


def _days(said: dict[str, re.Match[str]], today: date, now: float) -> Iterator[date]:
    """Give the day that was said, or the days it may be, the earliest first."""
    for name in ("iso", "slashed", "month_day", "day_month"):
        if name in said:
            yield _date(name, said[name], today)
            return
    word = said["word"]["word"].lower() if "word" in said else ""
    if word in {"today", "tonight", "tomorrow"}:
        yield today + timedelta(days=word == "tomorrow")
    elif "weekday" in said:
        ahead = (_DAYS.index(said["weekday"]["day"].lower()) - today.weekday()) % 7
        yield from (today + timedelta(days=ahead + week) for week in (-7, 0, 7))
    else:
        yield from (today + timedelta(days=day) for day in (-1, 0, 1))


def _date(name: str, said: re.Match[str], today: date) -> date:
    if name == "iso":
        return date(int(said["y"]), int(said["m"]), int(said["d"]))
    if name == "slashed":
        a, b = int(said["a"]), int(said["b"])
        return date(int(said["y"]), b, a) if a > 12 else date(int(said["y"]), a, b)
    month, day = _MONTHS.index(said["m"].lower()[:3]) + 1, int(said["d"])
    if said["y"]:
        return date(int(said["y"]), month, day)
    return min(_in_years(month, day, today.year), key=lambda one: abs(one - today))


def _in_years(month: int, day: int, year: int) -> Iterator[date]:
    """Give the day in last, this and next year, where it exists; ValueError if it exists in none."""
    found = False
    for one in (year - 1, year, year + 1):
        try:
            yield date(one, month, day)
        except ValueError:
            continue
        found = True
    if not found:
        raise ValueError(f"no day {day} in month {month}")


def _stamp(local: datetime, where: tzinfo, now: float) -> float:
    """Turn a wall-clock reading into a moment. One that happens twice means the first that is still ahead;
    one that a clock skips means the moment after the jump."""
    first, second = (local.replace(tzinfo=where, fold=fold).timestamp() for fold in (0, 1))
    return first if first > now or first >= second else second


def _epoch(digits: str) -> float:
    number = float(digits)
    return number / 1000 if number >= 1e11 else number


def _seconds(duration: str) -> float:
    return sum(_amount(number) * _length(unit) for number, unit in _PART.findall(duration))


def _amount(number: str) -> float:
    return {"a": 1.0, "an": 1.0, "one": 1.0, "half an": 0.5}.get(number.lower()) or float(number or 0)


def _length(unit: str) -> float:
    word = unit.lower()
    if word.startswith(("ms", "mil")):
        return 0.001
    return {"w": 604_800.0, "d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0}[word[0]]
