"""A task as lines: its text and what is known of it, what it waits for, its runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recall.domain.outcome import CONSEQUENCES, Effect
from recall.domain.overview import Overview, spaced, why
from recall.domain.run import Run, RunResult, RunState
from recall.domain.task import Task, TaskRef
from recall.domain.words import done_mark, elapsed, moment, task_word, until
from recall.ui.board_views import SHOWN_TASK
from recall.ui.details.lines import blank_row, counted, fact_rows, joined, text_rows, title_row
from recall_widgets.glyphs import GLYPHS, UNICODE, Shown, Symbols
from recall_widgets.heading import HeadingFacts
from recall_widgets.listing import ListRow
from recall_widgets.spans import Span

_ID = 10


def task_heading(task: Task, now: float) -> HeadingFacts:
    word = task_word(task)
    since = f"since {moment(task.changed_at, now)}" if task.changed_at else ""
    return HeadingFacts(str(task.ref), task.title, SHOWN_TASK[word], word + done_mark(task), since)


def fact_list(task: Task, overview: Overview, width: int, attempts: int) -> list[ListRow]:
    """What holds it, what the list says of it, its text. `attempts` is how many a task has if it says nothing."""
    rows: list[ListRow] = []
    for label, value in _facts(task, overview, attempts):
        rows += fact_rows(label, label, value, width)
    if task.brief:
        rows += [
            blank_row("brief"),
            title_row("brief", "Told to the next run"),
            *text_rows("brief", task.brief, width),
        ]
    text = task.body.strip("\n")
    if text:
        rows += [blank_row("text"), *text_rows("body", text, width)]
    return rows


def _facts(task: Task, overview: Overview, attempts: int) -> Iterator[tuple[str, str]]:
    yield "why", why(task, overview)
    yield "type", joined([task.type, f"priority {task.priority}"])
    used = f"{task.attempts} of {counted(task.max_attempts or attempts, 'attempt')} used"
    yield "attempts", joined([used, counted(task.interruptions, "interruption") if task.interruptions else ""])
    yield "only for", ", ".join(task.takers)
    yield "touches", ", ".join(task.touches)
    yield "verify", task.verify or ""
    yield "time limit", elapsed(task.timeout_s) if task.timeout_s else ""
    if task.retry_at is not None and task.retry_at > overview.now:
        yield "again", until(task.retry_at, overview.now)
    yield "landed as", task.done_commit or ""


def link_rows(task: Task, overview: Overview, symbols: Symbols = UNICODE) -> list[ListRow]:
    """What the task waits for, and what waits for it; each opens."""
    ref, index = task.ref, overview.index
    after = [_linked("after", one, index.get(one), symbols) for one in task.prerequisites]
    behind = [_linked("before", one.ref, one, symbols) for one in overview.tasks if ref in one.prerequisites]
    parts = [] if task.parent is None else [_parent(task, overview, symbols)]
    rows = [title_row("after", "Waits for", str(len(after))), *after] if after else []
    if behind:
        rows += [*([blank_row("links")] if rows else []), title_row("before", "Others wait for it", str(len(behind)))]
        rows += behind
    rows += [title_row("parent", "Part of"), *parts] if parts else []
    return rows or [ListRow("none", (Span("waits for nothing, and nothing waits for it", "muted"),))]


def _parent(task: Task, overview: Overview, symbols: Symbols) -> ListRow:
    ref = TaskRef(task.region, task.parent or "")
    return _linked("parent", ref, overview.index.get(ref), symbols)


def _linked(way: str, ref: TaskRef, task: Task | None, symbols: Symbols) -> ListRow:
    key = f"{way}:{ref.region}:{ref.id}"
    if task is None:
        return ListRow(key, (Span(f"{ref!s:<{_ID}} ", "strong"), Span("is not in any list", "muted")))
    word = task_word(task)
    glyph = GLYPHS[SHOWN_TASK[word]]
    left = (
        Span(f"{symbols.glyph(SHOWN_TASK[word])} ", glyph.tone),
        Span(f"{ref!s:<{_ID}} ", "strong"),
        Span(task.title),
    )
    return ListRow(key, left, (Span(word + done_mark(task), glyph.tone),), f"task:{ref.region}:{ref.id}")


def run_rows(runs: Sequence[Run], now: float, symbols: Symbols = UNICODE) -> list[ListRow]:
    """The runs of a task, the newest first, each with its reason below; each opens."""
    rows = [row for run in reversed(runs) for row in _run_rows(run, now, symbols)]
    return rows or [ListRow("none", (Span("no run yet", "muted"),))]


def _run_rows(run: Run, now: float, symbols: Symbols) -> Iterator[ListRow]:
    state = shown_run(run)
    tone = GLYPHS[state].tone
    took = elapsed((run.ended_at or run.settled_at or now) - (run.started_at or run.claimed_at))
    left = (
        Span(f"{symbols.glyph(state)} ", tone),
        Span(f"{run_word(run):<16} ", tone),
        Span(f"{run.agent:<10} ", "strong"),
        Span(f"run {run.id}", "muted"),
    )
    right = (Span(f"{moment(run.claimed_at, now)}  {took:>7}", "muted"),)
    yield ListRow(f"run:{run.id}", left, right, f"run:{run.id}")
    if run.reason:
        reason = " ".join(run.reason.split())
        yield ListRow(f"reason:{run.id}", (Span(f"  {reason}", "muted"),), (), f"run:{run.id}")


def run_word(run: Run) -> str:
    """How a run came out, or what it is doing."""
    return spaced(str(run.result or run.state))


_RESULTS = {
    RunResult.LANDED: Shown.DONE,
    RunResult.CANCELLED: Shown.CANCELLED,
    RunResult.QUESTION: Shown.NEEDS_YOU,
    RunResult.CONFLICT: Shown.NEEDS_YOU,
}
_STATES = {RunState.LANDING: Shown.LANDING, RunState.PREPARING: Shown.WAITING, RunState.ENDED: Shown.WAITING}


def shown_run(run: Run) -> Shown:
    """What a run's state or result looks like."""
    if run.result is None:
        return _STATES.get(run.state, Shown.RUNNING)
    if run.result in _RESULTS:
        return _RESULTS[run.result]
    row = CONSEQUENCES[run.result]
    if row.effect is not Effect.NONE:
        return Shown.COOLING if row.effect is Effect.COOLS else Shown.NEEDS_YOU
    return Shown.FAILED if row.attempt else Shown.WAITING
