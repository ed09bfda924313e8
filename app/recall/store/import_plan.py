"""What an import of a list changes, decided before anything is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from recall.domain.frozen import frozen
from recall.domain.imports import ImportDiff
from recall.domain.task import Task, TaskRef, TaskSpec, TaskState
from recall.domain.text import clean, clean_line
from recall.store.chains import Cycle, longest_behind

_FIRST_STATES = frozenset({TaskState.TODO, TaskState.DONE, TaskState.CANCELLED})
_STILL_TO_DO = frozenset({TaskState.TODO, TaskState.ON_HOLD})
_AT_REST = frozenset({TaskState.DONE, TaskState.CANCELLED})


@frozen
class Known:
    """What the store has before the import: the tasks of every region, what the list said last of each one's
    priority, and which of them only their absence from the list cancelled."""

    tasks: Mapping[TaskRef, Task]
    listed_priority: Mapping[TaskRef, int]
    cancelled_by_list: frozenset[TaskRef]


@frozen
class ImportPlan:
    """`new` with the state each starts in, `changed` with the names of the fields. `cancelled`: vanished tasks
    that were still to do; `gone`: vanished ones at rest, which are only marked. `revived`: returned tasks that
    go back to todo; `back`: returned ones that only lose their mark. `moved`: new positions in the file.
    `behind` covers every task of the store."""

    diff: ImportDiff
    new: tuple[tuple[TaskSpec, TaskState], ...] = ()
    changed: tuple[tuple[TaskSpec, str], ...] = ()
    cancelled: tuple[TaskRef, ...] = ()
    gone: tuple[TaskRef, ...] = ()
    revived: tuple[TaskRef, ...] = ()
    back: tuple[TaskRef, ...] = ()
    moved: Mapping[TaskRef, int] = field(default_factory=dict[TaskRef, int])
    behind: Mapping[TaskRef, int] = field(default_factory=dict[TaskRef, int])

    @property
    def writes(self) -> bool:
        lists = (self.new, self.changed, self.cancelled, self.gone, self.revived, self.back, self.moved)
        return any(lists)


def plan(region: str, specs: Sequence[TaskSpec], known: Known, *, cancel_vanished: bool) -> ImportPlan:
    cleaned = [_cleaned(spec) for spec in specs]
    comparison = _Comparison(region, {TaskRef(region, spec.id): spec for spec in cleaned}, known)
    behind = comparison.behind()
    refused = [*_twins(specs), *comparison.problems()]
    if isinstance(behind, Cycle):
        return ImportPlan(ImportDiff(refused=(*refused, f"nothing in this cycle could ever run: {behind}")))
    if refused:
        return ImportPlan(ImportDiff(refused=tuple(refused)))
    return _compared(comparison, behind, cancel_vanished=cancel_vanished)


def _cleaned(spec: TaskSpec) -> TaskSpec:
    title, body = clean_line(spec.title), clean(spec.body)
    return spec if (title, body) == (spec.title, spec.body) else replace(spec, title=title, body=body)


@frozen
class _Comparison:
    """A list and what the store knows, side by side."""

    region: str
    listed: Mapping[TaskRef, TaskSpec]
    known: Known

    def behind(self) -> dict[TaskRef, int] | Cycle:
        tasks = {ref: task for ref, task in self.known.tasks.items() if ref not in self.listed}
        needs = {ref: task.prerequisites for ref, task in tasks.items()}
        needs |= {ref: spec.after for ref, spec in self.listed.items()}
        group_of = {ref: TaskRef(ref.region, task.parent) for ref, task in tasks.items() if task.parent}
        group_of |= {ref: TaskRef(ref.region, spec.parent) for ref, spec in self.listed.items() if spec.parent}
        return longest_behind(needs, group_of)

    def problems(self) -> Iterator[str]:
        """What only the store can see; the rest was found while reading the list."""
        for ref, spec in self.listed.items():
            for need in spec.after:
                there = self.listed if need.region == self.region else self.known.tasks
                if need not in there:
                    yield f"{ref}: its prerequisite {need} is not in region {need.region}"
            if spec.parent and TaskRef(self.region, spec.parent) not in self.listed:
                yield f"{ref}: its group {spec.parent} is not in the list"

    def vanished(self) -> tuple[TaskRef, ...]:
        return tuple(
            ref
            for ref, task in self.known.tasks.items()
            if ref.region == self.region and ref not in self.listed and not task.vanished
        )

    def returned(self) -> tuple[TaskRef, ...]:
        return tuple(ref for ref in self.listed if ref in self.known.tasks and self.known.tasks[ref].vanished)

    def new(self) -> tuple[tuple[TaskSpec, TaskState], ...]:
        groups = {spec.parent for spec in self.listed.values() if spec.parent}
        return tuple(
            (spec, _first_state(spec, is_parent=spec.id in groups))
            for ref, spec in self.listed.items()
            if ref not in self.known.tasks
        )

    def changed(self) -> tuple[tuple[TaskSpec, str], ...]:
        differing = (
            (spec, _differing_fields(spec, self.known.tasks[ref], self.known.listed_priority[ref]))
            for ref, spec in self.listed.items()
            if ref in self.known.tasks
        )
        return tuple((spec, fields) for spec, fields in differing if fields)

    def moved(self) -> dict[TaskRef, int]:
        return {
            ref: position
            for position, ref in enumerate(self.listed)
            if ref in self.known.tasks and self.known.tasks[ref].position != position
        }


def _compared(comparison: _Comparison, behind: Mapping[TaskRef, int], *, cancel_vanished: bool) -> ImportPlan:
    known, region = comparison.known, comparison.region
    new, changed, returned, vanished = (
        comparison.new(),
        comparison.changed(),
        comparison.returned(),
        comparison.vanished(),
    )
    leaving = vanished if cancel_vanished else ()
    still_to_do = [ref for ref in leaving if known.tasks[ref].state in _STILL_TO_DO]
    # groups first: the end of its last sub-task would otherwise make a leaving group done
    cancelled = tuple(sorted(still_to_do, key=lambda ref: not known.tasks[ref].is_group))
    revived = tuple(ref for ref in returned if ref in known.cancelled_by_list)
    changed_refs = tuple(ref for spec, _ in changed if (ref := TaskRef(region, spec.id)) not in returned)
    diff = ImportDiff(
        new=tuple(TaskRef(region, spec.id) for spec, _ in new),
        changed=changed_refs,
        vanished=vanished,
        returned=returned,
        unchanged=len(comparison.listed) - len(new) - len(changed_refs) - len(returned),
        warnings=(
            *_vanished_warnings(vanished, known, cancel_vanished=cancel_vanished),
            *_group_warnings(comparison),
            *_never(comparison, new, cancelled, revived),
        ),
    )
    return ImportPlan(
        diff=diff,
        new=new,
        changed=changed,
        cancelled=cancelled,
        gone=tuple(ref for ref in leaving if known.tasks[ref].state in _AT_REST),
        revived=revived,
        back=tuple(ref for ref in returned if ref not in revived),
        moved=comparison.moved(),
        behind=behind,
    )


def _twins(specs: Sequence[TaskSpec]) -> Iterator[str]:
    for id_, count in Counter(spec.id for spec in specs).items():
        if count > 1:
            yield f"{id_} stands in the list {count} times"


def _first_state(spec: TaskSpec, *, is_parent: bool) -> TaskState:
    if is_parent and spec.status is TaskState.DONE:
        # a group is done when its sub-tasks are, whatever its own box says
        return TaskState.TODO
    return spec.status if spec.status in _FIRST_STATES else TaskState.ON_HOLD


def _differing_fields(spec: TaskSpec, task: Task, listed_priority: int) -> str:
    pairs = {
        "title": (spec.title, task.title),
        "text": (spec.body, task.body),
        "after": (set(spec.after), set(task.prerequisites)),
        "type": (spec.type, task.type),
        "priority": (spec.priority, listed_priority),
        "agents": (spec.agents, task.agents),
        "verify": (spec.verify, task.verify),
        "touches": (spec.touches, task.touches),
        "timeout": (spec.timeout_s, task.timeout_s),
        "attempts": (spec.attempts, task.max_attempts),
        "group": ((spec.parent, spec.is_group), (task.parent, task.is_group)),
    }
    return ", ".join(name for name, (says, was) in pairs.items() if says != was)


def _vanished_warnings(vanished: Sequence[TaskRef], known: Known, *, cancel_vanished: bool) -> Iterator[str]:
    for ref in vanished:
        state = known.tasks[ref].state
        if state in _AT_REST:
            continue
        if state not in _STILL_TO_DO:
            yield f"{ref} is not in the list any more, but is {state.replace('_', ' ')}: it was left alone"
        elif not cancel_vanished:
            yield f"{ref} is not in the list any more: `recall import` would cancel it"


def _group_warnings(comparison: _Comparison) -> Iterator[str]:
    for ref, spec in comparison.listed.items():
        task = comparison.known.tasks.get(ref)
        if task and spec.is_group and not task.is_group and task.state is TaskState.IN_PROGRESS:
            yield f"{ref} became a group while it runs: this run is its last"


def _never(
    comparison: _Comparison,
    new: Sequence[tuple[TaskSpec, TaskState]],
    cancelled: Sequence[TaskRef],
    revived: Sequence[TaskRef],
) -> Iterator[str]:
    """Name the tasks that wait for a cancelled one: those of this list, and those that this import strands."""
    known = comparison.known.tasks
    states = {ref: task.state for ref, task in known.items()}
    states |= {TaskRef(comparison.region, spec.id): state for spec, state in new}
    states |= dict.fromkeys(cancelled, TaskState.CANCELLED) | dict.fromkeys(revived, TaskState.TODO)
    for ref, state in states.items():
        if state in _AT_REST:
            continue
        spec = comparison.listed.get(ref)
        needs = spec.after if spec else known[ref].prerequisites
        for need in needs:
            if states.get(need) is TaskState.CANCELLED and (spec or need in cancelled):
                yield f"{ref} can never run: {need} was cancelled"
