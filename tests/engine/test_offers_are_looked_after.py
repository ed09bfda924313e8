"""How often an offer is made and asked about, and what is told of it. Remote and host do as they are told."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

import pytest

from recall.domain.errors import EnvironmentFailure
from recall.domain.merge import MergeEntry
from recall.domain.pull_requests import Offer, PullRequest, PullRequestState
from recall.domain.receipts import DidNotHappen, Finding, Happened, Receipt, ReceiptState, Unknown
from recall.domain.task import TaskState
from recall.engine import interventions
from recall.engine.effects import Effects
from recall.engine.jobs import Jobs
from recall.engine.pull_requests import PullRequests
from tests.engine.locks import Locks
from tests.engine.stage import Stage, stage
from tests.support.builders import ref

KEY = "T-1:pull-request:v1"


@dataclass
class Outside:
    """Both the remote and the host of its pull requests. `main` is what main there has."""

    name: str = "origin"
    main: str = "main"
    away: bool = False
    refuses: str = ""
    has: set[str] = field(default_factory=lambda: {"root"})
    request: PullRequest | None = None
    opened: int = 0
    asked: int = 0

    def fetch_main(self) -> str | Unknown:
        self.asked += 1
        return Unknown("origin is away") if self.away else "tip"

    def contains(self, tip: str, commit: str) -> bool:
        assert tip == "tip"
        return commit in self.has

    def push_branch(self, branch: str, commit: str) -> Finding:
        return Happened(f"{branch} is {commit}")

    def missing(self) -> str:
        return ""

    def find(self, branch: str, lock: int | None = None) -> PullRequest | Unknown | None:
        return self.request

    def ask(self, offer: Offer, lock: int) -> Finding:
        return Happened(self.request.url) if self.request else DidNotHappen("none")

    def open(self, offer: Offer, lock: int) -> Finding:
        self.opened += 1
        if self.refuses:
            return DidNotHappen(self.refuses)
        self.request = PullRequest("url", PullRequestState.OPEN)
        return Happened("url")


@dataclass
class Scene:
    """One offer, and who looks after it."""

    here: Stage
    outside: Outside = field(default_factory=Outside)
    locks: Locks = field(default_factory=Locks)
    offers: PullRequests = field(init=False)

    def __post_init__(self) -> None:
        effects = Effects(self.here.store, self.here.clock, self.locks.take)
        self.offers = PullRequests(self.here.dispatcher.parts, effects, self.outside, self.outside)
        self.jobs = Jobs(self.here.executor, self.here.clock, wake=lambda: None, trouble=self.here.trouble.append)

    def look(self, later: float = 0.0) -> MergeEntry:
        self.here.clock.advance(later)
        self.offers.look(self.jobs, start=True)
        self.offers.look(self.jobs, start=False)
        return self.here.entry()

    def receipt(self) -> Receipt:
        found = self.here.store.receipt(KEY)
        assert found is not None
        return found


@pytest.fixture
def scene() -> Generator[Scene]:
    with stage("## T-1 First", land="pull-request") as here:
        here.queue("T-1")
        assert here.land()
        yield Scene(here)


def test_an_offer_is_made_at_once_and_asked_about_every_minute(scene: Scene) -> None:
    assert scene.offers.pending()
    assert scene.look().reason == "waits until its pull request is merged: url"
    assert not scene.offers.pending()
    scene.look(59.0)
    assert scene.outside.asked == 1
    scene.look(2.0)
    assert (scene.outside.asked, scene.outside.opened) == (2, 1)


def test_a_person_may_ask_at_once(scene: Scene) -> None:
    scene.look()
    assert interventions.retry_merge(scene.here.store, ref("T-1"), actor="person") is None
    scene.look(1.0)
    scene.look(1.0)
    assert scene.outside.asked == 2


def test_what_was_refused_is_tried_every_five_minutes_only(scene: Scene) -> None:
    scene.outside.refuses = "a bad day"
    assert scene.look().reason == "a bad day"
    for _ in range(4):
        scene.look(61.0)
    assert (scene.outside.asked, scene.outside.opened) == (5, 1)
    scene.outside.refuses = ""
    assert scene.look(61.0).reason == "waits until its pull request is merged: url"
    assert (scene.receipt().state, scene.receipt().attempt) == (ReceiptState.DONE, 2)


def test_a_remote_that_is_away_is_told_and_keeps_nobody_waiting(scene: Scene) -> None:
    scene.outside.away = True
    with pytest.raises(EnvironmentFailure, match="origin is away"):
        scene.look()
    assert scene.here.entry().reason == "origin is away"
    assert not scene.offers.pending()
    scene.outside.away = False
    assert "merged: url" in scene.look(61.0).reason
    scene.outside.away = True
    with pytest.raises(EnvironmentFailure):
        scene.look(61.0)
    assert "merged: url" in scene.here.entry().reason, "where it waits stays known"


def test_somebody_else_who_is_at_it_is_waited_for(scene: Scene) -> None:
    lock = scene.locks.take(KEY)
    assert not isinstance(lock, int)
    assert "is at it" in scene.look().reason
    assert scene.offers.pending()
    scene.look(1.0)
    assert scene.outside.asked == 1
    lock.close()
    assert "merged: url" in scene.look(5.0).reason
    assert not scene.offers.pending()


def test_what_came_there_by_another_way_settles_the_receipt(scene: Scene) -> None:
    scene.outside.refuses = "a bad day"
    entry = scene.look()
    assert entry.candidate is not None
    scene.outside.has.add(entry.candidate)
    assert scene.look(61.0).merged == "tip"
    assert scene.receipt().state is ReceiptState.DONE


def test_one_that_is_closed_needs_a_person(scene: Scene) -> None:
    scene.look()
    scene.outside.request = PullRequest("url", PullRequestState.CLOSED)
    scene.here.clock.advance(61.0)
    scene.offers.look(scene.jobs, start=True)
    task = scene.here.task("T-1")
    assert (task.state, task.attempts) == (TaskState.NEEDS_PERSON, 0)
    assert task.reason == "its pull request was closed without being merged: url"
