"""Every task by the key of its row and by its state, brought up to date without reading all of it again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from operator import is_

from recall.domain.frozen import frozen
from recall.domain.task import Task, TaskRef
from recall.domain.words import TASK_WORDS, task_word

_DEEPEST = 6


def task_key(ref: TaskRef) -> str:
    return f"task:{ref.region}:{ref.id}"


def task_of(key: str) -> TaskRef | None:
    """Read a row's key back; None for a group's."""
    kind, _, rest = key.partition(":")
    return TaskRef(*rest.split(":", 1)) if kind == "task" else None


@frozen
class Branch:
    """A task's place in the tree: how deep, and for each level above it whether more follows there."""

    depth: int = 0
    more: tuple[bool, ...] = ()


class Shape:
    """What does not change while tasks move from state to state: which there are, and who waits for whom."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks = tasks
        self.keys = [task_key(task.ref) for task in tasks]
        self.regions = tuple(dict.fromkeys(task.region for task in tasks))

    def holds(self, tasks: Sequence[Task], changed: Sequence[int]) -> bool:
        """Tell whether other tasks have this shape, too; only those at the indexes in `changed` are other ones."""
        return len(tasks) == len(self._tasks) and all(
            (one := self._tasks[at]).ref == (other := tasks[at]).ref
            and one.prerequisites == other.prerequisites
            and one.title == other.title
            for at in changed
        )

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """What a filter looks at, by key."""
        return {key: f"{task.ref} {task.title}".casefold() for key, task in zip(self.keys, self._tasks, strict=True)}

    @cached_property
    def tree(self) -> Mapping[str, Branch]:
        """Every task once, below its first prerequisite in the list, in the order in which a tree shows them."""
        keys = dict(zip((task.ref for task in self._tasks), self.keys, strict=True))
        below: dict[str, list[str]] = defaultdict(list)
        roots: list[str] = []
        for task, key in zip(self._tasks, self.keys, strict=True):
            first = next((keys[ref] for ref in task.prerequisites if ref in keys and ref != task.ref), None)
            (roots if first is None else below[first]).append(key)
        found: dict[str, Branch] = {}
        stack = [(key, Branch()) for key in reversed(roots)]
        while stack:
            key, place = stack.pop()
            found[key] = place
            children = below.get(key, [])
            deeper = place.depth < _DEEPEST
            for at in range(len(children), 0, -1):
                more = (*place.more, at < len(children)) if deeper else place.more
                stack.append((children[at - 1], Branch(place.depth + 1, more)))
        return found


@frozen
class Roll:
    """`tasks` by the keys of their rows, in the order of the list; `groups` holds keys by region and word."""

    source: tuple[Task, ...]
    shape: Shape
    tasks: Mapping[str, Task]
    places: Mapping[str, tuple[str, str]]
    groups: Mapping[tuple[str, str], Sequence[str]]

    @classmethod
    def of(cls, tasks: tuple[Task, ...]) -> Roll:
        shape = Shape(tasks)
        places = {key: _place(task) for key, task in zip(shape.keys, tasks, strict=True)}
        return cls(tasks, shape, dict(zip(shape.keys, tasks, strict=True)), places, _grouped(places))

    def after(self, tasks: tuple[Task, ...]) -> Roll:
        """The roll of other tasks; cheap when few of them are others."""
        if len(tasks) != len(self.source):
            return Roll.of(tasks)
        changed = [at for at, same in enumerate(map(is_, self.source, tasks)) if not same]
        if not changed:
            return self
        if not self.shape.holds(tasks, changed):
            return Roll.of(tasks)
        mine = dict(self.tasks)
        places = dict(self.places)
        for at in changed:
            key = self.shape.keys[at]
            mine[key] = tasks[at]
            places[key] = _place(tasks[at])
        groups = self.groups if places == self.places else _grouped(places)
        return Roll(tasks, self.shape, mine, places, groups)

    @property
    def regions(self) -> tuple[str, ...]:
        return self.shape.regions

    def find(self, ref: TaskRef | None) -> Task | None:
        return self.tasks.get(task_key(ref)) if ref is not None else None

    def count(self, word: str) -> int:
        return sum(len(self.groups.get((region, word), ())) for region in self.regions)

    @property
    def counts(self) -> dict[str, int]:
        return {word: self.count(word) for word in TASK_WORDS}

    def matching(self, needle: str) -> frozenset[str] | None:
        """The keys of tasks whose id or title holds a text; None: all, as nothing is looked for."""
        wanted = needle.casefold()
        if not wanted:
            return None
        return frozenset(key for key, text in self.shape.texts.items() if wanted in text)


def _place(task: Task) -> tuple[str, str]:
    return task.region, task_word(task)


def _grouped(places: Mapping[str, tuple[str, str]]) -> dict[tuple[str, str], Sequence[str]]:
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for key, place in places.items():
        groups[place].append(key)
    return dict(groups)
