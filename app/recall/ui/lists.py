"""The task lists, brought in after a person edited one: so that it counts also where no dispatcher works."""

from __future__ import annotations

from pathlib import Path

from recall.config.settings import TaskList
from recall.domain.imports import ImportDiff
from recall.tasklist import parse
from recall.ui.bridge import Done, NoTasks
from recall.ui.session import Session
from recall.ui.wishes import ACTOR

_IN_FORCE = "the last list stays in force"


def reread(session: Session, checkout: Path, task_list: TaskList) -> Done:
    """Import one list as it is now. Tasks that vanished stay: that is for `recall import` or for cancel."""
    path = task_list.path
    try:
        data = (checkout / path).read_bytes()
    except OSError as broken:
        return Done(f"{path} cannot be read ({broken.strerror}); {_IN_FORCE}", refused=True)
    names = [agent.name for agent in session.settings.agents]
    parsed = parse(data, region=task_list.region, source=path, agents=names)
    for problem in parsed.problems:
        if problem.severity == "error":
            return Done(f"{path}:{problem.line}:{problem.column}: {problem.message}; {_IN_FORCE}", refused=True)
    diff = session.store.import_tasks(task_list.region, parsed.tasks, actor=ACTOR, cancel_vanished=False)
    if diff.refused:
        return Done(f"{path}: {'; '.join(diff.refused)}; {_IN_FORCE}", refused=True)
    return Done(f"{path}: {_difference(diff)}")


def look_for_tasks(session: Session, checkout: Path) -> NoTasks | None:
    """Say so when the first list has no task that could be brought in."""
    path = session.settings.tasks[0].path
    try:
        found = parse((checkout / path).read_bytes(), source=path)
    except OSError:
        return NoTasks(path)
    return None if found.tasks and not found.errors else NoTasks(path)


def _difference(diff: ImportDiff) -> str:
    counts = {"new": diff.new, "changed": diff.changed, "vanished": diff.vanished, "returned": diff.returned}
    return ", ".join(f"{len(refs)} {word}" for word, refs in counts.items() if refs) or "nothing changed"
