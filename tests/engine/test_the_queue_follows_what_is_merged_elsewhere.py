"""Where work is offered as a pull request, the queue moves main only to where it is at the remote."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from recall.domain.merge import MergeEntry, MergeState
from recall.domain.run import RunResult
from recall.domain.signals import signals_of
from recall.domain.task import TaskState
from recall.engine import interventions
from tests.engine.stage import Stage, stage
from tests.engine.world import Commit
from tests.support.builders import ref


@pytest.fixture
def here() -> Generator[Stage]:
    with stage("## T-1 First", "## T-2 Second\n\n- after: T-1", land="pull-request") as found:
        yield found


def offered(here: Stage) -> MergeEntry:
    here.queue("T-1")
    assert here.land()
    return here.entry()


def merge_at_the_remote(here: Stage, entry: MergeEntry) -> str:
    """Main at the remote gets a commit that does what the offer does, on top of main as it was."""
    here.git.commits["merged"] = Commit(here.git.commits["root"].history | {"merged"})
    here.git.green.add("merged")
    here.store.merge_offered(entry.id, "merged", merged="merged")
    return "merged"


def again(here: Stage) -> None:
    here.clock.advance(70.0)
    here.land()


def test_a_green_entry_is_offered_and_main_stays(here: Stage) -> None:
    entry = offered(here)
    assert (entry.state, entry.offered, entry.merged) == (MergeState.PULL_REQUEST, 1, None)
    here.restart()
    assert not here.land()
    assert here.git.main == ["root"]
    assert (here.task("T-1").state, here.task("T-2").unmet) == (TaskState.LANDING, 1)


def test_main_follows_to_what_was_merged(here: Stage) -> None:
    merged = merge_at_the_remote(here, offered(here))
    assert here.land()
    assert here.git.main_tip() == merged
    assert (here.task("T-1").state, here.task("T-2").unmet) == (TaskState.DONE, 0)


def test_a_person_is_called_for_an_offer_and_not_for_its_merge(here: Stage) -> None:
    entry = offered(here)
    here.store.merge_offered(entry.id, "gh is not installed")
    before = here.store.last_seq()
    assert [one.subject for one in signals_of(here.store.events_since(before - 1))] == ["T-1"]
    merge_at_the_remote(here, entry)
    assert here.land()
    assert signals_of(here.store.events_since(before)) == []


def test_commits_of_a_person_are_waited_for_over_a_restart(here: Stage) -> None:
    entry = offered(here)
    here.git.grow("mine")
    merged = merge_at_the_remote(here, entry)
    assert not here.land()
    assert here.entry().state is MergeState.WAITING_CHECKOUT
    assert "bring them together" in here.entry().reason
    here.restart()
    again(here)
    assert here.entry().state is MergeState.WAITING_CHECKOUT
    both = here.git.commits["mine"].history | here.git.commits[merged].history
    here.git.commits["both"] = Commit(both | {"both"})
    here.git.main.append("both")
    again(here)
    assert here.task("T-1").state is TaskState.DONE


def test_a_checkout_that_is_in_the_way_is_waited_for_though_main_moves_meanwhile(here: Stage) -> None:
    merged = merge_at_the_remote(here, offered(here))
    here.git.checkout_is_free = False
    here.land()
    assert here.entry().state is MergeState.WAITING_CHECKOUT
    here.git.grow("mine")
    here.restart()
    assert here.entry().state is MergeState.WAITING_CHECKOUT, "it is no candidate that could go round again"
    here.git.main.pop()
    here.git.checkout_is_free = True
    again(here)
    assert here.git.main_tip() == merged
    assert here.task("T-1").state is TaskState.DONE


def test_a_person_may_give_an_offer_up_and_the_next_one_is_another(here: Stage) -> None:
    offered(here)
    assert interventions.requeue(here.store, ref("T-1"), actor="person") is None
    assert here.store.runs()[0].result is RunResult.CANCELLED
    assert here.store.merges() == []
    assert offered(here).offered == 2
