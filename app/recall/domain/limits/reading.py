"""Reading a finished run's log for usage limits."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from recall.domain.limits.evidence import Evidence, is_header, take_apart
from recall.domain.limits.meaning import Meaning, goes_on, is_rate, is_retry, meaning, normal, per_minute
from recall.domain.limits.prose import shown, told, went_on, without_fenced
from recall.domain.reset_time import SHORT, best_reset, field_reset, resets_in
from recall.domain.run import Report
from recall.domain.usage import LimitClass, LimitFinding, LimitPatterns

_LAST_LINES = 20
_NEAR_THE_END = 6
_WRAPPED = 3
_MAX_LINE = 800
_MAX_STATEMENT = 1500
_MAX_EVENTS = 5
_MAX_SHOWN = 300

#: So much may follow an event that ended a run: some agents repeat it as a message of their own.
_ECHOES = 2


def read_run(
    log_tail: str, *, exit_code: int | None, report: Report | None, now: float, tz: str, patterns: LimitPatterns
) -> LimitFinding:
    """Say whether a run ended at a usage limit; a report of success beats any text. See `read_limits`."""
    if report is not None and report.result == "success":
        return LimitFinding(reason="the run reported success")
    return read_limits(log_tail, exit_code=exit_code, reported=report is not None, now=now, tz=tz, patterns=patterns)


def read_limits(
    log_tail: str, *, exit_code: int | None, reported: bool, now: float, tz: str, patterns: LimitPatterns
) -> LimitFinding:
    """Say whether a run ended at a usage limit, and when that ends.

    `log_tail` is raw output; its last 20 lines count. `exit_code` is None or negative for a run that was
    stopped. `now` is the run's end in wall seconds UTC, `tz` the zone of times that name none. A run that
    reported and ended well is never limited. `patterns` are the agent's own, on top of the common ones.
    """
    if reported and exit_code == 0:
        return LimitFinding(reason="the run reported and ended well")
    log = take_apart(log_tail, _LAST_LINES)
    if log.succeeded and exit_code == 0:
        return LimitFinding(reason="the agent's last event says that it ended well")
    reader = _Reader(now, tz, patterns)
    found = reader.in_events(log.events) or reader.in_text(log.lines, exit_code)
    return found or LimitFinding(reason="no sign of a limit in error position")


class _Reader:
    """Turns evidence into findings for one moment, zone and agent."""

    def __init__(self, now: float, tz: str, patterns: LimitPatterns) -> None:
        self._now = now
        self._tz = tz
        self._patterns = patterns

    def in_events(self, events: list[Evidence]) -> LimitFinding | None:
        """Give what the last error events say; a refused request that was an event of its own knows best
        when the limit ends."""
        last = [event for event in events if event.age <= _ECHOES][-_MAX_EVENTS:]
        findings = [found for event in last if (found := self._event(event))]
        refused = [found for event in last if event.rejected and (found := self._event(event))]
        best = _best(findings)
        if best is not None and refused and best.kind in {LimitClass.LIMIT, LimitClass.TRANSIENT}:
            return refused[-1]
        return best

    def in_text(self, lines: list[str], exit_code: int | None) -> LimitFinding | None:
        """Give what lines in error position say. After exit code 0 only the very last ones are trusted."""
        lines = without_fenced([normal(line[:_MAX_LINE]) for line in lines])[-_LAST_LINES:]
        first = max(len(lines) - _NEAR_THE_END, 0) if exit_code == 0 else 0
        return _best([found for at in range(first, len(lines)) if (found := self._line(lines, at))])

    def _event(self, event: Evidence) -> LimitFinding | None:
        statement = normal(event.text[:_MAX_STATEMENT])
        meant = meaning(statement, self._patterns)
        return None if meant is None else self._finding(meant, statement, event.fields, "event")

    def _line(self, lines: list[str], at: int) -> LimitFinding | None:
        line = lines[at]
        if not line or meaning(" ".join(lines[at : at + _WRAPPED + 1]), self._patterns) is None or shown(line):
            return None
        statement = " ".join(_statement(lines, at))[:_MAX_STATEMENT]
        meant = meaning(statement, self._patterns)
        if meant is None or meant.start >= len(line) or told(line, meant.start, statement[meant.end :]):
            return None
        if goes_on(statement) or went_on(lines[at + 1 :]):
            return None
        found = self._finding(meant, statement, (), "text")
        return None if is_retry(statement) and found.kind is LimitClass.TRANSIENT and not found.limited else found

    def _finding(
        self, meant: Meaning, statement: str, fields: tuple[tuple[str, str | float], ...], source: str
    ) -> LimitFinding:
        resets = [reset for key, value in fields if (reset := field_reset(key, value, self._now, self._tz))]
        reset_at = best_reset(resets + resets_in(statement, self._now, self._tz), self._now)
        kind, limited = self._weigh(meant, statement, reset_at)
        return LimitFinding(kind, limited, reset_at, statement[:_MAX_SHOWN], source, _words(kind, limited, reset_at))

    def _weigh(self, meant: Meaning, statement: str, reset_at: float | None) -> tuple[LimitClass, bool]:
        """Tell a used-up window from asking too fast: a wait of minutes is passing trouble, one of hours is
        not, whatever it is called."""
        long = reset_at is not None and reset_at - self._now > SHORT
        if meant.kind is LimitClass.TRANSIENT:
            rate = is_rate(statement)
            return (LimitClass.LIMIT, True) if rate and long else (LimitClass.TRANSIENT, rate)
        if meant.kind is LimitClass.LIMIT:
            brief = per_minute(statement) or (meant.rate and reset_at is not None)
            return (LimitClass.TRANSIENT if brief and not long else LimitClass.LIMIT), True
        return meant.kind, meant.kind is LimitClass.CREDIT


def _statement(lines: list[str], at: int) -> Iterator[str]:
    """Give a line, the few behind it that may continue it, up to a blank or a displayed one, and the headers
    that follow."""
    yield lines[at]
    wrapped = True
    for behind, line in enumerate(lines[at + 1 :], start=1):
        wrapped = wrapped and behind <= _WRAPPED and bool(line) and not shown(line)
        if wrapped or is_header(line):
            yield line


def _best(findings: list[LimitFinding]) -> LimitFinding | None:
    """Choose the finding that tells most, the last of equals."""
    ranked = sorted(findings, key=lambda found: (found.kind is not LimitClass.TRANSIENT, found.reset_at is not None))
    return ranked[-1] if ranked else None


def _words(kind: LimitClass, limited: bool, reset_at: float | None) -> str:
    until = "" if reset_at is None else f" until {datetime.fromtimestamp(reset_at, UTC):%Y-%m-%d %H:%M UTC}"
    match kind:
        case LimitClass.LIMIT:
            return f"usage limit reached{until or ', no reset time given'}"
        case LimitClass.CREDIT:
            return f"out of credit{until}; a person must act"
        case LimitClass.AUTH:
            return "not signed in; a person must act"
        case _:
            return f"asked too fast{until}" if limited else "the provider is in trouble"
