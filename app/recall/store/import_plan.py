"""What an import of a list changes, decided before anything is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import NamedTuple

from recall.domain.frozen import frozen
from recall.domain.imports import Edge, ImportDiff, Listing, Value
from recall.domain.task import TaskRef, TaskSpec, TaskState
from recall.store.chains import Cycle, longest_behind
from recall.store.listing import COLUMNS

_FIRST_STATES = frozenset({TaskState.TODO, TaskState.DONE, TaskState.CANCELLED})
_STILL_TO_DO = frozenset({TaskState.TODO, TaskState.ON_HOLD})
_AT_REST = frozenset({TaskState.DONE, TaskState.CANCELLED})
#: Changes of these change who waits for whom.
_LINKS = frozenset({"after", "group"})


class Kept(NamedTuple):
    """What the store has of one task: how it stands, and in `row` what its list said last, as `Listing.rows` does.
    `by_list`: only its absence from the list cancelled it."""

    state: str
    position: int
    vanished: bool
    by_list: bool
    row: tuple[Value, ...]

    @property
    def is_group(self) -> bool:
        return bool(self.row[_IS_GROUP])

    @property
    def parent(self) -> str | None:
        parent = self.row[_PARENT]
        return parent if isinstance(parent, str) else None


_IS_GROUP, _PARENT = list(COLUMNS).index("is_group"), list(COLUMNS).index("parent")


@frozen
class Known:
    """What the store has before the import, of every region."""

    tasks: Mapping[TaskRef, Kept]
    edges: frozenset[Edge]

    def needs(self) -> dict[TaskRef, list[TaskRef]]:
        """Give the prerequisites of those tasks that have any."""
        needs: dict[TaskRef, list[TaskRef]] = {}
        for region, id_, needs_region, needs_id in sorted(self.edges):
            needs.setdefault(TaskRef(region, id_), []).append(TaskRef(needs_region, needs_id))
        return needs


@frozen
class ImportPlan:
    """`new` with the state each starts in, `changed` with the names of the fields. `cancelled`: vanished tasks
    that were still to do; `gone`: vanished ones at rest, which are only marked. `revived`: returned tasks that
    go back to todo; `back`: returned ones that only lose their mark. `moved`: new positions in the file.
    `behind` covers every task of the store, or none when the list changes nothing about who waits for whom."""

    diff: ImportDiff
    new: tuple[tuple[TaskRef, TaskState], ...] = ()
    changed: tuple[tuple[TaskRef, str], ...] = ()
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


def plan(listing: Listing, known: Known, *, cancel_vanished: bool) -> ImportPlan:
    comparison = _Comparison(listing, known)
    new, changed = comparison.new(), comparison.changed()
    linked = bool(new) or any(_LINKS.intersection(fields) for _, fields in changed)
    behind = comparison.behind() if linked else dict[TaskRef, int]()
    refused = [*listing.problems, *comparison.problems()]
    if isinstance(behind, Cycle):
        return ImportPlan(ImportDiff(refused=(*refused, f"nothing in this cycle could ever run: {behind}")))
    if refused:
        return ImportPlan(ImportDiff(refused=tuple(refused)))
    return _compared(comparison, new, changed, behind, cancel_vanished=cancel_vanished)


New = Sequence[tuple[TaskRef, TaskState]]
Changed = Sequence[tuple[TaskRef, tuple[str, ...]]]


@frozen
class _Comparison:
    """A list and what the store knows, side by side."""

    listing: Listing
    known: Known

    def behind(self) -> Mapping[TaskRef, int] | Cycle:
        listed = self.listing.specs
        unlisted = {ref: task for ref, task in self.known.tasks.items() if ref not in listed}
        if not unlisted and self.listing.behind is not None:
            return self.listing.behind
        before = self.known.needs()
        needs = {ref: before.get(ref, ()) for ref in unlisted} | {ref: spec.after for ref, spec in listed.items()}
        group_of = {ref: TaskRef(ref.region, task.parent) for ref, task in unlisted.items() if task.parent}
        group_of |= {ref: TaskRef(ref.region, spec.parent) for ref, spec in listed.items() if spec.parent}
        return longest_behind(needs, group_of)

    def problems(self) -> Iterator[str]:
        """What only the store can see; the rest was found while reading the list."""
        for ref, need in self.listing.outside:
            if need.region == self.listing.region or need not in self.known.tasks:
                yield f"{ref}: its prerequisite {need} is not in region {need.region}"

    def vanished(self) -> tuple[TaskRef, ...]:
        region, listed = self.listing.region, self.listing.rows
        return tuple(
            ref
            for ref, task in self.known.tasks.items()
            if ref.region == region and ref not in listed and not task.vanished
        )

    def returned(self) -> tuple[TaskRef, ...]:
        known = self.known.tasks
        return tuple(ref for ref in self.listing.rows if (task := known.get(ref)) and task.vanished)

    def new(self) -> New:
        fresh = [ref for ref in self.listing.rows if ref not in self.known.tasks]
        specs = self.listing.specs
        groups = {spec.parent for spec in specs.values() if spec.parent} if fresh else set[str]()
        return [(ref, _first_state(specs[ref], is_parent=ref.id in groups)) for ref in fresh]

    def changed(self) -> Changed:
        known, region = self.known.tasks, self.listing.region
        rewired = {TaskRef(*edge[:2]) for edge in self.known.edges ^ self.listing.edges if edge[0] == region}
        return [
            (ref, _differing_fields(row, task.row, rewired=ref in rewired))
            for ref, row in self.listing.rows.items()
            if (task := known.get(ref)) and (task.row != row or ref in rewired)
        ]

    def moved(self) -> dict[TaskRef, int]:
        known = self.known.tasks
        return {
            ref: position
            for position, ref in enumerate(self.listing.rows)
            if (task := known.get(ref)) and task.position != position
        }


def _compared(
    comparison: _Comparison, new: New, changed: Changed, behind: Mapping[TaskRef, int], *, cancel_vanished: bool
) -> ImportPlan:
    known = comparison.known
    returned, vanished = comparison.returned(), comparison.vanished()
    leaving = vanished if cancel_vanished else ()
    still_to_do = [ref for ref in leaving if known.tasks[ref].state in _STILL_TO_DO]
    # groups first: the end of its last sub-task would otherwise make a leaving group done
    cancelled = tuple(sorted(still_to_do, key=lambda ref: not known.tasks[ref].is_group))
    revived = tuple(ref for ref in returned if known.tasks[ref].by_list)
    changed_refs = tuple(ref for ref, _ in changed if not known.tasks[ref].vanished)
    diff = ImportDiff(
        new=tuple(ref for ref, _ in new),
        changed=changed_refs,
        vanished=vanished,
        returned=returned,
        unchanged=len(comparison.listing.rows) - len(new) - len(changed_refs) - len(returned),
        warnings=(
            *_vanished_warnings(vanished, known, cancel_vanished=cancel_vanished),
            *_group_warnings(comparison, changed),
            *_never(comparison, new, cancelled, revived),
        ),
    )
    return ImportPlan(
        diff=diff,
        new=tuple(new),
        changed=tuple((ref, ", ".join(fields)) for ref, fields in changed),
        cancelled=cancelled,
        gone=tuple(ref for ref in leaving if known.tasks[ref].state in _AT_REST),
        revived=revived,
        back=tuple(ref for ref in returned if ref not in revived),
        moved=comparison.moved(),
        behind=behind,
    )


def _first_state(spec: TaskSpec, *, is_parent: bool) -> TaskState:
    if is_parent and spec.status is TaskState.DONE:
        # a group is done when its sub-tasks are, whatever its own box says
        return TaskState.TODO
    return spec.status if spec.status in _FIRST_STATES else TaskState.ON_HOLD


def _differing_fields(says: Sequence[Value], was: Sequence[Value], *, rewired: bool) -> tuple[str, ...]:
    names = dict.fromkeys(name for name, a, b in zip(COLUMNS.values(), says, was, strict=True) if a != b)
    texts = [name for name in names if name in ("title", "text")]
    others = [name for name in names if name not in texts]
    return (*texts, *(["after"] if rewired else []), *others)


def _vanished_warnings(vanished: Sequence[TaskRef], known: Known, *, cancel_vanished: bool) -> Iterator[str]:
    for ref in vanished:
        state = known.tasks[ref].state
        if state in _AT_REST:
            continue
        if state not in _STILL_TO_DO:
            yield f"{ref} is not in the list any more, but is {state.replace('_', ' ')}: it was left alone"
        elif not cancel_vanished:
            yield f"{ref} is not in the list any more: `recall import` would cancel it"


def _group_warnings(comparison: _Comparison, changed: Changed) -> Iterator[str]:
    for ref, fields in changed:
        task = comparison.known.tasks[ref]
        became = "group" in fields and comparison.listing.specs[ref].is_group and not task.is_group
        if became and task.state == TaskState.IN_PROGRESS:
            yield f"{ref} became a group while it runs: this run is its last"


def _never(
    comparison: _Comparison, new: New, cancelled: Sequence[TaskRef], revived: Sequence[TaskRef]
) -> Iterator[str]:
    """Name the tasks that wait for a cancelled one: those of this list, and those that this import strands."""
    states = {ref: task.state for ref, task in comparison.known.tasks.items()}
    states |= dict(new) | dict.fromkeys(cancelled, TaskState.CANCELLED) | dict.fromkeys(revived, TaskState.TODO)
    if TaskState.CANCELLED not in states.values():
        return
    listed, before = comparison.listing.specs, comparison.known.needs() if cancelled else {}
    for ref, state in states.items():
        if state in _AT_REST:
            continue
        spec = listed.get(ref)
        for need in spec.after if spec else before.get(ref, ()):
            if states.get(need) == TaskState.CANCELLED and (spec or need in cancelled):
                yield f"{ref} can never run: {need} was cancelled"
