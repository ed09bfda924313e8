"""The merge queue's entries: a finished run's commits on their way to main."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from recall.domain.frozen import frozen
from recall.domain.task import TaskRef


class MergeState(StrEnum):
    """`queued`: waits its turn. `verifying`: rebased, its exact tree under test. `landing`: the move of
    main is intended and recorded. `waiting_checkout`: the user's checkout is in the way. `pull_request`: offered to
    the remote, where somebody decides. The rest is final."""

    QUEUED = "queued"
    VERIFYING = "verifying"
    LANDING = "landing"
    WAITING_CHECKOUT = "waiting_checkout"
    CONFLICT = "conflict"
    PULL_REQUEST = "pull_request"
    LANDED = "landed"
    REJECTED = "rejected"


MERGE_MOVES: dict[tuple[MergeState, MergeState], str] = {
    (MergeState.QUEUED, MergeState.VERIFYING): "rebased without conflict on main's tip",
    (
        MergeState.QUEUED,
        MergeState.CONFLICT,
    ): "does not apply to main; kept until a person or a new run decides",
    (MergeState.QUEUED, MergeState.REJECTED): "nothing new in it, or it cannot be used",
    (MergeState.VERIFYING, MergeState.LANDING): "its exact tree is green; the move of main is recorded",
    (
        MergeState.VERIFYING,
        MergeState.QUEUED,
    ): "main moved, or the dispatcher was restarted; goes round again",
    (MergeState.VERIFYING, MergeState.REJECTED): "red, while main itself is green",
    (MergeState.LANDING, MergeState.LANDED): "its commit is in main",
    (MergeState.LANDING, MergeState.QUEUED): "main moved first; goes round again",
    (MergeState.LANDING, MergeState.WAITING_CHECKOUT): "the user's checkout is in the way",
    (MergeState.WAITING_CHECKOUT, MergeState.LANDING): "the checkout changed; tried again",
    (MergeState.WAITING_CHECKOUT, MergeState.QUEUED): "main moved meanwhile; goes round again",
    (MergeState.CONFLICT, MergeState.QUEUED): "resolved; goes round again",
    (MergeState.CONFLICT, MergeState.REJECTED): "started over, sent back or given up",
    (MergeState.QUEUED, MergeState.LANDED): "found in main already at a restart",
    (MergeState.VERIFYING, MergeState.LANDED): "found in main already at a restart",
    (MergeState.WAITING_CHECKOUT, MergeState.LANDED): "found in main already",
    (MergeState.WAITING_CHECKOUT, MergeState.REJECTED): "cancelled by a person",
    (MergeState.VERIFYING, MergeState.PULL_REQUEST): "its exact tree is green; it is offered as a pull request",
    (MergeState.PULL_REQUEST, MergeState.LANDING): "its pull request was merged; main here is to follow",
    (MergeState.PULL_REQUEST, MergeState.WAITING_CHECKOUT): "merged, but main here cannot follow yet",
    (MergeState.PULL_REQUEST, MergeState.LANDED): "merged, and main here has it already",
    (MergeState.PULL_REQUEST, MergeState.REJECTED): "its pull request was closed, or a person cancelled it",
}

FINAL_MERGE_STATES = frozenset({MergeState.LANDED, MergeState.REJECTED})

#: An entry in one of these is worked on this moment: a person can only wait for it.
BUSY_MERGE_STATES = frozenset({MergeState.VERIFYING, MergeState.LANDING})

#: Settings of the store: why nothing may land before a person acts; how often a person asked to try again;
#: the commit that main was last known at.
QUEUE_HELD = "queue.held"
QUEUE_RETRIED = "queue.retried"
MAIN_OID = "main_oid"


#: Why an entry goes round again that nobody can judge.
RED_MAIN = "main itself is red, so this entry cannot be judged"


@frozen
class MergeEntry:
    """One row of the store. `tip` and `base` bound the commits that the run brought (in the integration
    repository); `candidate` is them rebased, on top of `onto`. `intent_old` and `intent_new` are set from
    just before main is moved until the move is checked. `rounds` counts how often it went round again. `offered` says
    which pull request of its task it is, from 1; `merged` is main at the remote once that holds its change."""

    id: int
    region: str
    task: str
    run_id: int
    position: int
    state: MergeState
    reason: str
    tip: str
    base: str
    onto: str | None = None
    candidate: str | None = None
    intent_old: str | None = None
    intent_new: str | None = None
    rounds: int = 0
    created_at: float = 0.0
    changed_at: float = 0.0
    conflict_paths: tuple[str, ...] = ()
    offered: int | None = None
    merged: str | None = None

    @property
    def ref(self) -> TaskRef:
        return TaskRef(self.region, self.task)

    @property
    def is_offered(self) -> bool:
        """Whether it waits for somebody to merge its pull request."""
        return self.state is MergeState.PULL_REQUEST and self.merged is None


class Shift(StrEnum):
    """Where an entry may be moved in the queue without naming a place."""

    UP = "up"
    DOWN = "down"
    LAST = "last"


def rearranged(entries: Sequence[MergeEntry], entry_id: int, to: Shift | int) -> list[int] | str:
    """Give the ids of the open entries in their new order, or say why it cannot be. A number is a place, from 1."""
    ids = [entry.id for entry in entries]
    at = ids.index(entry_id)
    place = _place(to, at, len(ids))
    refusal = why_not_moved(entries, at, place)
    if refusal:
        return refusal
    ids.insert(place, ids.pop(at))
    return ids


def why_not_moved(entries: Sequence[MergeEntry], at: int, place: int) -> str:
    """Say why the entry at index `at` cannot be moved to index `place`; empty: it can."""
    entry = entries[at]
    if entry.state in BUSY_MERGE_STATES:
        return f"{entry.ref} is {entry.state} this moment: wait for it"
    if place == at:
        return f"{entry.ref} is number {at + 1} of {len(entries)} already"
    if not 0 <= place < len(entries):
        return f"there is no place {place + 1} in the merge queue: it has {len(entries)}"
    passed = (other for other in entries[place:at] if other.state in BUSY_MERGE_STATES)
    busy = next(passed, None)
    return f"{busy.ref} is {busy.state} this moment: nothing can go before it" if busy else ""


def _place(to: Shift | int, at: int, count: int) -> int:
    match to:
        case Shift.UP:
            return max(at - 1, 0)
        case Shift.DOWN:
            return min(at + 1, count - 1)
        case Shift.LAST:
            return count - 1
        case int():
            return to - 1
