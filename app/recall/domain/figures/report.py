"""What a person who was away wants to know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from recall.domain.figures.measure import Figures, figures_of
from recall.domain.figures.past import Past
from recall.domain.figures.spend import Spent, total_of
from recall.domain.figures.waiting import Waiting
from recall.domain.frozen import frozen
from recall.domain.merge import MergeEntry
from recall.domain.run import Run, RunResult
from recall.domain.task import TaskRef

#: Failures of one kind of which so many are named; all are counted.
_NAMED = 5


@frozen
class DiffSize:
    """`added` and `removed` are lines; files that are not text count as files only."""

    files: int
    added: int
    removed: int


@frozen
class Landed:
    """`size` is None where git does not know the commits any more."""

    ref: TaskRef
    title: str
    type: str
    agent: str
    run_id: int
    at: float
    commit: str
    size: DiffSize | None


@frozen
class Failures:
    """Runs that ended in one way other than landing. `runs` are the newest of them, `count` is all."""

    result: RunResult
    count: int
    runs: tuple[Run, ...]


@frozen
class AgentLine:
    """What an agent did on tasks of a type: runs that ended, how many landed, and what they used up."""

    agent: str
    type: str
    runs: int
    landed: int
    spent: Spent


@frozen
class Report:
    """`still` counts the tasks by their state now, in people's words; states without tasks are left out. `known` are
    all tasks."""

    project: str
    figures: Figures
    landed: tuple[Landed, ...]
    waiting: tuple[Waiting, ...]
    failures: tuple[Failures, ...]
    lines: tuple[AgentLine, ...]
    spent: Spent
    still: tuple[tuple[str, int], ...]
    known: frozenset[TaskRef] = frozenset()

    @property
    def since(self) -> float:
        return self.figures.since

    @property
    def now(self) -> float:
        return self.figures.now

    @property
    def is_quiet(self) -> bool:
        """Nothing came to an end."""
        return not (self.landed or self.failures)


def report_of(
    past: Past,
    *,
    project: str,
    counts: Mapping[str, int],
    waiting: Iterable[Waiting],
    sizes: Mapping[int, DiffSize],
    entries: Mapping[int, MergeEntry],
    day_of: Callable[[float], str],
) -> Report:
    """`sizes` and `entries` are by run id: how large a landing was, and its entry in the merge queue."""
    return Report(
        project=project,
        figures=figures_of(past, day_of),
        landed=tuple(_landed(past, run, entries.get(run.id), sizes.get(run.id)) for run in _in_order(past.landed)),
        waiting=tuple(waiting),
        failures=_failures(past),
        lines=_lines(past),
        spent=total_of(past.settled),
        still=tuple((word, count) for word, count in counts.items() if count),
        known=frozenset(past.tasks),
    )


def _in_order(runs: Iterable[Run]) -> list[Run]:
    return sorted(runs, key=lambda run: (run.settled_at or 0.0, run.id))


def _landed(past: Past, run: Run, entry: MergeEntry | None, size: DiffSize | None) -> Landed:
    task = past.tasks.get(run.ref)
    commit = (entry.candidate if entry is not None else None) or (task.done_commit if task is not None else None)
    title = task.title if task is not None else ""
    return Landed(run.ref, title, past.type_of(run), run.agent, run.id, run.settled_at or 0.0, commit or "", size)


def _failures(past: Past) -> tuple[Failures, ...]:
    groups: dict[RunResult, list[Run]] = {}
    for run in reversed(_in_order(past.settled)):
        if run.result is not None and run.result is not RunResult.LANDED:
            groups.setdefault(run.result, []).append(run)
    found = [Failures(result, len(runs), tuple(runs[:_NAMED])) for result, runs in groups.items()]
    return tuple(sorted(found, key=lambda one: (-one.count, one.result)))


def _lines(past: Past) -> tuple[AgentLine, ...]:
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in past.settled:
        groups.setdefault((run.agent, past.type_of(run)), []).append(run)
    return tuple(
        AgentLine(
            agent,
            type_,
            len(runs),
            sum(run.result is RunResult.LANDED for run in runs),
            total_of(runs, agent=agent, type_=type_),
        )
        for (agent, type_), runs in sorted(groups.items())
    )
