"""A report as lines: what waits, what landed, what did not, limits, agents."""

from __future__ import annotations

from recall.domain.figures.report import AgentLine, Failures, Landed, Report
from recall.domain.figures.waiting import Waiting
from recall.domain.figures.words import cost_words, length, percent, result_words, size_words
from recall.domain.outcome import CONSEQUENCES
from recall.domain.run import Run
from recall.domain.task import TaskRef
from recall.domain.words import moment
from recall.ui.details.lines import blank_row, counted, text_rows, title_row
from recall_widgets.glyphs import GLYPHS, UNICODE, Shown, Symbols
from recall_widgets.heading import HeadingFacts
from recall_widgets.listing import ListRow
from recall_widgets.spans import Span, clip

_REF, _NAME, _TYPE = 10, 12, 14


def report_heading(report: Report) -> HeadingFacts:
    begin, end = moment(report.since, report.now), moment(report.now, report.now)
    ended = sum(one.count for one in report.failures)
    words = f"{len(report.landed)} landed, {counted(ended, 'run')} did not, {len(report.waiting)} wait for you"
    return HeadingFacts("Report", f"{begin} to {end}: {words}", right=f"cost {cost_words(report.spent)}")


def report_rows(report: Report, width: int, symbols: Symbols = UNICODE) -> list[ListRow]:
    """What waits comes first; every line about a task or run opens it."""
    sections = (
        ("waits", "Waits for you", [row for one in report.waiting for row in _waiting(one, report, width, symbols)]),
        ("landed", "Landed", [_landed(one, report.now, symbols) for one in report.landed]),
        ("failed", "Did not land", [row for one in report.failures for row in _failed(one, symbols)]),
        ("limits", "Limits", _limits(report, symbols)),
        ("agents", "Agents", [_agent(one, report) for one in report.lines]),
    )
    rows: list[ListRow] = []
    for key, title, lines in sections:
        if lines:
            rows += [*([blank_row(key)] if rows else []), title_row(key, title), *lines]
    return rows or text_rows("quiet", "Nothing came to an end in this time, and nothing waits for you.", width)


def _waiting(one: Waiting, report: Report, width: int, symbols: Symbols) -> list[ListRow]:
    task = TaskRef.parse(one.what)
    opens = f"task:{task.region}:{task.id}" if task in report.known else ""
    first = (
        Span(f"{symbols.glyph(Shown.NEEDS_YOU)} ", GLYPHS[Shown.NEEDS_YOU].tone),
        Span(f"{one.what:<{_REF}} ", "strong"),
        Span(one.why),
    )
    return [
        ListRow(f"waits:{one.what}", first, opens=opens),
        ListRow(f"next:{one.what}", (Span(f"    next: {clip(one.action, width, symbols.ellipsis)}", "muted"),)),
    ]


def _landed(one: Landed, now: float, symbols: Symbols) -> ListRow:
    left = (
        Span(f"{symbols.glyph(Shown.DONE)} ", GLYPHS[Shown.DONE].tone),
        Span(f"{one.ref!s:<{_REF}} ", "strong"),
        Span(one.title),
    )
    right = (Span(f"{one.agent}  "), Span(f"{size_words(one.size)}  {moment(one.at, now)}", "muted"))
    return ListRow(f"landed:{one.run_id}", left, right, f"run:{one.run_id}")


def _failed(one: Failures, symbols: Symbols) -> list[ListRow]:
    meaning = CONSEQUENCES[one.result].meaning
    head = (Span(f"{one.count} {result_words(one.result)}", "strong"), Span(f"  {meaning}", "muted"))
    return [ListRow(f"failed:{one.result}", head), *(_failed_run(run, symbols) for run in one.runs)]


def _failed_run(run: Run, symbols: Symbols) -> ListRow:
    left = (
        Span(f"{symbols.glyph(Shown.FAILED)} ", GLYPHS[Shown.FAILED].tone),
        Span(f"{run.ref!s:<{_REF}} ", "strong"),
        Span(run.reason),
    )
    return ListRow(f"failed:{run.id}", left, (Span(run.agent),), f"run:{run.id}")


def _limits(report: Report, symbols: Symbols) -> list[ListRow]:
    glyph = GLYPHS[Shown.COOLING]
    return [
        ListRow(
            f"limit:{one.agent}",
            (
                Span(f"{symbols.glyph(Shown.COOLING)} ", glyph.tone),
                Span(f"{one.agent:<{_NAME}} ", "strong"),
                Span(f"cooled {length(one.cooled)}, {counted(one.interrupted, 'run')} cut off"),
                Span(f" after {length(one.lost)} of work" if one.interrupted else "", "muted"),
            ),
        )
        for one in report.figures.limits
    ]


def _agent(one: AgentLine, report: Report) -> ListRow:
    success = next(each for each in report.figures.success if (each.agent, each.type) == (one.agent, one.type))
    low, high = success.weight.interval
    share = f"{percent(success.share)}, by 95 % {percent(low)} to {percent(high)}" if success.weight.runs else ""
    left = (
        Span(f"{one.agent:<{_NAME}} ", "strong"),
        Span(f"{one.type:<{_TYPE}} "),
        Span(f"{one.landed} of {counted(one.runs, 'run')} landed  "),
        Span(share, "muted"),
    )
    return ListRow(f"agent:{one.agent}:{one.type}", left, (Span(cost_words(one.spent), "muted"),))
