"""The watched task lists: read when they change, imported whole, the last good list kept when they are broken."""

from __future__ import annotations

from dataclasses import dataclass, field

from recall.config.settings import TaskList
from recall.domain.text import clean
from recall.engine.parts import Parts
from recall.tasklist import parse

_IN_FORCE = "the last list stays in force"


@dataclass(slots=True)
class Intake:
    """Imports what changed. `problems` holds, for each list, why its last version is not in force."""

    parts: Parts
    problems: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    _warnings: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    _stamps: dict[str, tuple[int, int] | None] = field(default_factory=dict[str, tuple[int, int] | None])

    def refresh(self) -> bool:
        """Look at every watched list; tell whether one was imported."""
        imported = False
        for task_list in self.parts.settings.tasks:
            stamp = self.parts.files.stamp(task_list.path)
            if self._stamps.get(task_list.path, ()) == stamp:
                continue
            imported |= self._import(task_list)
            self._stamps[task_list.path] = stamp
        return imported

    def _import(self, task_list: TaskList) -> bool:
        try:
            data = self.parts.files.read(task_list.path)
        except OSError as trouble:
            self._refuse(task_list, (f"{task_list.path} cannot be read ({trouble.strerror}); {_IN_FORCE}",))
            return False
        if data is None:
            self._refuse(task_list, (f"{task_list.path} is not there; {_IN_FORCE}",))
            return False
        names = [agent.name for agent in self.parts.settings.agents]
        parsed = parse(data, region=task_list.region, source=task_list.path, agents=names)
        errors = tuple(
            f"{task_list.path}:{one.line}:{one.column}: {one.message}"
            for one in parsed.problems
            if one.severity == "error"
        )
        if errors:
            self._refuse(task_list, errors)
            return False
        diff = self.parts.store.import_tasks(
            task_list.region, parsed.tasks, actor="dispatcher", cancel_vanished=False
        )
        if diff.refused:
            self._refuse(task_list, tuple(f"{task_list.path}: {message}" for message in diff.refused))
            return False
        self.problems.pop(task_list.path, None)
        self._warn(task_list, diff.warnings)
        return True

    def _warn(self, task_list: TaskList, warnings: tuple[str, ...]) -> None:
        """What vanished is told, and left to a person: it may only have been cut out for a moment."""
        if warnings and self._warnings.get(task_list.path) != warnings:
            told = clean("\n".join(f"{task_list.path}: {warning}" for warning in warnings))
            self.parts.store.note("list.warned", actor="dispatcher", reason=told)
        self._warnings[task_list.path] = warnings

    def _refuse(self, task_list: TaskList, messages: tuple[str, ...]) -> None:
        if self.problems.get(task_list.path) == messages:
            return
        self.problems[task_list.path] = messages
        self.parts.store.note("list.refused", actor="dispatcher", reason=clean("\n".join(messages)))
