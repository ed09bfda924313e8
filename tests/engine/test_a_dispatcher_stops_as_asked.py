"""Drain and halt, trouble in the loops, and the last look."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Thread
from unittest.mock import patch

from recall.domain.errors import StoreBusy
from recall.domain.progress import Standing
from recall.domain.run import RunState
from recall.domain.task import TaskState
from recall.engine.dispatcher import Stopping
from tests.engine.stage import Stage, stage
from tests.support.workshop import eventually


@contextmanager
def running(here: Stage, *, until_done: bool = False) -> Generator[Callable[[], Standing]]:
    """Let the real loop run in a thread; the value gives where it stood in the end."""
    ends: list[Standing] = []
    loop = Thread(target=lambda: ends.append(here.dispatcher.run(until_done=until_done)))
    loop.start()

    def ended() -> Standing:
        loop.join(20)
        assert ends, "it did not end"
        return ends[0]

    try:
        yield ended
    finally:
        here.dispatcher.request(Stopping.HALT)
        loop.join(20)


def a_second_passes(here: Stage) -> bool:
    here.clock.advance(1.0)
    return True


def test_a_drain_starts_nothing_new_and_lands_what_runs() -> None:
    with stage("## T-1 First", "## T-2 Second", "## T-3 Third") as here:
        here.tick()
        here.dispatcher.request(Stopping.DRAIN)
        here.end("T-1")
        here.end("T-2")
        with running(here) as ended:
            standing = ended()
        assert [here.task(f"T-{n}").state for n in (1, 2, 3)] == [TaskState.DONE, TaskState.DONE, TaskState.TODO]
        assert (standing.finished, standing.complete) == (2, False)


def test_a_drain_waits_for_what_still_runs() -> None:
    with stage("## T-1 First") as here:
        here.tick()
        here.dispatcher.request(Stopping.DRAIN)
        with running(here) as ended:
            here.end("T-1")
            here.watch.wake()
            assert ended().complete


def test_a_halt_stops_the_agents_and_takes_nothing_from_their_tasks() -> None:
    with stage("## T-1 First", "## T-2 Second") as here:
        here.tick()
        here.end("T-1")
        here.tick()
        process = here.process("T-2")
        here.dispatcher.request(Stopping.HALT)
        with running(here) as ended:
            eventually(lambda: process.asked_to_stop == "shutdown")
            here.stop_what_was_told_to()
            ended()
        first, second = here.task("T-1"), here.task("T-2")
        assert first.state is TaskState.LANDING, "what waits to land is left to the next dispatcher"
        assert (second.state, second.attempts, second.interruptions) == (TaskState.TODO, 0, 0)
        assert here.git.slots["s2"] is None


def test_a_stop_can_only_go_further() -> None:
    with stage("## T-1 First") as here:
        here.tick()
        here.dispatcher.request(Stopping.HALT)
        here.dispatcher.request(Stopping.DRAIN)
        here.tick()
        assert here.process("T-1").asked_to_stop == "shutdown"


def test_until_done_ends_when_nothing_can_move_by_itself() -> None:
    with stage("## T-1 First") as here:
        assert here.store.hold(here.task("T-1").ref, actor="person", reason="later") is None
        with running(here, until_done=True) as ended:
            standing = ended()
        assert standing.waits == ("T-1: on hold, later",)


def test_until_done_waits_for_the_workspace_of_what_landed_last() -> None:
    with stage("## T-1 First") as here, running(here, until_done=True) as ended:
        eventually(lambda: len(here.processes.agents()) == 1)
        here.end("T-1")
        here.watch.wake()
        assert ended().complete
        assert here.git.slots == {"s1": None}


def test_until_done_waits_for_a_workspace_though_the_last_landing_came_after_the_look() -> None:
    with stage("## T-1 First") as here:
        here.queue("T-1")
        land, look = here.dispatcher.queue.step, here.dispatcher.standing

        def standing() -> Standing:
            land()
            return look()

        with (
            patch.object(here.dispatcher.queue, "step", return_value=False),
            patch.object(here.dispatcher, "standing", standing),
            running(here, until_done=True) as ended,
        ):
            eventually(lambda: a_second_passes(here) and here.git.slots == {"s1": None})
            assert ended().complete


def test_trouble_with_the_store_or_a_file_ends_no_loop() -> None:
    with stage("## T-1 First") as here:
        failures = iter([StoreBusy("held by PID 1"), OSError("cannot look"), StoreBusy("held by PID 2")])
        real = here.store.open_runs

        def open_runs() -> object:
            trouble = next(failures, None)
            if trouble is not None:
                raise trouble
            return real()

        with patch.object(here.store, "open_runs", open_runs), running(here, until_done=True) as ended:
            eventually(lambda: a_second_passes(here) and len(here.processes.agents()) == 1)
            here.end("T-1")
            here.watch.wake()
            assert ended().complete
        assert here.trouble == ["held by PID 1", "cannot look", "held by PID 2"]


def test_a_fault_in_the_landing_thread_is_told_and_landing_goes_on() -> None:
    with stage("## T-1 First") as here:
        here.queue("T-1")
        real = here.git.rebase
        faults = iter([ValueError("a fault"), StoreBusy("held by PID 1")])

        def rebase(**values: object) -> object:
            fault = next(faults, None)
            if fault is not None:
                raise fault
            return real(**values)  # pyright: ignore[reportArgumentType]

        with patch.object(here.git, "rebase", rebase), running(here, until_done=True) as ended:
            assert ended().complete
        assert here.trouble == ["merge queue: ValueError: a fault", "merge queue: held by PID 1"]


def test_a_store_that_is_busy_at_the_last_look_is_waited_for() -> None:
    with stage("## T-1 First") as here:
        assert here.store.cancel(here.task("T-1").ref, actor="person") is None
        # one before tasks are given out, one for whoever is called when all is done, one for the end of the loop
        looks = [None, None, None]
        real, failures = here.store.agents, iter([*looks, StoreBusy("held by PID 1"), StoreBusy("held by PID 2")])

        def agents() -> object:
            failure = next(failures, None)
            if failure is not None:
                raise failure
            return real()

        with patch.object(here.store, "agents", agents):
            assert here.dispatcher.run(until_done=True).complete
        assert here.trouble == ["held by PID 1", "held by PID 2"]


def test_a_run_that_nobody_prepares_any_more_is_given_back_at_a_start() -> None:
    with stage("## T-1 First") as here:
        here.executor.eager = False
        here.tick()
        (run,) = here.store.open_runs()
        assert run.state is RunState.PREPARING
        here.restart()
        assert here.run(run.id).state is RunState.SETTLED
        assert here.task("T-1").interruptions == 1
