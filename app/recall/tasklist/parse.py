"""The one way from bytes to a task list."""

from __future__ import annotations

from collections.abc import Collection

from recall.domain.task import DEFAULT_REGION
from recall.tasklist.checks import check, check_strays
from recall.tasklist.listing import TaskList, counts_as_done
from recall.tasklist.outline import read_outline
from recall.tasklist.reading import read_drafts
from recall.tasklist.references import Index
from recall.tasklist.resolve import resolve
from recall.tasklist.source import Source, read_source
from recall.tasklist.uncollected import uncollected


def parse(
    data: bytes, *, region: str = DEFAULT_REGION, source: str = "TASKS.md", agents: Collection[str] = ()
) -> TaskList:
    """Read a task list, whatever the bytes are: every problem is found at once, and no input raises.

    `agents` are the configured names; without them any agent a task asks for is taken at its word.
    """
    with uncollected():
        return _parsed(read_source(data), region, source, agents)


def _parsed(text: Source, region: str, source: str, agents: Collection[str]) -> TaskList:
    outline = read_outline(text)
    reading = read_drafts(text, outline)
    resolved, problems = resolve(reading.drafts, region, agents)
    tasks = tuple(task.spec(text) for task in resolved)
    index = Index(region, (task.id for task in tasks))
    found = [
        *text.problems,
        *outline.problems,
        *reading.problems,
        *problems,
        *check(resolved, counts_as_done(tasks), region),
        *check_strays(reading.strays, index),
    ]
    found.sort(key=lambda problem: (problem.line, problem.column))
    return TaskList(tasks, tuple(found), region, source)
