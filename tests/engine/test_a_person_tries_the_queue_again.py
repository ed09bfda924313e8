"""What waits for the checkout, or for main to be green, is tried again at once when a person asks for it."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from recall.domain.merge import MergeState
from recall.domain.run import Refused
from recall.domain.task import TaskRef, TaskState
from recall.engine import interventions
from tests.engine.histories import Histories
from tests.engine.world import Fate

T0 = TaskRef("main", "T-0")


@pytest.fixture
def history() -> Generator[Histories]:
    history = Histories()
    history.begins(text="## T-0 First\n", restart_conflicts=True)
    yield history
    history.everything_holds()
    history.teardown()


def state(history: Histories) -> MergeState:
    return history.store.merges()[0].state


def landed(history: Histories) -> bool:
    task = history.store.task(T0)
    return task is not None and task.state is TaskState.DONE


def test_a_check_that_works_again_is_believed(history: Histories) -> None:
    assert history.dispatcher is not None
    history.check_is_broken = True
    history.work_goes_on([Fate()])
    assert "main itself is red" in history.dispatcher.queue.held()
    history.check_is_broken = False
    history.landing_thread_goes_on()
    assert state(history) is MergeState.QUEUED, "what was red stays so until main moves or a person asks"
    assert interventions.retry_merge(history.store, T0, actor="person") is None
    history.landing_thread_goes_on()
    assert landed(history)
    assert history.dispatcher.queue.held() == ""


def test_a_checkout_that_is_free_again_is_seen_at_once(history: Histories) -> None:
    history.git.checkout_is_free = False
    history.work_goes_on([Fate()])
    history.landing_thread_goes_on()
    assert state(history) is MergeState.WAITING_CHECKOUT
    history.git.checkout_is_free = True
    history.landing_thread_goes_on()
    assert state(history) is MergeState.WAITING_CHECKOUT, "it was looked at this very second"
    assert interventions.retry_merge(history.store, T0, actor="person") is None
    history.landing_thread_goes_on()
    assert landed(history)


def test_a_task_that_is_not_in_the_queue_is_said_not_to_be(history: Histories) -> None:
    nothing = Refused("T-0 has nothing in the merge queue")
    assert interventions.retry_merge(history.store, T0, actor="person") == nothing
    assert interventions.skip_merge(history.store, T0, actor="person") == nothing
