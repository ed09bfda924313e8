"""What a person can do to a task, in every state that it may be in."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from recall.domain.agent import AgentSpec
from recall.domain.intervention import TARGETS, Wish, why_not
from recall.domain.merge import MergeState
from recall.domain.run import Claim, Refused, RunResult, RunState
from recall.domain.task import TASK_MOVES, DoneBy, Task, TaskState
from recall.domain.work import Conflict
from recall.store import SqliteStore
from tests.support.builders import ended, import_specs, landed, make_store, queued, ref, settlement, spec, started

T1 = ref("T-1")
MET = Conflict(paths=("a.py",), step="1", base="2", ours="3", theirs="4")


@pytest.fixture
def store(tmp_path: Path) -> Generator[SqliteStore, None, None]:
    with make_store(tmp_path) as store:
        import_specs(store, spec("T-1"), spec("T-2", "T-1"))
        store.sync_agents([AgentSpec("amy")])
        yield store
        assert store.check() == []


def task_of(store: SqliteStore, id_: str = "T-1") -> Task:
    task = store.task(ref(id_))
    assert task is not None
    return task


def need_a_person(store: SqliteStore) -> None:
    claim = ended(store, "T-1")
    asks = settlement(RunResult.QUESTION, "which one?")
    assert store.settle_run(claim.run_id, claim.owner, claim.version, asks, actor="dispatcher") is None


def stay_in_conflict(store: SqliteStore) -> None:
    _, merge_id = queued(store, "T-1")
    store.merge_conflict(merge_id, MET, settlement=None)


def be_landed_this_moment(store: SqliteStore) -> None:
    _, merge_id = queued(store, "T-1")
    store.merge_verifying(merge_id, candidate="d", onto="b")
    store.merge_intend(merge_id, old="b", new="d")


def do(store: SqliteStore, wish: Wish) -> Refused | None:
    match wish:
        case Wish.REQUEUE:
            return store.requeue(T1, actor="person", reason="I say so")
        case Wish.HOLD:
            return store.hold(T1, actor="person", reason="I say so")
        case Wish.UNHOLD:
            return store.unhold(T1, actor="person")
        case Wish.CANCEL:
            return store.cancel(T1, actor="person", reason="I say so")
        case Wish.FINISH:
            return store.finish_manually(T1, actor="person", reason="I say so")


STATES: dict[str, Callable[[SqliteStore], object]] = {
    "todo": lambda store: None,
    "running": lambda store: started(store, "T-1"),
    "ended": lambda store: ended(store, "T-1"),
    "queued": lambda store: queued(store, "T-1"),
    "being landed": be_landed_this_moment,
    "asking": need_a_person,
    "in conflict": stay_in_conflict,
    "on hold": lambda store: store.hold(T1, actor="person"),
    "cancelled": lambda store: store.cancel(T1, actor="person"),
    "done": lambda store: landed(store, "T-1"),
}

REFUSALS: dict[tuple[str, Wish], str] = {
    ("todo", Wish.REQUEUE): "T-1 waits for its turn already",
    ("todo", Wish.UNHOLD): "T-1 waits for its turn already",
    ("running", Wish.REQUEUE): "T-1 is running: cancel it first",
    ("running", Wish.UNHOLD): "T-1 is running",
    ("ended", Wish.REQUEUE): "T-1 is running: cancel it first",
    ("ended", Wish.UNHOLD): "T-1 is running",
    ("queued", Wish.HOLD): "T-1 is on its way to main: cancel it, or wait",
    ("queued", Wish.UNHOLD): "T-1 is on its way to main",
    ("queued", Wish.FINISH): "T-1 is on its way to main: cancel it first, or wait",
    **{("being landed", wish): "T-1 is being landed this moment: wait for it" for wish in Wish},
    ("asking", Wish.UNHOLD): "T-1 needs a person: requeue sends it out again",
    ("in conflict", Wish.UNHOLD): "T-1 needs a person: requeue sends it out again",
    ("on hold", Wish.HOLD): "T-1 is on hold already",
    ("cancelled", Wish.HOLD): "T-1 is cancelled: requeue brings it back",
    ("cancelled", Wish.UNHOLD): "T-1 is cancelled: requeue brings it back",
    ("cancelled", Wish.CANCEL): "T-1 is cancelled already",
    ("cancelled", Wish.FINISH): "T-1 is cancelled: requeue it first",
    ("done", Wish.HOLD): "T-1 is done: requeue reopens it",
    ("done", Wish.UNHOLD): "T-1 is done",
    ("done", Wish.CANCEL): "T-1 is done: requeue reopens it",
    ("done", Wish.FINISH): "T-1 is done already",
}


@pytest.mark.parametrize("wish", Wish)
@pytest.mark.parametrize("state", STATES)
def test_every_wish_in_every_state(store: SqliteStore, state: str, wish: Wish) -> None:
    STATES[state](store)
    before, runs, seq = task_of(store), store.runs(), store.last_seq()
    refused = do(store, wish)
    expected = REFUSALS.get((state, wish))
    last = store.events_since(seq)[-1]
    assert refused == (Refused(expected) if expected else None)
    if expected:
        assert (task_of(store), store.runs()) == (before, runs)
        assert (last.kind, last.reason) == ("task.refused", expected)
        return
    after = task_of(store)
    assert after.state is TARGETS[wish]
    assert after.lease_version == before.lease_version
    assert (after.lease_owner, after.lease_expires) == (None, None)
    assert store.open_runs() == []
    assert store.merges() == []
    changed = [event for event in store.events_since(seq) if event.actor == "person" and event.after == after.state]
    assert len(changed) == 1
    assert changed[0].before == before.state


def test_a_cancelled_run_cannot_write_any_more(store: SqliteStore) -> None:
    claim = started(store, "T-1")
    assert store.cancel(T1, actor="person") is None
    run = store.run(claim.run_id)
    assert run is not None
    assert (run.state, run.result) == (RunState.SETTLED, RunResult.CANCELLED)
    assert isinstance(store.renew(T1, claim.owner, claim.version, 10.0), Refused)
    late = store.settle_run(
        claim.run_id, claim.owner, claim.version, settlement(RunResult.FAILED), actor="dispatcher"
    )
    assert isinstance(late, Refused)
    assert late.lease_lost


def test_a_requeue_clears_what_was_counted(store: SqliteStore) -> None:
    claim = ended(store, "T-1")
    failed = settlement(RunResult.FAILED)
    assert store.settle_run(claim.run_id, claim.owner, claim.version, failed, actor="dispatcher") is None
    assert isinstance(store.claim(T1, "amy", "amy-2", 10.0), Refused)
    assert store.requeue(T1, actor="person") is None
    assert (task_of(store).attempts, task_of(store).retry_at) == (0, None)
    assert isinstance(store.claim(T1, "amy", "amy-2", 10.0), Claim)


def test_sending_a_conflict_back_says_that_it_was_one(store: SqliteStore) -> None:
    stay_in_conflict(store)
    assert store.requeue(T1, actor="person", reason="start over") is None
    assert [run.result for run in store.runs()] == [RunResult.CONFLICT]
    assert [entry.state for entry in store.merges(open_only=False)] == [MergeState.REJECTED]
    assert isinstance(store.claim(T1, "amy", "amy-2", 10.0), Claim)


def test_reopening_locks_what_was_unlocked(store: SqliteStore) -> None:
    landed(store, "T-1")
    assert task_of(store, "T-2").unmet == 0
    assert store.requeue(T1, actor="person", reason="it was wrong") is None
    assert (task_of(store, "T-2").unmet, task_of(store).done_by, task_of(store).done_commit) == (1, None, None)


def test_done_by_hand_says_so(store: SqliteStore) -> None:
    assert store.finish_manually(T1, actor="person", reason="did it on paper") is None
    assert (task_of(store).done_by, task_of(store).done_commit, task_of(store).reason) == (
        DoneBy.MANUAL,
        None,
        "did it on paper",
    )
    assert task_of(store, "T-2").unmet == 0


def test_a_priority_can_be_changed_while_it_matters(store: SqliteStore) -> None:
    assert store.prioritize(T1, 7, actor="person") is None
    assert store.prioritize(T1, 7, actor="person") == Refused("T-1 has priority 7 already")
    assert task_of(store).priority == 7
    landed(store, "T-1")
    assert store.prioritize(T1, 1, actor="person") == Refused("T-1 is done: requeue it first")


@pytest.mark.parametrize("wish", Wish)
def test_an_unknown_task_is_said_to_be_one(tmp_path: Path, wish: Wish) -> None:
    with make_store(tmp_path) as store:
        assert do(store, wish) == Refused("there is no task T-1")
        assert store.prioritize(T1, 1, actor="person") == Refused("there is no task T-1")


def test_a_group_cannot_be_held(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        import_specs(store, spec("T-1", is_group=True), spec("T-1.1", parent="T-1"))
        assert store.hold(T1, actor="person") == Refused("T-1 is a group, nothing runs it: hold its sub-tasks")


@pytest.mark.parametrize("wish", Wish)
@pytest.mark.parametrize("state", TaskState)
def test_no_wish_that_is_granted_needs_a_move_that_no_table_lists(wish: Wish, state: TaskState) -> None:
    task = Task("main", "T-1", "", "", "general", 0, 0, state, "", 0.0, attempts=1)
    if why_not(wish, task, None) == "" and state is not TARGETS[wish]:
        assert (state, TARGETS[wish]) in TASK_MOVES


def test_dispatching_is_paused_and_resumed_once(store: SqliteStore) -> None:
    seq = store.last_seq()
    for _ in range(2):
        store.pause_dispatching(actor="person", reason="demo")
    assert (store.snapshot().dispatching, store.snapshot().paused_reason) == (False, "demo")
    for _ in range(2):
        store.resume_dispatching(actor="person")
    assert (store.snapshot().dispatching, store.snapshot().paused_reason) == (True, "")
    assert [event.kind for event in store.events_since(seq)] == ["dispatching.paused", "dispatching.resumed"]
