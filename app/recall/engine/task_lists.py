"""The watched task lists: read when they change, imported whole, the last good list kept when they are broken."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field

from recall.config.settings import TaskList
from recall.domain.frozen import frozen
from recall.domain.imports import LIST_PROBLEMS, Listing
from recall.domain.text import clean, clean_line
from recall.engine.jobs import Jobs
from recall.engine.parts import Parts
from recall.tasklist import Severity, parse

_IN_FORCE = "the last list stays in force"

Stamp = tuple[int, int] | None


@frozen
class Reading:
    """A list as a worker found it in its file, or the `errors` for which it cannot be taken. `stamp` is the file's
    from before it was read: a file that changed since has another one."""

    stamp: Stamp
    listing: Listing | None = None
    errors: tuple[str, ...] = ()


@dataclass(slots=True)
class Intake:
    """Has workers read what changed, and imports what they read. `problems` holds, for each list, why its last
    version is not in force."""

    parts: Parts
    jobs: Jobs
    problems: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    _warnings: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    _taken: dict[str, Stamp] = field(default_factory=dict[str, Stamp])
    _readings: dict[str, Future[Reading]] = field(default_factory=dict[str, "Future[Reading]"])

    @property
    def reading(self) -> bool:
        """Tell whether a list was seen to have changed and is not taken yet."""
        return bool(self._readings)

    def refresh(self, *, wait: bool = False) -> None:
        """Look at every watched list: have read what changed, import what was read. Waits for a reading only when
        told to `wait`; a file that changed while it was read is read again."""
        for task_list in self.parts.settings.tasks:
            self._look_at(task_list, wait=wait)

    def _look_at(self, task_list: TaskList, *, wait: bool) -> None:
        path = task_list.path
        stamp = self.parts.files.stamp(path)
        if path not in self._readings:
            if self._taken.get(path, ()) == stamp:
                return
            self._readings[path] = self.jobs.ask(lambda: self._read(task_list))
        if not wait and not self._readings[path].done():
            return
        found = self._answer(path)
        if found.stamp != self.parts.files.stamp(path):
            del self._readings[path]
            self._look_at(task_list, wait=wait)
            return
        self._take(task_list, found)
        self._taken[path] = found.stamp
        del self._readings[path]

    def _answer(self, path: str) -> Reading:
        try:
            return self._readings[path].result()
        except BaseException:
            del self._readings[path]
            raise

    # -- in a worker -------------------------------------------------------------------------------------------

    def _read(self, task_list: TaskList) -> Reading:
        files, path = self.parts.files, task_list.path
        stamp = files.stamp(path)
        try:
            data = files.read(path)
        except OSError as trouble:
            return Reading(stamp, errors=(f"{path} cannot be read ({trouble.strerror}); {_IN_FORCE}",))
        if data is None:
            return Reading(stamp, errors=(f"{path} is not there; {_IN_FORCE}",))
        names = [agent.name for agent in self.parts.settings.agents]
        parsed = parse(data, region=task_list.region, source=path, agents=names)
        errors = tuple(
            f"{path}:{one.line}:{one.column}: {one.message}"
            for one in parsed.problems
            if one.severity == Severity.ERROR
        )
        listing = None if errors else self.parts.store.lay_out(task_list.region, parsed.tasks)
        return Reading(stamp, listing, errors)

    # -- on the loop -------------------------------------------------------------------------------------------

    def _take(self, task_list: TaskList, found: Reading) -> None:
        if found.listing is None:
            self._refuse(task_list, found.errors)
            return
        diff = self.parts.store.import_listing(found.listing, actor="dispatcher", cancel_vanished=False)
        if diff.refused:
            self._refuse(task_list, tuple(f"{task_list.path}: {message}" for message in diff.refused))
            return
        self.problems.pop(task_list.path, None)
        self._show_problems()
        self._warn(task_list, diff.warnings)

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
        self._show_problems()

    def _show_problems(self) -> None:
        """Leave them in the store, where every screen and command sees them."""
        store = self.parts.store
        words = "\n".join(clean_line(problem) for found in self.problems.values() for problem in found)
        if words != (store.setting(LIST_PROBLEMS) or ""):
            store.put_setting(LIST_PROBLEMS, words, actor="dispatcher")
