"""Slow work: one piece at a time for each run, and a pause after trouble."""

from __future__ import annotations

from recall.domain.errors import EnvironmentFailure
from recall.engine.jobs import Jobs
from tests.engine.world import InlineExecutor
from tests.support.clock import FakeClock


def fail() -> None:
    raise EnvironmentFailure("the disk is full")


class Bench:
    def __init__(self) -> None:
        self.clock, self.executor = FakeClock(), InlineExecutor()
        self.trouble: list[str] = []
        self.woken: list[bool] = []
        self.done: list[int] = []
        self.jobs = Jobs(self.executor, self.clock, wake=lambda: self.woken.append(True), trouble=self.trouble.append)


def test_a_run_has_one_piece_of_work_at_a_time() -> None:
    bench = Bench()
    bench.executor.eager = False
    assert bench.jobs.submit(1, lambda: bench.done.append(1))
    assert not bench.jobs.submit(1, lambda: bench.done.append(2))
    assert bench.jobs.submit(2, lambda: bench.done.append(3))
    assert bench.jobs.under_way(1)
    bench.executor.work(0)
    assert not bench.jobs.under_way(1)
    assert bench.jobs.any()
    bench.executor.work()
    assert (bench.done, bench.jobs.any(), len(bench.woken)) == ([1, 3], False, 2)


def test_work_that_failed_is_told_and_left_alone_for_two_seconds() -> None:
    bench = Bench()
    assert bench.jobs.submit(1, fail)
    assert bench.trouble == ["run 1: the disk is full"]
    bench.clock.advance(1.9)
    assert not bench.jobs.submit(1, fail)
    assert bench.jobs.submit(2, lambda: bench.done.append(2)), "others go on"
    bench.clock.advance(0.1)
    assert bench.jobs.submit(1, lambda: bench.done.append(1))
    assert bench.done == [2, 1]
