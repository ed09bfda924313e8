"""The task lists: whether they are there and can be read."""

from __future__ import annotations

from collections.abc import Iterator

from recall.cli.doctor.finding import Finding, fine, wrong
from recall.cli.project import Project


def look_at_lists(project: Project) -> Iterator[Finding]:
    from recall.tasklist import parse

    names = [agent.name for agent in project.settings.agents]
    for task_list in project.settings.tasks:
        file = project.settings.file.parent / task_list.path
        if not file.is_file():
            yield wrong("task list", f"{file} is not there", "write it, or correct `tasks` in recall.toml")
            continue
        errors = parse(file.read_bytes(), region=task_list.region, source=task_list.path, agents=names).errors
        if errors:
            first, *others = errors
            more = f" (and {len(others)} more)" if others else ""
            what = f"{task_list.path}:{first.line}: {first.message}{more}"
            yield wrong("task list", what, "`recall import --dry-run` shows all of them")
        else:
            yield fine("task list", f"{task_list.path} can be read")
