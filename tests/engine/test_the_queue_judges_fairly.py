"""The merge queue's decisions: whom a red verdict blames, what moves of main mean, what waits and for how long."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest

from recall.domain.conflict import Side
from recall.domain.errors import StoreBusy
from recall.domain.merge import MergeState
from recall.domain.run import Refused, RunResult, RunState
from recall.domain.task import TaskState
from recall.domain.work import LandingOutcome
from recall.engine import interventions
from recall.engine.resolve import Resolver
from tests.engine.stage import Stage, stage
from tests.engine.world import VERIFY
from tests.support.builders import ref


def test_what_was_verified_lands_and_its_workspace_is_free_again() -> None:
    with stage("## T-1 First") as here:
        run_id = here.queue("T-1")
        assert here.land()
        assert here.task("T-1").state is TaskState.DONE
        assert here.task("T-1").done_commit == here.git.main_tip()
        here.tick()
        assert here.git.slots == {"s1": None}
        assert here.run(run_id).result is RunResult.LANDED
        assert not here.land()


def _main_moves_while_it_is_verified(here: Stage) -> None:
    def green(_command: str, commit: str) -> bool:
        here.git.grow(f"by somebody {len(here.git.main)}")
        return True

    here.verdict = green


def test_a_main_that_moves_sends_an_entry_round_again() -> None:
    with stage("## T-1 First") as here:
        here.queue("T-1")
        _main_moves_while_it_is_verified(here)
        assert here.land()
        assert (here.entry().state, here.entry().rounds) == (MergeState.QUEUED, 1)
        here.verdict = lambda _command, _commit: True
        assert here.land()
        assert here.git.contains(here.git.main_tip(), "by somebody 1")
        assert here.task("T-1").state is TaskState.DONE


def test_a_main_that_never_rests_needs_a_person_after_its_rounds() -> None:
    with stage("## T-1 First", max_rounds=3) as here:
        run_id = here.queue("T-1")
        _main_moves_while_it_is_verified(here)
        rounds = sum(here.land() for _ in range(10))
        assert rounds == 3
        task = here.task("T-1")
        assert (task.state, task.attempts) == (TaskState.NEEDS_PERSON, 0)
        assert "main moved" in task.reason
        assert here.run(run_id).state is RunState.SETTLED


def test_a_red_tree_under_a_green_main_is_the_runs_fault() -> None:
    with stage("## T-1 First") as here:
        run_id = here.queue("T-1")
        here.verdict = lambda _command, commit: commit == "root"
        assert here.land()
        task = here.task("T-1")
        assert (task.state, task.attempts) == (TaskState.TODO, 1)
        assert "red" in task.reason
        assert here.run(run_id).result is RunResult.VERIFY_FAILED
        here.tick()
        assert here.git.slots == {"s1": None}


def _resolved_by_a_person(here: Stage) -> int:
    here.restart_conflicts = False
    here.restart()
    run_id = here.queue("T-1", conflicts=True)
    assert here.land()
    desk = Resolver(here.store, here.git, "person", unattended=False)
    assert isinstance(desk.take(ref("T-1"), Side.TASK), str)
    return run_id


def test_a_red_resolution_of_a_conflict_is_nobody_s_fault_but_the_persons() -> None:
    with stage("## T-1 First") as here:
        run_id = _resolved_by_a_person(here)
        here.verdict = lambda _command, commit: commit == "root"
        assert here.land()
        task, run = here.task("T-1"), here.run(run_id)
        assert (task.state, task.attempts, task.retry_at) == (TaskState.TODO, 0, None)
        assert run.result is RunResult.VERIFY_FAILED
        assert "the resolution of its conflict" in run.reason
        agent = next(one for one in here.store.agents() if one.name == run.agent)
        assert agent.weight("general").value == 0.5
        assert agent.weight("general").failed == 0


def test_a_tree_that_passes_at_once_on_the_second_try_is_flaky() -> None:
    with stage("## T-1 First") as here:
        here.queue("T-1")
        verdicts = iter([False, True])
        here.verdict = lambda _command, _commit: next(verdicts)
        assert here.land()
        assert here.task("T-1").state is TaskState.DONE
        (event,) = here.events("merge.flaky")
        assert "red at first" in event.reason


def test_a_red_main_blames_nobody_and_holds_until_it_changes() -> None:
    with stage("## T-1 First") as here:
        here.queue("T-1")
        here.verdict = lambda _command, _commit: False
        assert here.land()
        assert not here.land()
        task = here.task("T-1")
        assert (task.state, task.attempts) == (TaskState.LANDING, 0)
        assert "main itself is red at root" in here.dispatcher.queue.held()
        assert not here.dispatcher.standing().moving
        here.git.grow("mended")
        here.verdict = lambda _command, _commit: True
        assert here.dispatcher.queue.held() == ""
        assert here.land()
        assert here.task("T-1").state is TaskState.DONE


def test_a_result_that_mends_a_red_main_lands() -> None:
    with stage("## T-1 Innocent", "## T-2 The mending") as here:
        here.tick()
        here.end("T-1")
        mends = here.end("T-2")
        here.tick()
        here.verdict = lambda _command, commit: f"work-{mends}" in commit
        assert here.land()
        assert here.dispatcher.queue.held() == ""
        assert here.land()
        assert here.task("T-2").state is TaskState.DONE
        here.verdict = lambda _command, _commit: True
        assert here.land()
        assert here.task("T-1").state is TaskState.DONE


def test_what_a_task_itself_checks_need_not_hold_on_main() -> None:
    with stage("## T-1 Feature\n- verify: make feature", "## T-2 Other") as here:
        here.queue("T-1")
        here.verdict = lambda command, _commit: command == VERIFY
        assert here.land()
        task = here.task("T-1")
        assert (task.state, task.attempts) == (TaskState.TODO, 1)
        assert "`make feature` is red" in task.reason
        assert here.dispatcher.queue.held() == ""


def test_a_rewritten_main_holds_the_queue_until_a_person_releases_it() -> None:
    with stage("## T-1 First", "## T-2 Second") as here:
        here.tick()
        here.end("T-1")
        here.end("T-2")
        here.tick()
        assert here.land()
        here.git.main.append("root")
        assert not here.land()
        assert not here.land()
        assert "main was rewritten" in here.dispatcher.queue.held()
        assert not here.dispatcher.standing().moving
        assert here.store.release_queue(actor="person") is None
        assert here.land()
        assert here.task("T-2").state is TaskState.DONE


def test_a_main_that_grew_outside_the_queue_is_told_once() -> None:
    with stage("## T-1 First", "## T-2 Second") as here:
        here.tick()
        here.end("T-1")
        here.end("T-2")
        here.tick()
        assert here.land()
        here.git.grow("by somebody")
        assert here.land()
        (event,) = here.events("main.moved")
        assert "by somebody"[:10] in event.reason


def test_an_occupied_checkout_is_tried_again_every_two_seconds_and_told_once() -> None:
    with stage("## T-1 First") as here:
        here.queue("T-1")
        here.git.checkout_is_free = False
        here.land()
        assert here.entry().state is MergeState.WAITING_CHECKOUT
        assert not here.dispatcher.standing().moving
        for _ in range(3):
            here.clock.advance(2.0)
            here.land()
        assert len(here.events("merge.waiting_checkout")) == 1
        here.git.checkout_is_free = True
        assert not here.land(), "tried a moment ago"
        here.clock.advance(2.0)
        assert here.land()
        assert here.task("T-1").state is TaskState.DONE


def test_a_cancel_while_it_is_landed_after_a_wait_is_refused_and_told_so() -> None:
    with stage("## T-1 First") as here:
        here.queue("T-1")
        here.git.checkout_is_free = False
        here.land()
        here.git.checkout_is_free = True
        here.clock.advance(2.0)
        said = list[Refused | None]()
        land = here.git.land

        def meanwhile(**how: Any) -> LandingOutcome:
            said.append(interventions.cancel(here.store, ref("T-1"), actor="person", reason="cancelled by you"))
            return land(**how)

        with patch.object(here.git, "land", meanwhile):
            assert here.land()
        assert [one is not None for one in said] == [True]
        assert here.task("T-1").state is TaskState.DONE
        assert here.events("merge.refused") == []


def test_a_cancel_while_it_waits_for_the_checkout_counts() -> None:
    with stage("## T-1 First") as here:
        here.queue("T-1")
        here.git.checkout_is_free = False
        here.land()
        assert interventions.cancel(here.store, ref("T-1"), actor="person", reason="cancelled by you") is None
        here.git.checkout_is_free = True
        here.clock.advance(2.0)
        here.land()
        assert here.task("T-1").state is TaskState.CANCELLED
        assert here.git.main == ["root"]


def test_where_nothing_is_seen_in_the_way_and_main_still_does_not_move_it_is_not_tried_every_moment() -> None:
    with stage("## T-1 First") as here:
        here.queue("T-1")
        here.git.checkout_is_free = False
        here.land()
        with patch.object(here.git, "landing_hindrance", return_value=None):
            for _ in range(20):
                here.clock.advance(2.0)
                here.land()
        assert len(here.events("merge.landing")) == 2


@pytest.mark.parametrize("write", ["merge_verifying", "merge_intend", "merge_landed"])
def test_a_busy_store_in_the_middle_of_a_landing_is_gone_on_from(write: str) -> None:
    with stage("## T-1 First") as here:
        here.queue("T-1")
        with patch.object(here.store, write, side_effect=StoreBusy("held by PID 1")), pytest.raises(StoreBusy):
            here.land()
        for _ in range(3):
            here.land()
        assert here.task("T-1").state is TaskState.DONE
        assert len(here.events("merge.landed")) == 1


def test_an_interrupted_wait_for_the_checkout_is_rolled_forward_at_a_start() -> None:
    with stage("## T-1 First") as here:
        here.queue("T-1")
        here.git.checkout_is_free = False
        here.land()
        here.git.checkout_is_free = True
        here.restart()
        assert here.task("T-1").state is TaskState.DONE


def test_commits_that_are_gone_start_over_instead_of_holding_the_queue() -> None:
    with stage("## T-1 First", "## T-2 Second") as here:
        here.tick()
        lost = here.end("T-1")
        here.end("T-2")
        here.tick()
        del here.git.commits[f"work-{lost}"]
        assert here.land()
        task = here.task("T-1")
        assert (task.state, task.attempts, task.interruptions) == (TaskState.TODO, 0, 1)
        assert here.land()
        assert here.task("T-2").state is TaskState.DONE
