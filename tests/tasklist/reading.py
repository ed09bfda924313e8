"""What tests say about a list, in few words."""

from __future__ import annotations

from textwrap import dedent

from recall.domain.task import TaskSpec
from recall.tasklist import Problem, Severity, TaskList, parse


def read(text: str, **options: object) -> TaskList:
    return parse((dedent(text) if text.startswith("\n") else text).encode(), **options)  # pyright: ignore[reportArgumentType]


def task(found: TaskList, id: str) -> TaskSpec:
    (only,) = [each for each in found.tasks if each.id == id]
    return only


def ids(found: TaskList) -> list[str]:
    return [each.id for each in found.tasks]


def after(found: TaskList, id: str) -> list[str]:
    return [ref.id if ref.region == found.region else str(ref) for ref in task(found, id).after]


def problems(found: TaskList, severity: Severity | None = None) -> list[tuple[str, int]]:
    return [(each.type, each.line) for each in found.problems if severity in (None, each.severity)]


def error(found: TaskList) -> Problem:
    (only,) = found.errors
    return only
