"""With `push`, what lands is brought to a real bare remote: once, never by force, and a refusal holds nothing up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL

import pytest

from recall.domain.receipts import DidNotHappen, Happened, Receipt, ReceiptState, Unknown
from recall.gitops.pushing import Remote
from tests.support.hermetic_git import Repo
from tests.support.workshop import Workshop

pytestmark = [pytest.mark.faults, pytest.mark.timeout(120)]


@dataclass(frozen=True)
class Published:
    """A project and the remote that its main is pushed to."""

    shop: Workshop
    origin: Repo

    def receipts(self) -> list[Receipt]:
        with self.shop.store() as store:
            return store.receipts(open_only=False)

    def same(self) -> bool:
        return self.origin.tip("main") == self.shop.repo.tip("main")

    def add_task(self, id_: str) -> None:
        self.shop.tasks("## T-1 First", f"## {id_} Another")

    def elsewhere(self, tmp_path: Path) -> None:
        """Somebody else pushes a commit."""
        other = tmp_path / "other"
        self.origin.git("clone", "-q", str(self.origin.path), str(other))
        clone = Repo(other)
        clone.commit("theirs", {"theirs.txt": "x\n"})
        clone.git("push", "-q", "origin", "HEAD:main")


@pytest.fixture
def published(tmp_path: Path) -> Iterator[Published]:
    shop = Workshop.create(tmp_path)
    origin = Repo.create(tmp_path / "origin.git", bare=True)
    shop.repo.git("remote", "add", "origin", str(origin.path))
    shop.top = 'push = "origin"\n'
    shop.extra = "[signals]\ndesktop = false\n"
    shop.agent("ant", 'echo "$TASK" > "$TASK.txt"; success')
    shop.tasks("## T-1 First")
    shop.settle()
    shop.repo.git("push", "-q", "origin", "main")
    yield Published(shop, origin)


def test_what_landed_is_at_the_remote_under_a_receipt(published: Published) -> None:
    assert published.shop.dispatch().returncode == 0
    assert published.same()
    (receipt,) = published.receipts()
    assert receipt.key == f"push:origin:main:{published.origin.tip('main')}"
    assert (receipt.state, str(receipt.ref)) == (ReceiptState.DONE, "T-1")


@pytest.mark.parametrize("point", ["effect.begun", "effect.performed", "effect.recorded"])
def test_a_dispatcher_killed_around_its_push_is_continued(published: Published, point: str) -> None:
    assert published.shop.dispatch(env={"RECALL_FAILPOINT": point}).returncode == -SIGKILL
    assert published.shop.look()["T-1"].state == "done"
    ended = published.shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert published.same()
    assert [receipt.state for receipt in published.receipts()] == [ReceiptState.DONE]
    assert published.receipts()[0].attempt == (2 if point == "effect.begun" else 1)


def test_a_refused_push_needs_a_person_and_holds_nothing_up(published: Published, tmp_path: Path) -> None:
    published.elsewhere(tmp_path)
    theirs = published.origin.tip("main")
    ended = published.shop.dispatch()
    assert ended.returncode == 1, ended.stdout
    assert "origin has commits that main here does not" in ended.stdout
    assert published.shop.look()["T-1"].state == "done"
    assert published.origin.tip("main") == theirs
    told = json.loads(published.shop.recall("status", "--json").stdout)["needs_you"]
    assert any("git pull origin main" in line for line in told)


def test_a_later_push_settles_what_was_refused_before(published: Published, tmp_path: Path) -> None:
    published.elsewhere(tmp_path)
    assert published.shop.dispatch().returncode == 1
    published.shop.repo.git("pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
    published.add_task("T-2")
    published.shop.repo.commit("another task")
    ended = published.shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert published.same()
    assert {receipt.state for receipt in published.receipts()} == {ReceiptState.DONE}


def test_a_remote_that_cannot_be_reached_is_asked_again_at_the_next_start(published: Published) -> None:
    away = published.origin.path.rename(published.origin.path.with_name("away.git"))
    ended = published.shop.dispatch()
    assert ended.returncode == 1
    assert "could not be reached" in ended.stdout
    away.rename(published.origin.path)
    assert published.shop.dispatch().returncode == 0
    assert published.same()
    assert published.shop.recall("effect", "list").stdout.startswith("nothing has begun")


def test_without_the_setting_nothing_leaves_the_machine(published: Published) -> None:
    config = published.shop.repo.path / "recall.toml"
    published.shop.repo.commit("no push", {"recall.toml": config.read_text().replace('push = "origin"\n', "")})
    before = published.origin.tip("main")
    assert published.shop.dispatch().returncode == 0
    assert published.origin.tip("main") == before
    assert published.receipts() == []


def test_the_remote_says_what_it_has(published: Published, tmp_path: Path) -> None:
    repo = published.shop.repo
    remote = Remote(repo.git_dir, "origin", "main")
    old = repo.tip("main")
    new = repo.commit("more", {"more.txt": "x\n"})
    assert isinstance(remote.has(old), Happened)
    assert isinstance(remote.has(new), DidNotHappen)
    assert isinstance(remote.push(new), Happened)
    assert isinstance(remote.push(new), Happened)
    assert isinstance(remote.has(old), Happened)
    published.elsewhere(tmp_path)
    newer = repo.commit("still more", {"more.txt": "y\n"})
    assert isinstance(remote.push(newer), DidNotHappen)
    assert isinstance(Remote(repo.git_dir, "nowhere", "main").has(new), Unknown)


def test_a_hook_of_the_remote_that_declines_is_quoted(published: Published) -> None:
    hook = published.origin.path / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho main is protected >&2\nexit 1\n")
    hook.chmod(0o755)
    new = published.shop.repo.commit("more", {"more.txt": "x\n"})
    found = Remote(published.shop.repo.git_dir, "origin", "main").push(new)
    assert isinstance(found, DidNotHappen)
    assert "origin refuses it: [remote rejected] (pre-receive hook declined)" in found.reason
