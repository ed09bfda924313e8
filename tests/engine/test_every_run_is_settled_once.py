"""From an agent's end to its settlement, whatever comes in between: late looks, a busy store, a person."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from recall.domain.errors import EnvironmentFailure, StoreBusy
from recall.domain.run import Claim, Refused, RunResult, RunState
from recall.domain.task import TaskState
from recall.engine.releases import Releases
from recall.engine.settlement import settle_ended_run, settle_lost_run
from recall.store import SqliteStore
from tests.engine.stage import Stage, stage
from tests.support.builders import ref


def releases(here: Stage) -> Releases:
    return Releases(here.dispatcher.parts)


# -- the end of a run ------------------------------------------------------------------------------------------
def test_a_run_whose_shim_could_not_reach_the_store_is_ended_in_its_place() -> None:
    with stage("## T-1 First") as here:
        here.tick()
        run_id = here.end("T-1", store_is_told=False)
        assert here.run(run_id).state is RunState.RUNNING
        here.tick()
        assert here.run(run_id).state is RunState.LANDING
        assert len(here.events("run.ended")) == 1


def test_a_run_that_ended_while_no_dispatcher_was_there_is_settled_at_the_next_start() -> None:
    with stage("## T-1 First") as here:
        here.tick()
        run_id = here.end("T-1", store_is_told=False)
        here.restart()
        here.tick()
        assert here.run(run_id).state is RunState.LANDING


def test_a_run_that_ends_between_two_looks_is_handed_in_not_put_away() -> None:
    """The loop saw it running, then its shim told the store and ended: its result counts."""
    with stage("## T-1 First") as here:
        here.tick()
        here.executor.eager = False
        run_id = here.end("T-1", store_is_told=False)
        process = here.processes.by_folder[here.plans.runs_folder() / str(run_id)]
        here.tick()
        assert here.shim.end(process)
        here.executor.work()
        assert here.run(run_id).state is RunState.LANDING
        assert here.events("run.refused") == []


def test_a_late_second_settlement_touches_nothing() -> None:
    with stage("## T-1 First") as here:
        run_id = here.queue("T-1")
        process = here.processes.by_folder[here.plans.runs_folder() / str(run_id)]
        assert process.record is not None
        settle_ended_run(here.dispatcher.parts, releases(here), run_id, process.record)
        settle_lost_run(here.dispatcher.parts, releases(here), run_id)
        assert here.run(run_id).state is RunState.LANDING
        assert here.git.slots == {"s1": run_id}
        assert here.land()
        assert here.task("T-1").state is TaskState.DONE


def test_a_run_that_is_cancelled_while_it_is_marked_ended_is_not_collected() -> None:
    with stage("## T-1 First") as here:
        here.tick()
        run_id = here.end("T-1", store_is_told=False)

        def cancelled_first(*_: object) -> Refused:
            here.store.cancel(ref("T-1"), actor="person")
            return Refused("its lease is lost", lease_lost=True)

        with (
            patch.object(here.store, "end_run", cancelled_first),
            patch.object(here.git, "collect", side_effect=AssertionError("collected")),
        ):
            here.tick()
        here.tick()
        assert (here.run(run_id).result, here.trouble) == (RunResult.CANCELLED, [])
        assert here.git.slots == {"s1": None}


def test_a_result_that_git_cannot_collect_needs_a_person_and_costs_nothing() -> None:
    with stage("## T-1 First") as here:
        here.tick()
        here.end("T-1")
        with patch.object(here.git, "collect", side_effect=EnvironmentFailure("git says: bad object")):
            here.tick()
        task = here.task("T-1")
        assert (task.state, task.attempts, task.interruptions) == (TaskState.NEEDS_PERSON, 0, 0)
        assert "bad object" in task.reason


@pytest.mark.parametrize("write", ["end_run", "enqueue", "settle_run"])
def test_a_busy_store_delays_a_settlement_and_calls_nobody(write: str) -> None:
    ending = "failure" if write == "settle_run" else "success"
    with stage("## T-1 First") as here:
        here.tick()
        run_id = here.end("T-1", ending, store_is_told=False)
        with patch.object(here.store, write, side_effect=StoreBusy("held by PID 1")):
            here.tick()
        assert here.run(run_id).state in (RunState.RUNNING, RunState.ENDED)
        assert here.trouble == [f"run {run_id}: held by PID 1"]
        here.tick()
        assert here.run(run_id).state in (RunState.RUNNING, RunState.ENDED), "tried again too soon"
        here.clock.advance(2.0)
        here.tick()
        expected = (TaskState.TODO, 1) if ending == "failure" else (TaskState.LANDING, 0)
        assert (here.task("T-1").state, here.task("T-1").attempts) == expected
        assert len(here.events("merge.queued")) == (ending == "success")


def test_a_lost_run_is_swept_and_its_task_goes_on_at_once() -> None:
    with stage("## T-1 First") as here:
        here.tick()
        process = here.process("T-1")
        process.end(None)
        process.strays = True
        here.tick()
        assert not process.strays
        assert here.run(process.spec.run_id).result is RunResult.ORPHANED
        assert here.task("T-1").interruptions == 1
        assert here.process("T-1").spec.run_id != process.spec.run_id


# -- a person or the store ends it -----------------------------------------------------------------------------
@pytest.mark.parametrize("wish", ["cancel", "hold", "finish_manually"])
def test_a_run_that_a_person_ends_is_stopped_before_its_workspace_goes(wish: str) -> None:
    with stage("## T-1 First") as here:
        here.tick()
        process = here.process("T-1")
        act = getattr(here.store, wish)
        assert act(ref("T-1"), actor="person", reason="enough") is None
        here.tick()
        assert process.asked_to_stop == "lease_lost"
        assert here.git.slots == {"s1": process.spec.run_id}, "taken away under a living agent"
        here.stop_what_was_told_to()
        here.tick()
        assert here.git.slots == {"s1": None}
        assert here.run(process.spec.run_id).result is RunResult.CANCELLED


def test_a_result_that_a_person_cancels_gives_its_workspace_back() -> None:
    with stage("## T-1 First") as here:
        run_id = here.queue("T-1")
        assert here.store.cancel(ref("T-1"), actor="person") is None
        here.tick()
        assert here.git.slots == {"s1": None}
        assert here.run(run_id).result is RunResult.CANCELLED
        assert not here.land()


def test_a_run_that_is_cancelled_while_it_is_prepared_never_starts() -> None:
    with stage("## T-1 First") as here:
        here.executor.eager = False
        here.tick()
        assert here.store.cancel(ref("T-1"), actor="person") is None
        here.tick()
        here.executor.work()
        here.tick()
        assert here.processes.agents() == []
        assert here.git.slots == {"s1": None}


def test_a_run_that_is_cancelled_before_the_first_look_at_it_is_stopped() -> None:
    with stage("## T-1 First") as here:
        here.tick()
        assert here.store.cancel(ref("T-1"), actor="person") is None
        here.tick()
        assert here.process("T-1").asked_to_stop == "lease_lost"
        here.stop_what_was_told_to()
        here.tick()
        assert here.git.slots == {"s1": None}


# -- leases ----------------------------------------------------------------------------------------------------
def pull(store: SqliteStore, id_: str) -> Claim:
    claim = store.claim(ref(id_), "zoe", "zoe-1", 60.0, pulled=True)
    assert isinstance(claim, Claim)
    return claim


def test_a_pulled_run_whose_lease_ran_out_is_taken_back_though_nobody_writes() -> None:
    with stage("## T-1 First\n- touches: a") as here:
        claim = pull(here.store, "T-1")
        here.tick()
        assert here.task("T-1").state is TaskState.IN_PROGRESS
        here.clock.advance(60.0)
        here.tick()
        assert here.run(claim.run_id).result is RunResult.LEASE_LOST
        assert here.process("T-1").spec.run_id != claim.run_id


def test_an_agent_whose_lease_ran_out_is_stopped_before_another_works_in_its_folder() -> None:
    with stage("## T-1 First") as here:
        here.tick()
        first = here.process("T-1")
        here.clock.advance(60.0)
        here.tick()
        assert here.run(first.spec.run_id).result is RunResult.LEASE_LOST
        assert first.asked_to_stop == "lease_lost"
        assert len({one.spec.slot for one in here.processes.agents()}) == 2
        here.stop_what_was_told_to()
        here.tick()
        assert here.git.slots["s1"] is None


# -- what fails on the way -------------------------------------------------------------------------------------
def test_an_agent_that_cannot_be_started_gives_task_and_workspace_back() -> None:
    with (
        stage("## T-1 First") as here,
        patch.object(here.processes, "start", side_effect=OSError("no more processes")),
    ):
        here.tick()
        assert here.git.slots == {"s1": None}
        assert here.task("T-1").interruptions == 1
        assert "no more processes" in here.store.runs()[0].reason


def test_a_workspace_that_cannot_be_made_is_tried_again_ever_later_until_a_person_is_needed() -> None:
    with stage("## T-1 First") as here, patch.object(here.git, "open_workspace", side_effect=OSError("disk full")):
        pause = here.settings.run.backoff
        for tried in range(1, here.settings.run.max_interruptions):
            here.tick()
            here.clock.advance(pause * 2 ** (tried - 1) - 0.1)
            here.tick()
            assert here.task("T-1").interruptions == tried
            here.clock.advance(0.2)
        here.tick()
        task = here.task("T-1")
        assert (task.state, task.attempts) == (TaskState.NEEDS_PERSON, 0)
        assert "disk full" in task.reason
