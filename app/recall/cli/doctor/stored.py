"""The store: whether the database is whole and its counters are true."""

from __future__ import annotations

from collections.abc import Iterator

from recall.cli.doctor.finding import Finding, fine, wrong
from recall.cli.project import Project


def look_at_store(project: Project) -> Iterator[Finding]:
    found = project.store.check()
    if not found:
        tasks = len(project.store.tasks())
        yield fine("store", f"consistent: {tasks} tasks, {project.store.last_seq()} events")
    for sentence in found:
        yield wrong("store", sentence, "please report it, and keep a copy of the state folder")
