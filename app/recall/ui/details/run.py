"""A run as lines: how it came out and why, what it changed, where its work is."""

from __future__ import annotations

from collections.abc import Iterator

from recall.domain.outcome import CONSEQUENCES
from recall.domain.run import Run
from recall.domain.stream.spending import Spending, spending_words
from recall.domain.words import elapsed, moment
from recall.gitops.diff_sizes import FileChange
from recall.ui.details.lines import blank_row, fact_rows, title_row
from recall.ui.details.task import run_word, shown_run
from recall.ui.diffs import RunWork
from recall_widgets.heading import HeadingFacts
from recall_widgets.listing import ListRow
from recall_widgets.spans import Span


def run_heading(run: Run, title: str, now: float) -> HeadingFacts:
    took = elapsed((run.ended_at or run.settled_at or now) - (run.started_at or run.claimed_at))
    right = f"{run.agent}  run {run.id}, number {run.number} of the task  {took}"
    return HeadingFacts(str(run.ref), title, shown_run(run), run_word(run), right)


def fact_list(run: Run, work: RunWork | None, spending: Spending, width: int, now: float) -> list[ListRow]:
    """`work` is None while git is still asked."""
    rows: list[ListRow] = []
    for label, value in (*_how_it_went(run, now), *_what_it_used(spending), *_where_it_is(run, work)):
        rows += fact_rows(label, label, value, width)
    if work is not None and work.leftovers:
        rows += [blank_row("left"), title_row("left", "Left uncommitted, kept with the rest")]
        rows += [ListRow(f"left:{path}", (Span(f"  {path}"),)) for path in work.leftovers]
    return rows


def _how_it_went(run: Run, now: float) -> Iterator[tuple[str, str]]:
    if run.result is not None:
        yield "result", f"{run_word(run)}: {CONSEQUENCES[run.result].meaning}"
    yield "because", " ".join(run.reason.split())
    yield "your answer", run.answer
    yield "chosen", run.why
    yield "claimed", moment(run.claimed_at, now)
    yield "started", moment(run.started_at, now) if run.started_at else ""
    yield "ended", moment(run.ended_at, now) if run.ended_at else ""
    yield "goes on for", f"run {run.continues}" if run.continues is not None else ""


def _what_it_used(spending: Spending) -> Iterator[tuple[str, str]]:
    yield "used", spending_words(spending)
    yield "session", spending.session or ""


def _where_it_is(run: Run, work: RunWork | None) -> Iterator[tuple[str, str]]:
    yield "base", (run.base or "")[:12]
    yield "branch", (run.branch or "") + ("" if work is None or work.branch else " (gone)") if run.branch else ""
    if work is None:
        yield "changes", "looking"
        return
    yield "changes", changes_words(work)
    for ref in work.parked:
        name = ref.removeprefix("refs/recall/parked/")
        yield "kept as", ref
        yield "bring back", f"`recall workspaces restore {name}` makes a branch of it"


def changes_words(work: RunWork) -> str:
    """How many files and lines, and where that was read."""
    added = sum(file.added or 0 for file in work.files)
    removed = sum(file.removed or 0 for file in work.files)
    count = f"{len(work.files)} file{'s' if len(work.files) != 1 else ''}"
    return f"{count}  +{added} −{removed}, {work.source}" if work.files else work.source


def file_rows(work: RunWork | None) -> list[ListRow]:
    """The files that a run changed, in the order of the diff."""
    if work is None:
        return [ListRow("none", (Span("looking", "muted"),))]
    rows = [_file(number, file) for number, file in enumerate(work.files)]
    return rows or [ListRow("none", (Span(work.source, "muted"),))]


def _file(number: int, file: FileChange) -> ListRow:
    if file.added is None:
        counts = (Span("binary", "muted"),)
    else:
        counts = (Span(f"+{file.added}", "added"), Span(f" −{file.removed}", "removed"))
    return ListRow(f"file:{number}", (Span(file.path),), counts)
