"""A report as Markdown for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from recall.cli.figures_text import figures_json
from recall.cli.markdown import code, escaped, table
from recall.cli.words import clock_time
from recall.domain.figures.report import AgentLine, Failures, Landed, Report
from recall.domain.figures.waiting import Waiting
from recall.domain.figures.words import cost_words, length, percent, result_words, size_words, tokens
from recall.domain.outcome import CONSEQUENCES

_TITLE = 60


def report_markdown(report: Report) -> Iterator[str]:
    yield f"# {escaped(report.project)}: {clock_time(report.since)} to {clock_time(report.now)}"
    yield ""
    yield _summary(report)
    for title, lines in (
        ("Waits for you", [_waiting(one) for one in report.waiting]),
        ("Landed", _landed(report.landed)),
        ("Did not land", [line for one in report.failures for line in _failures(one)]),
        ("Limits", list(_limits(report))),
        ("Agents", _agents(report)),
    ):
        if lines:
            yield from ("", f"## {title}", "", *lines)


def _summary(report: Report) -> str:
    ended = sum(one.count for one in report.failures)
    rate = report.figures.per_hour
    parts = [
        f"{len(report.landed)} landed" + (f" ({rate:.1f} an hour)" if rate is not None and report.landed else ""),
        f"{ended} {'run' if ended == 1 else 'runs'} did not land",
        f"{len(report.waiting)} wait for you",
        f"cost {cost_words(report.spent)}",
    ]
    now = ", ".join(f"{count} {word}" for word, count in report.still)
    return f"{', '.join(parts)}. Now: {now or 'no tasks'}."


def _waiting(one: Waiting) -> str:
    why = escaped(one.why)
    end = "" if why.endswith((".", "?", "!")) else "."
    action = code(one.action) if one.action.startswith("recall ") else one.action
    return f"- **{escaped(one.what)}** {why}{end} Next: {action}"


def _landed(landed: tuple[Landed, ...]) -> list[str]:
    if not landed:
        return []
    rows = [
        (
            clock_time(one.at),
            escaped(str(one.ref)),
            escaped(one.title, _TITLE),
            escaped(one.agent),
            size_words(one.size),
            code(one.commit[:12]),
        )
        for one in landed
    ]
    return table(("when", "task", "title", "agent", "change", "commit"), rows)


def _failures(one: Failures) -> Iterator[str]:
    yield f"- **{result_words(one.result)}** {one.count}: {CONSEQUENCES[one.result].meaning}"
    for run in one.runs:
        yield f"  - {escaped(str(run.ref))}, run {run.id} of {escaped(run.agent)}: {escaped(run.reason)}"
    if one.count > len(one.runs):
        yield f"  - and {one.count - len(one.runs)} before"


def _limits(report: Report) -> Iterator[str]:
    for one in report.figures.limits:
        cut = f", {one.interrupted} runs cut off after {length(one.lost)} of work" if one.interrupted else ""
        yield f"- **{escaped(one.agent)}** cooled {length(one.cooled)}{cut}"


def _agents(report: Report) -> list[str]:
    if not report.lines:
        return []
    weights = {(one.agent, one.type): one for one in report.figures.success}
    rows = [_agent(one, percent(weights[one.agent, one.type].share)) for one in report.lines]
    return table(("agent", "type", "runs", "landed", "success", "tokens in", "out", "cost"), rows)


def _agent(one: AgentLine, share: str) -> tuple[str, ...]:
    spent = one.spent
    counts = str(one.runs), str(one.landed), share, tokens(spent.input_tokens), tokens(spent.output_tokens)
    return escaped(one.agent), escaped(one.type), *counts, cost_words(spent)


def report_json(report: Report) -> dict[str, object]:
    """Everything of the page, with all figures; moments are wall seconds UTC, null where nothing is known."""
    return {
        "project": report.project,
        "since": report.since,
        "now": report.now,
        "landed": [{**asdict(one), "ref": str(one.ref)} for one in report.landed],
        "waiting": [asdict(one) for one in report.waiting],
        "failures": [
            {
                "result": one.result.value,
                "count": one.count,
                "runs": [
                    {"run_id": run.id, "task": str(run.ref), "agent": run.agent, "reason": run.reason}
                    for run in one.runs
                ],
            }
            for one in report.failures
        ],
        "agents": [asdict(one) for one in report.lines],
        "spent": asdict(report.spent),
        "tasks": dict(report.still),
        "figures": figures_json(report.figures),
    }
