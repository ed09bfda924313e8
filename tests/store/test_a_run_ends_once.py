"""What a settled run means for its task, its agent and the queue."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from recall.domain.agent import Agent, AgentSpec, Weight
from recall.domain.errors import RecallError
from recall.domain.merge import MergeState
from recall.domain.run import Claim, Refused, RunResult, RunState
from recall.domain.task import DoneBy, Task, TaskState
from recall.domain.work import Conflict
from recall.store import SqliteStore
from recall.store.moves import IllegalMove
from tests.support.builders import (
    claimed,
    ended,
    import_specs,
    landed,
    make_store,
    queued,
    ref,
    settlement,
    spec,
    started,
)
from tests.support.clock import FakeClock

T1 = ref("T-1")
MET = Conflict(paths=("a.py", "b\x1b[31m.py"), step="1" * 40, base="2" * 40, ours="3" * 40, theirs="4" * 40)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(tmp_path: Path, clock: FakeClock) -> Generator[SqliteStore, None, None]:
    with make_store(tmp_path, clock) as store:
        import_specs(store, spec("T-1"), spec("T-2", "T-1"), spec("T-3"))
        store.sync_agents([AgentSpec("amy", account="team"), AgentSpec("bob", account="team"), AgentSpec("cat")])
        yield store
        assert store.check() == []


def task_of(store: SqliteStore, id_: str = "T-1") -> Task:
    task = store.task(ref(id_))
    assert task is not None
    return task


def agent_of(store: SqliteStore, name: str) -> Agent:
    return next(agent for agent in store.agents() if agent.name == name)


def kinds(store: SqliteStore, since: int = 0) -> list[str]:
    return [event.kind for event in store.events_since(since)]


# -- settling --------------------------------------------------------------------------------------------------


def test_a_failure_costs_an_attempt_weight_and_time(store: SqliteStore, clock: FakeClock) -> None:
    claim = ended(store, "T-1")
    failed = settlement(RunResult.FAILED, "tests are red\x1b[2J", now=clock.wall)
    assert store.settle_run(claim.run_id, claim.owner, claim.version, failed, actor="dispatcher") is None
    task = task_of(store)
    assert (task.state, task.attempts, task.interruptions, task.retry_at) == (
        TaskState.TODO,
        1,
        0,
        clock.wall + 30.0,
    )
    assert task.lease_owner is None
    assert agent_of(store, "amy").weights == {"general": Weight(0.3, 0, 1)}
    run = store.run(claim.run_id)
    assert run is not None
    assert (run.state, run.result, run.reason, run.settled_at) == (
        RunState.SETTLED,
        RunResult.FAILED,
        "tests are red",
        clock.wall,
    )
    assert kinds(store)[-2:] == ["run.settled", "task.todo"]
    held_back = store.claim(T1, "amy", "amy-2", 10.0)
    assert isinstance(held_back, Refused)
    assert "held back until" in held_back.reason
    clock.advance(30.0)
    again = store.claim(T1, "amy", "amy-2", 10.0)
    assert isinstance(again, Claim)
    assert (again.number, again.version) == (2, 2)


def test_weights_stay_between_0_and_1(store: SqliteStore, clock: FakeClock) -> None:
    for _ in range(4):
        claim = ended(store, "T-3")
        failed = replace(settlement(RunResult.STALLED), retry_at=None)
        assert store.settle_run(claim.run_id, claim.owner, claim.version, failed, actor="dispatcher") is None
    assert agent_of(store, "amy").weights["general"] == Weight(0.0, 0, 4)


@pytest.mark.parametrize("result", [RunResult.ORPHANED, RunResult.CONFLICT])
def test_environment_trouble_counts_as_an_interruption_only(store: SqliteStore, result: RunResult) -> None:
    claim = ended(store, "T-1")
    trouble = settlement(result)
    assert store.settle_run(claim.run_id, claim.owner, claim.version, trouble, actor="dispatcher") is None
    task = task_of(store)
    assert (task.attempts, task.interruptions, task.state) == (0, 1, TaskState.TODO)
    assert agent_of(store, "amy").weights == {}


def test_a_limit_cools_the_whole_account(store: SqliteStore, clock: FakeClock) -> None:
    claim = started(store, "T-1")
    limited = replace(settlement(RunResult.RATE_LIMITED, now=clock.wall), cooling_line="resets at 5pm")
    assert store.settle_run(claim.run_id, claim.owner, claim.version, limited, actor="dispatcher") is None
    amy, bob, cat = (agent_of(store, name) for name in ("amy", "bob", "cat"))
    assert amy.cooling_until == bob.cooling_until == clock.wall + 1800.0
    assert (amy.limits_in_a_row, amy.cooling_line, cat.cooling_until) == (1, "resets at 5pm", None)
    refused = store.claim(ref("T-3"), "bob", "bob-1", 10.0)
    assert isinstance(refused, Refused)
    assert "bob is cooling until" in refused.reason
    assert isinstance(store.claim(ref("T-3"), "cat", "cat-1", 10.0), Claim)
    clock.advance(1800.0)
    assert isinstance(store.claim(ref("T-1"), "bob", "bob-1", 10.0), Claim)


def test_a_readable_limit_ends_the_row_of_unreadable_ones(store: SqliteStore, clock: FakeClock) -> None:
    for found, in_a_row in ((None, 1), (None, 2), (clock.wall + 60.0, 0)):
        claim = started(store, "T-1")
        limited = replace(
            settlement(RunResult.RATE_LIMITED, now=clock.wall),
            unreadable_limit=found is None,
            interruption=False,
            cooling_until=clock.wall + 10.0,
        )
        assert store.settle_run(claim.run_id, claim.owner, claim.version, limited, actor="dispatcher") is None
        assert agent_of(store, "amy").limits_in_a_row == in_a_row
        clock.advance(10.0)


def test_a_sign_in_stops_the_agent_until_a_person_resumes_it(store: SqliteStore) -> None:
    claim = started(store, "T-1")
    stopped = settlement(RunResult.AUTH_REQUIRED, "sign in again")
    assert store.settle_run(claim.run_id, claim.owner, claim.version, stopped, actor="dispatcher") is None
    assert agent_of(store, "amy").stopped_reason == "sign in again"
    assert isinstance(store.claim(T1, "amy", "amy-2", 10.0), Refused)
    assert store.claim_next("amy", "amy-2", 10.0) is None
    assert store.resume_agent("amy", actor="person") is None
    assert isinstance(store.claim(T1, "amy", "amy-2", 10.0), Claim)


def test_giving_back_costs_nothing(store: SqliteStore) -> None:
    claim = claimed(store, "T-1")
    assert store.release(T1, claim.owner, claim.version, actor="agent amy", reason="wrong one") is None
    task = task_of(store)
    assert (task.state, task.attempts, task.interruptions, task.reason) == (TaskState.TODO, 0, 0, "wrong one")
    assert isinstance(store.claim(T1, "amy", "amy-2", 10.0, pulled=True), Claim)


def test_a_lost_run_makes_its_task_claimable_at_once(store: SqliteStore) -> None:
    claim = started(store, "T-1")
    store.end_lost_run(claim.run_id, reason="its shim is gone")
    store.end_lost_run(claim.run_id, reason="its shim is gone")
    assert [run.result for run in store.runs(T1)] == [RunResult.ORPHANED]
    assert task_of(store).interruptions == 1
    assert isinstance(store.claim(T1, "amy", "amy-2", 10.0), Claim)


def test_a_run_cannot_be_started_or_queued_out_of_turn(store: SqliteStore) -> None:
    claim = started(store, "T-1")
    again = store.start_run(claim.run_id, claim.owner, claim.version, branch="x", base="b", slot="s2")
    early = store.enqueue(claim.run_id, claim.owner, claim.version, tip="c", base="b", actor="dispatcher")
    assert isinstance(again, Refused)
    assert isinstance(early, Refused)
    assert not again.lease_lost
    assert not early.lease_lost
    assert store.merges() == []


# -- the merge queue -------------------------------------------------------------------------------------------


def test_a_landing_finishes_task_run_and_entry_in_one_step(store: SqliteStore, clock: FakeClock) -> None:
    seq = store.last_seq()
    claim = landed(store, "T-1", commit="d" * 40)
    task, run = task_of(store), store.run(claim.run_id)
    assert run is not None
    assert (task.state, task.done_by, task.done_commit) == (TaskState.DONE, DoneBy.LANDED, "d" * 40)
    assert (run.state, run.result) == (RunState.SETTLED, RunResult.LANDED)
    assert store.merges() == []
    [entry] = store.merges(open_only=False)
    assert (entry.state, entry.intent_old, entry.intent_new) == (MergeState.LANDED, None, None)
    assert store.setting("main_oid") == "d" * 40
    assert agent_of(store, "amy").weights["general"] == Weight(0.8, 1, 0)
    assert task_of(store, "T-2").unmet == 0
    told = kinds(store, seq)
    assert told.index("task.done") < told.index("task.unlocked")
    assert store.snapshot().done_by_agent == {T1: "amy"}


def test_recording_a_landing_twice_changes_nothing(store: SqliteStore) -> None:
    landed(store, "T-1")
    [entry] = store.merges(open_only=False)
    seq, before = store.last_seq(), store.tasks()
    store.merge_landed(entry.id, "d" * 40, settlement=settlement(RunResult.LANDED))
    assert (store.last_seq(), store.tasks()) == (seq, before)


def test_a_landing_found_after_a_restart_counts_from_any_open_state(store: SqliteStore) -> None:
    _, merge_id = queued(store, "T-1")
    store.merge_landed(merge_id, "d" * 40, settlement=settlement(RunResult.LANDED))
    assert task_of(store).state is TaskState.DONE


def test_an_entry_goes_round_again_without_its_intent(store: SqliteStore) -> None:
    _, merge_id = queued(store, "T-1")
    store.merge_verifying(merge_id, candidate="d", onto="b")
    store.merge_intend(merge_id, old="b", new="d")
    [intended] = store.merges()
    assert (intended.state, intended.intent_old, intended.intent_new) == (MergeState.LANDING, "b", "d")
    store.merge_requeue(merge_id, "main moved")
    [entry] = store.merges()
    assert (entry.state, entry.rounds, entry.intent_old, entry.candidate) == (MergeState.QUEUED, 1, None, None)


def test_a_waiting_entry_keeps_its_intent_and_names_the_files(store: SqliteStore) -> None:
    _, merge_id = queued(store, "T-1")
    store.merge_verifying(merge_id, candidate="d", onto="b")
    store.merge_intend(merge_id, old="b", new="d")
    store.merge_waiting(merge_id, "dirty files", ["a.py"])
    seq = store.last_seq()
    store.merge_waiting(merge_id, "dirty files", ["a.py"])
    assert store.last_seq() == seq
    [entry] = store.merges()
    assert (entry.state, entry.conflict_paths, entry.intent_new) == (MergeState.WAITING_CHECKOUT, ("a.py",), "d")
    store.merge_intend(merge_id, old="b", new="d")
    store.merge_landed(merge_id, "d", settlement=settlement(RunResult.LANDED))
    assert task_of(store).state is TaskState.DONE


def test_a_conflict_can_start_over_from_main(store: SqliteStore) -> None:
    claim, merge_id = queued(store, "T-1")
    store.merge_conflict(merge_id, MET, settlement=settlement(RunResult.CONFLICT))
    task, run = task_of(store), store.run(claim.run_id)
    assert run is not None
    assert (task.state, task.interruptions, run.result) == (TaskState.TODO, 1, RunResult.CONFLICT)
    assert store.merges() == []
    kept = store.conflict(merge_id)
    assert kept is not None
    assert (kept.paths, kept.theirs) == (("a.py", "b.py"), "4" * 40)


def test_a_kept_conflict_waits_for_a_person_and_can_be_resolved(store: SqliteStore) -> None:
    claim, merge_id = queued(store, "T-1")
    store.merge_conflict(merge_id, MET, settlement=None)
    [entry] = store.merges()
    assert (entry.state, task_of(store).state) == (MergeState.CONFLICT, TaskState.NEEDS_PERSON)
    store.merge_requeue(merge_id, "resolved")
    assert task_of(store).state is TaskState.LANDING
    store.merge_landed(merge_id, "d", settlement=settlement(RunResult.LANDED))
    run = store.run(claim.run_id)
    assert run is not None
    assert (task_of(store).state, run.result) == (TaskState.DONE, RunResult.LANDED)


def test_a_red_entry_is_turned_away(store: SqliteStore, clock: FakeClock) -> None:
    _, merge_id = queued(store, "T-1")
    store.merge_verifying(merge_id, candidate="d", onto="b")
    store.merge_rejected(merge_id, "2 tests failed", settlement=settlement(RunResult.VERIFY_FAILED))
    assert (task_of(store).state, task_of(store).attempts) == (TaskState.TODO, 1)
    assert agent_of(store, "amy").weights["general"].value == 0.3
    [entry] = store.merges(open_only=False)
    assert (entry.state, entry.reason) == (MergeState.REJECTED, "2 tests failed")


def test_what_comes_after_a_person_cancelled_is_recorded_as_refused(store: SqliteStore) -> None:
    _, merge_id = queued(store, "T-1")
    store.merge_verifying(merge_id, candidate="d", onto="b")
    assert store.cancel(T1, actor="person") is None
    with pytest.raises(RecallError, match=r"is rejected, and its run \d+ does not hold the task any more"):
        store.merge_intend(merge_id, old="b", new="d")
    store.merge_rejected(merge_id, "red", settlement=settlement(RunResult.VERIFY_FAILED))
    assert kinds(store)[-1] == "merge.refused"
    assert (task_of(store).state, task_of(store).attempts) == (TaskState.CANCELLED, 0)


def test_a_move_that_no_table_lists_is_a_fault(store: SqliteStore) -> None:
    _, merge_id = queued(store, "T-1")
    with pytest.raises(IllegalMove, match="cannot go from queued to landing"):
        store.merge_intend(merge_id, old="b", new="d")
    assert [entry.state for entry in store.merges()] == [MergeState.QUEUED]


def test_the_queue_keeps_the_order_of_arrival(store: SqliteStore) -> None:
    _, first = queued(store, "T-3")
    _, second = queued(store, "T-1", agent="cat")
    store.merge_verifying(first, candidate="d", onto="b")
    store.merge_requeue(first, "main moved")
    assert [entry.id for entry in store.merges()] == [first, second]
