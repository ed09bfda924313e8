"""From the printed reset to resumed work: the margin and one look of the loop, by the clock that everything reads."""

from __future__ import annotations

import pytest

from recall.domain.run import Run, RunResult
from tests.engine.stage import Stage, stage
from tests.engine.world import Fate

RESET = 1200.0
LIMIT = "Error: usage limit reached, try again in 20 minutes"


def limit(place: Stage, line: str = LIMIT) -> Run:
    """The agent of T-1 ends at its limit; gives its run."""
    place.tick()
    process = place.process("T-1")
    place.fates[process.spec.run_id] = Fate("limit")
    assert place.shim.end(process)
    process.end(place.processes.exit(1), line)
    place.tick()
    return place.run(process.spec.run_id)


def wait_for_the_next_run(place: Stage, most: float, step: int = 1) -> tuple[Run, float]:
    """Let the loop look once a second, as it does when nothing wakes it, or less often; gives the run and the seconds
    it took."""
    for second in range(0, int(most) + 1, step):
        place.tick()
        if place.processes.agents():
            (process,) = place.processes.agents()
            return place.run(process.spec.run_id), float(second)
        place.clock.advance(float(step))
    raise AssertionError(f"nothing started within {most} s")


def only_one_agent(place: Stage) -> None:
    assert place.store.pause_agent("bob", actor="test") is None


def test_it_goes_on_within_65_seconds_of_the_reset() -> None:
    with stage("## T-1 First") as place:
        only_one_agent(place)
        first = limit(place)
        assert first.result is RunResult.RATE_LIMITED
        run, took = wait_for_the_next_run(place, RESET + 65)
        assert RESET <= took <= RESET + 65
        assert (run.continues, run.slot, run.branch) == (first.id, first.slot, first.branch)


def test_a_restart_in_between_changes_nothing() -> None:
    with stage("## T-1 First") as place:
        only_one_agent(place)
        first = limit(place)
        place.restart()
        run, took = wait_for_the_next_run(place, RESET + 65)
        assert took >= RESET
        assert run.continues == first.id


@pytest.mark.parametrize(
    "line", ["Error: usage limit reached", "Error: 429 usage limit reached, reset at 2023-11-14T22:13:00Z"]
)
def test_a_limit_without_a_time_to_come_waits_longer_each_time(line: str) -> None:
    with stage("## T-1 First") as place:
        only_one_agent(place)
        pauses: list[float] = []
        for _ in range(3):
            limit(place, line)
            run, took = wait_for_the_next_run(place, 4 * 3600.0 + 65, step=10)
            pauses.append(took)
            assert run.continues is not None
        assert pauses[1] >= 2 * pauses[0] - 20
        assert pauses[2] >= 2 * pauses[1] - 20
        assert pauses[0] >= 60


def test_another_agent_takes_over_after_the_time_for_that() -> None:
    with stage("## T-1 First") as place:
        first = limit(place, "Error: usage limit reached, try again in 9 hours")
        run, took = wait_for_the_next_run(place, 3700)
        assert took >= place.settings.limits.failover_after
        assert run.agent != first.agent
        assert run.continues is None
        assert place.git.slots.get(first.slot or "") in (None, run.id), "the first one's workspace was given back"
