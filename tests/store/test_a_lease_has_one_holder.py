"""The whole story of a lease, told with a clock that the tests move."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from recall.domain.run import Claim, Refused, RunResult, RunState
from recall.domain.task import TaskState
from tests.support.builders import import_specs, make_store, ref, settlement, spec
from tests.support.clock import FakeClock

T1 = ref("T-1")
FAILED = settlement(RunResult.FAILED)


def test_reading_and_then_writing_lets_two_agents_win(tmp_path: Path) -> None:
    path = tmp_path / "naive.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as amy, closing(sqlite3.connect(path)) as bob:
        bob.isolation_level = None
        amy.execute("CREATE TABLE task (owner TEXT)")
        amy.execute("INSERT INTO task VALUES (NULL)")
        seen = [connection.execute("SELECT owner FROM task").fetchall() for connection in (amy, bob)]
        winners = list[str]()
        for name, connection, [(owner,)] in zip(("amy", "bob"), (amy, bob), seen, strict=True):
            if owner is None:
                connection.execute("UPDATE task SET owner = ?", (name,))
                winners.append(name)
    assert winners == ["amy", "bob"]


def test_of_two_claims_of_one_moment_one_wins(tmp_path: Path) -> None:
    clock = FakeClock()
    with make_store(tmp_path, clock) as one, make_store(tmp_path, clock) as other:
        import_specs(one, spec("T-1"))
        won = one.claim(T1, "amy", "amy-1", 10.0, pulled=True)
        lost = other.claim(T1, "bob", "bob-1", 10.0, pulled=True)
    assert isinstance(won, Claim)
    assert lost == Refused("T-1 is in_progress, held by amy-1")


def test_a_lease_from_its_claim_to_the_next_holder(tmp_path: Path) -> None:
    clock = FakeClock(mono=100.0)
    with make_store(tmp_path, clock) as store:
        import_specs(store, spec("T-1"))

        # amy's lease of 10 s ends at 110
        amy = store.claim(T1, "amy", "amy-1", 10.0, pulled=True)
        assert isinstance(amy, Claim)
        assert (amy.version, amy.expires) == (1, 110.0)

        # nobody else can renew it, whatever they get right
        assert isinstance(store.renew(T1, "bob-1", 1, 10.0), Refused)
        assert isinstance(store.renew(T1, "amy-1", 2, 10.0), Refused)

        # a renewal at 103 moves the end from 110 to 113, so a claim at 110 fails
        clock.mono = 103.0
        renewed = store.renew(T1, "amy-1", 1, 10.0)
        assert isinstance(renewed, Claim)
        assert renewed.expires == 113.0
        clock.mono = 110.0
        assert isinstance(store.claim(T1, "bob", "bob-1", 10.0, pulled=True), Refused)
        still = store.task(T1)
        assert still is not None
        assert (still.lease_owner, still.lease_expires) == ("amy-1", 113.0)

        # at 113 exactly amy can neither renew nor finish, and bob gets version 2
        clock.mono = 113.0
        late_renewal = store.renew(T1, "amy-1", 1, 10.0)
        late_finish = store.settle_run(amy.run_id, "amy-1", 1, FAILED, actor="agent amy")
        assert isinstance(late_renewal, Refused)
        assert late_renewal.lease_lost
        assert isinstance(late_finish, Refused)
        assert late_finish.lease_lost
        bob = store.claim(T1, "bob", "bob-1", 10.0, pulled=True)
        assert isinstance(bob, Claim)
        assert bob.version == 2

        # amy's result comes too late, and does not touch bob's run
        assert isinstance(store.settle_run(amy.run_id, "amy-1", 1, FAILED, actor="agent amy"), Refused)
        task = store.task(T1)
        assert task is not None
        assert (task.lease_owner, task.attempts) == ("bob-1", 0)

        # bob finishes once, not twice
        assert store.settle_run(bob.run_id, "bob-1", 2, FAILED, actor="agent bob") is None
        assert isinstance(store.settle_run(bob.run_id, "bob-1", 2, FAILED, actor="agent bob"), Refused)
        after = store.task(T1)
        assert after is not None
        assert (after.state, after.attempts) == (TaskState.TODO, 1)


def test_an_old_version_under_a_reused_owner_name_is_refused(tmp_path: Path) -> None:
    clock = FakeClock()
    with make_store(tmp_path, clock) as store:
        import_specs(store, spec("T-1"))
        first = store.claim(T1, "amy", "amy-1", 10.0, pulled=True)
        clock.advance(10.0)
        second = store.claim(T1, "amy", "amy-1", 10.0, pulled=True)
        assert isinstance(first, Claim)
        assert isinstance(second, Claim)
        for run_id in (first.run_id, second.run_id):
            assert isinstance(store.settle_run(run_id, "amy-1", 1, FAILED, actor="agent amy"), Refused)
            assert isinstance(store.enqueue(run_id, "amy-1", 1, tip="c", base="b", actor="agent amy"), Refused)
        assert isinstance(store.renew(T1, "amy-1", 1, 10.0), Refused)
        assert isinstance(store.release(T1, "amy-1", 1, actor="agent amy", reason=""), Refused)
        assert isinstance(store.renew(T1, "amy-1", 2, 10.0), Claim)


def test_the_story_goes_on_after_the_store_was_closed_and_opened_again(tmp_path: Path) -> None:
    clock = FakeClock(mono=100.0)
    with make_store(tmp_path, clock) as store:
        import_specs(store, spec("T-1"))
        amy = store.claim(T1, "amy", "amy-1", 10.0, pulled=True)
        assert isinstance(amy, Claim)
    with make_store(tmp_path, clock) as store:
        clock.mono = 109.0
        assert isinstance(store.claim(T1, "bob", "bob-1", 10.0, pulled=True), Refused)
        clock.mono = 110.0
        assert isinstance(store.renew(T1, "amy-1", 1, 10.0), Refused)
        bob = store.claim(T1, "bob", "bob-1", 10.0, pulled=True)
        assert isinstance(bob, Claim)
        assert (bob.version, bob.number) == (2, 2)
    with make_store(tmp_path, clock) as store:
        assert isinstance(store.settle_run(amy.run_id, "amy-1", 1, FAILED, actor="agent amy"), Refused)
        assert store.settle_run(bob.run_id, "bob-1", 2, FAILED, actor="agent bob") is None


def test_a_refused_write_is_recorded_with_its_reason(tmp_path: Path) -> None:
    clock = FakeClock()
    with make_store(tmp_path, clock) as store:
        import_specs(store, spec("T-1"))
        amy = store.claim(T1, "amy", "amy-1", 10.0, pulled=True)
        assert isinstance(amy, Claim)
        clock.advance(60.0)
        refused = store.settle_run(amy.run_id, "amy-1", 1, FAILED, actor="agent amy")
        assert isinstance(refused, Refused)
        event = store.events_since(0)[-1]
    assert (event.kind, event.run_id, event.after, event.reason) == (
        "run.refused",
        amy.run_id,
        RunResult.FAILED,
        refused.reason,
    )
    with closing(sqlite3.connect(tmp_path / "state" / "recall.db")) as database:
        rows = database.execute("SELECT run_id, wish, result, refusal FROM outcomes").fetchall()
    assert rows == [(amy.run_id, "settle", "failed", refused.reason)]


def test_each_expired_lease_is_told_once_and_at_the_moment_of_its_row(tmp_path: Path) -> None:
    clock = FakeClock(tick=0.25)
    with make_store(tmp_path, clock) as store:
        import_specs(store, *(spec(f"T-{number}") for number in range(1, 6)))
        for number in range(1, 6):
            assert isinstance(store.claim(ref(f"T-{number}"), "amy", f"amy-{number}", 10.0, pulled=True), Claim)
        clock.advance(60.0)
        before = store.last_seq()
        assert store.claim(ref("T-3"), "bob", "bob-1", 1000.0, pulled=True)
        told = [event for event in store.events_since(before) if event.kind == "task.lease_expired"]
        rows = {task.id: task for task in store.tasks()}
        assert sorted(event.task or "" for event in told) == [f"T-{number}" for number in range(1, 6)]
        for event in told:
            if event.task != "T-3":
                assert event.at == rows[event.task or ""].changed_at
        assert len({event.at for event in told}) == 1
        assert store.recycle() == []
        for task in rows.values():
            assert task.interruptions == 1
        assert {run.result for run in store.runs() if run.state is RunState.SETTLED} == {RunResult.LEASE_LOST}


def test_the_clock_is_read_once_in_a_write(tmp_path: Path) -> None:
    clock = FakeClock(tick=1.0)
    with make_store(tmp_path, clock) as store:
        import_specs(store, spec("T-1"))
        before = clock.readings
        store.claim(T1, "amy", "amy-1", 10.0, pulled=True)
        assert clock.readings == before + 1


def test_recycling_says_what_it_took_back(tmp_path: Path) -> None:
    clock = FakeClock()
    with make_store(tmp_path, clock) as store:
        import_specs(store, spec("T-1"), spec("T-2"))
        store.claim(T1, "amy", "amy-1", 10.0, pulled=True)
        store.claim(ref("T-2"), "amy", "amy-2", 20.0, pulled=True)
        clock.advance(10.0)
        assert store.recycle() == [T1]
        task = store.task(T1)
        assert task is not None
        assert (task.state, task.lease_owner, task.lease_expires) == (TaskState.TODO, None, None)


def test_after_five_interruptions_a_person_is_needed(tmp_path: Path) -> None:
    clock = FakeClock()
    with make_store(tmp_path, clock) as store:
        import_specs(store, spec("T-1"))
        for number in range(5):
            assert isinstance(store.claim(T1, "amy", f"amy-{number}", 10.0, pulled=True), Claim)
            clock.advance(10.0)
        assert store.recycle() == [T1]
        task = store.task(T1)
        assert task is not None
        assert (task.state, task.interruptions, task.attempts) == (TaskState.NEEDS_PERSON, 5, 0)


def test_the_limit_of_interruptions_is_a_setting(tmp_path: Path) -> None:
    clock = FakeClock()
    with make_store(tmp_path, clock) as store:
        import_specs(store, spec("T-1"))
        store.put_setting("max_interruptions", "1", actor="test")
        store.claim(T1, "amy", "amy-1", 10.0, pulled=True)
        clock.advance(10.0)
        store.recycle()
        task = store.task(T1)
        assert task is not None
        assert task.state is TaskState.NEEDS_PERSON


# -- what clocks do --------------------------------------------------------------------------------------------


def _case(name: str) -> object:
    cases = json.loads((Path(__file__).parents[1] / "cases" / "claims.json").read_text())
    return next(case for case in cases if case["id"] == name)


@pytest.mark.parametrize("step", [-7200.0, 7200.0])
def test_a_step_of_the_wall_clock_neither_ends_nor_stretches_a_lease(tmp_path: Path, step: float) -> None:
    assert _case("CL-003")
    clock = FakeClock()
    with make_store(tmp_path, clock) as store:
        import_specs(store, spec("T-1"))
        claim = store.claim(T1, "amy", "amy-1", 60.0, pulled=True)
        assert isinstance(claim, Claim)
        for number in range(12):
            clock.advance(10.0)
            if number == 5:
                clock.wall += step
            assert isinstance(store.claim(T1, "bob", "bob-1", 60.0, pulled=True), Refused)
            assert isinstance(store.renew(T1, "amy-1", 1, 60.0), Claim)
        # amy dies; a minute later, not hours, bob has it
        clock.advance(60.0)
        assert isinstance(store.claim(T1, "bob", "bob-1", 60.0, pulled=True), Claim)


def test_a_night_asleep_ends_no_lease(tmp_path: Path) -> None:
    assert _case("CL-005")
    clock = FakeClock()
    with make_store(tmp_path, clock) as store:
        import_specs(store, spec("T-1"))
        assert isinstance(store.claim(T1, "amy", "amy-1", 60.0, pulled=True), Claim)
        clock.advance(10.0)
        clock.sleep(600.0)
        assert store.recycle() == []
        assert isinstance(store.claim(T1, "bob", "bob-1", 60.0, pulled=True), Refused)
        assert isinstance(store.renew(T1, "amy-1", 1, 60.0), Claim)


def test_after_a_reboot_every_lease_has_ended(tmp_path: Path) -> None:
    clock = FakeClock(mono=100.0)
    with make_store(tmp_path, clock) as store:
        import_specs(store, spec("T-1"))
        assert isinstance(store.claim(T1, "amy", "amy-1", 60.0, pulled=True), Claim)
        clock.reboot()
        assert isinstance(store.renew(T1, "amy-1", 1, 60.0), Refused)
        bob = store.claim(T1, "bob", "bob-1", 60.0, pulled=True)
        assert isinstance(bob, Claim)
        assert (bob.version, bob.boot) == (2, "boot-2")
