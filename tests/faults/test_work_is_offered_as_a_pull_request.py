"""With `land = "pull-request"`, verified work becomes a pull request at a real bare remote: one, whatever dies when,
and it counts when main there has it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL

import pytest

from recall.domain.receipts import Receipt, ReceiptState
from tests.support.hermetic_git import Repo
from tests.support.pull_request_host import PullRequestHost
from tests.support.workshop import Workshop

pytestmark = [pytest.mark.faults, pytest.mark.timeout(180)]

URL = "https://host.invalid/pull/1"
BRANCH = "recall-offers/main/T-1/v1"

#: Where one dispatcher after another dies, in the order in which they come there.
OFFERING = (
    "queue.offer_carried", "queue.offer_recorded", "effect.begun", "offer.branch_pushed", "effect.performed",
    "effect.reconciled", "offer.made",
)  # fmt: skip
FOLLOWING = (
    "offer.merged_recorded", "queue.intent_recorded", "queue.landing_rolled_forward", "queue.landing_recorded",
)  # fmt: skip


def failpoints() -> set[str]:
    return {*OFFERING, *FOLLOWING}


@dataclass(frozen=True)
class Offering:
    """A project whose main is protected at its remote."""

    shop: Workshop
    origin: Repo
    host: PullRequestHost

    def dispatch(self, **env: str) -> tuple[int, str]:
        ended = self.shop.dispatch(env={**self.host.environ, **env})
        return ended.returncode, ended.stdout + ended.stderr

    def states(self) -> list[str]:
        return [task.state.value for task in self.shop.look().values()]

    def receipts(self) -> list[Receipt]:
        with self.shop.store() as store:
            return store.receipts(open_only=False)


@pytest.fixture
def offering(tmp_path: Path) -> Iterator[Offering]:
    shop = Workshop.create(tmp_path)
    origin = Repo.create(tmp_path / "origin.git", bare=True)
    shop.repo.git("remote", "add", "origin", str(origin.path))
    shop.top = 'push = "origin"\n'
    shop.extra = '[merge]\nland = "pull-request"\n[signals]\ndesktop = false\n'
    shop.agent("ant", 'echo "$TASK" > "$TASK.txt"; success')
    shop.tasks("## T-1 First", "## T-2 Second\n- after: T-1")
    shop.settle()
    shop.repo.git("push", "-q", "origin", "main")
    yield Offering(shop, origin, PullRequestHost.create(tmp_path, origin))


def test_work_counts_when_main_at_the_remote_has_it(offering: Offering) -> None:
    before = offering.origin.tip("main")
    status, said = offering.dispatch(GITHUB_TOKEN="a", RECALL_RUN_ID="7", ANT_KEY="b")
    assert status == 1, said
    assert f"T-1: waits until its pull request is merged: {URL}" in said
    assert offering.states() == ["landing", "todo"]
    assert offering.origin.tip("main") == offering.shop.repo.tip("main") == before
    (request,) = offering.host.requests()
    assert (request["head"], request["base"], request["title"]) == (BRANCH, "main", "T-1: First")
    assert offering.origin.file("T-1.txt", BRANCH) == b"T-1\n"
    (receipt,) = offering.receipts()
    assert (receipt.key, receipt.state, receipt.answer) == ("T-1:pull-request:v1", ReceiptState.DONE, URL)
    assert "GITHUB_TOKEN" in offering.host.seen_environ()
    assert not {"RECALL_RUN_ID", "ANT_KEY"} & set(offering.host.seen_environ())
    assert f"T-1: waits until its pull request is merged: {URL}" in offering.shop.recall("status").stdout
    commit = offering.host.merge("squash")
    status, said = offering.dispatch()
    assert offering.states() == ["done", "landing"], said
    assert offering.shop.repo.tip("main") == offering.origin.tip("main") == commit
    assert (offering.shop.repo.path / "T-1.txt").read_text() == "T-1\n"
    assert offering.shop.repo.status() == []
    assert len(offering.host.requests()) == 2


def test_dispatchers_that_die_at_every_step_offer_once(offering: Offering) -> None:
    for point in OFFERING:
        assert offering.dispatch(RECALL_FAILPOINT=point)[0] == -SIGKILL, point
    status, said = offering.dispatch()
    assert status == 1, said
    assert f"T-1: waits until its pull request is merged: {URL}" in said
    assert len(offering.host.requests()) == 1
    assert [receipt.state for receipt in offering.receipts()] == [ReceiptState.DONE]


def test_dispatchers_that_die_while_main_follows_bring_it_there(offering: Offering) -> None:
    assert offering.dispatch(RECALL_FAILPOINT="effect.recorded")[0] == -SIGKILL
    commit = offering.host.merge("merge")
    for point in FOLLOWING:
        assert offering.dispatch(RECALL_FAILPOINT=point)[0] == -SIGKILL, point
    offering.dispatch()
    assert offering.states() == ["done", "landing"]
    assert offering.shop.repo.tip("main") == commit
    assert offering.shop.repo.status() == []
    assert len(offering.host.requests()) == 2


@pytest.mark.parametrize("mood", ["loses", "vanishes"])
def test_an_answer_that_was_lost_opens_no_second_one(offering: Offering, mood: str) -> None:
    offering.host.feel(mood)
    _, said = offering.dispatch()
    assert f"waits until its pull request is merged: {URL}" in said
    assert len(offering.host.requests()) == 1


def test_a_host_that_refuses_is_told_and_asked_again_at_the_next_start(offering: Offering) -> None:
    offering.host.feel("refuses to create")
    status, said = offering.dispatch()
    assert status == 1
    assert "T-1: gh pr create: GraphQL: the host has a bad day" in said
    offering.host.feel("")
    offering.dispatch()
    assert len(offering.host.requests()) == 1
    assert [receipt.state for receipt in offering.receipts()] == [ReceiptState.DONE]


def test_one_that_is_closed_needs_a_person_and_the_next_is_another(offering: Offering) -> None:
    offering.dispatch()
    offering.host.close()
    status, said = offering.dispatch()
    assert status == 1
    assert f"T-1: its pull request was closed without being merged: {URL}" in said
    assert offering.states() == ["needs_person", "todo"]
    assert offering.shop.recall("requeue", "T-1").returncode == 0
    offering.dispatch()
    assert [request["head"][-2:] for request in offering.host.requests()] == ["v1", "v2"]
    offering.host.merge("rebase")
    offering.dispatch()
    assert offering.states() == ["done", "landing"]


def test_without_gh_the_branch_is_there_and_a_person_is_told_what_to_do(offering: Offering) -> None:
    status, said = offering.dispatch(PATH=path_without_gh(offering.shop.home))
    assert status == 1
    assert f"open a pull request of the branch {BRANCH}, which is at origin, for main" in said
    offering.origin.git("update-ref", "refs/heads/main", offering.origin.tip(BRANCH))
    offering.dispatch(PATH=path_without_gh(offering.shop.home))
    assert offering.states() == ["done", "landing"]
    assert offering.receipts()[0].state is ReceiptState.DONE


def test_commits_that_only_main_here_has_are_not_offered_along(offering: Offering) -> None:
    offering.shop.repo.commit("mine", {"mine.txt": "x\n"})
    status, said = offering.dispatch()
    assert status == 1
    assert "main here has commits that origin does not" in said
    assert offering.host.requests() == []
    offering.shop.repo.git("push", "-q", "origin", "main")
    offering.dispatch()
    assert len(offering.host.requests()) == 1


def test_main_follows_when_the_users_checkout_lets_it(offering: Offering) -> None:
    offering.dispatch()
    offering.host.merge()
    mine = offering.shop.repo.path / "T-1.txt"
    mine.write_text("my own\n")
    _, said = offering.dispatch()
    assert "T-1.txt" in said
    assert offering.states() == ["landing", "todo"]
    assert mine.read_text() == "my own\n"
    mine.unlink()
    offering.dispatch()
    assert offering.states() == ["done", "landing"]


def path_without_gh(home: Path) -> str:
    """The programs that a project needs, and no others."""
    folder = home / "bin"
    if not folder.exists():
        folder.mkdir()
        for place in ("/usr/bin", "/bin"):
            for program in Path(place).iterdir():
                link = folder / program.name
                if program.name != "gh" and not link.is_symlink():
                    link.symlink_to(program)
    return str(folder)
