"""Single histories that the random search came upon: each left something behind, or started what it must not."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from recall.domain.run import RunState
from tests.engine.histories import Histories
from tests.engine.world import INTERRUPTIONS

TWO_TASKS = "## T-0 First\n\n## T-1 Second\n\n- after: T-0\n"


@pytest.fixture
def history() -> Generator[Histories]:
    history = Histories()
    history.begins(text=TWO_TASKS, restart_conflicts=True)
    yield history
    history.everything_holds()
    history.teardown()


def test_nothing_is_started_for_somebody_who_claims_by_herself(history: Histories) -> None:
    history.somebody_claims(ref=None, pulled=True, then=[])
    history.person_steers(agent="ann", wish="pause", then=[])
    history.person_steers(agent="bob", wish="pause", then=[])
    history.clock.advance(61.0)
    history.loop_ticks(eager=True)
    assert history.store.open_runs() == []


def test_lost_leases_count_against_the_configured_limit(history: Histories) -> None:
    for _ in range(INTERRUPTIONS):
        history.loop_ticks(eager=True)
        history.disturbance(kind="stall", then=[])
        history.loop_ticks(eager=False)
        history.everything_holds()
    assert [task.interruptions for task in history.store.tasks()] == [INTERRUPTIONS, 0]


def test_what_a_killed_shim_left_running_goes_before_its_workspace_does(history: Histories) -> None:
    history.loop_ticks(eager=True)
    process = history.processes.agents()[0]
    history.kill_shim(process)
    history.disturbance(kind="stall", then=[])
    history.loop_ticks(eager=True)
    assert not process.strays


def test_a_lease_that_runs_out_before_the_first_look_leaves_no_workspace_behind(history: Histories) -> None:
    history.strikes.place = "launch.run_recorded"
    history.loop_ticks(eager=True)
    assert history.dispatcher is None
    assert [run.state for run in history.store.open_runs()] == [RunState.RUNNING]
    history.dispatcher_starts()
    history.disturbance(kind="stall", then=[])
    history.everything_comes_to_rest()
