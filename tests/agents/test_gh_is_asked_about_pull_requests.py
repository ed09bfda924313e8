"""`gh` is called with the user's environment and without secrets in its arguments; what it says that makes no sense,
and its failures, are told as words."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall.agents.gh import Gh
from recall.domain.pull_requests import Offer, PullRequest, PullRequestState
from recall.domain.receipts import DidNotHappen, Happened, Unknown
from tests.support.hermetic_git import Repo
from tests.support.pull_request_host import PullRequestHost

OFFER = Offer("work", "c", "b", "T-1: title", "body")


@pytest.fixture
def host(repo: Repo, tmp_path: Path) -> PullRequestHost:
    origin = repo.clone(tmp_path / "origin.git", "--bare")
    origin.git("branch", "work", "main")
    return PullRequestHost.create(tmp_path, origin)


@pytest.fixture
def lock(tmp_path: Path) -> Iterator[int]:
    with (tmp_path / "lock").open("w") as file:
        yield file.fileno()


def gh(host: PullRequestHost) -> Gh:
    return Gh(lambda: str(host.origin.path), "main", {**os.environ, **host.environ})


def playing(folder: Path, script: str) -> Gh:
    """A `gh` that runs a shell script."""
    program = folder / "gh"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return Gh(lambda: "https://me:s3cret@host.invalid/x.git", "main", {"PATH": f"{folder}:/usr/bin:/bin"})


def test_one_is_opened_once_and_found(host: PullRequestHost, lock: int) -> None:
    assert gh(host).find("work") is None
    assert isinstance(gh(host).ask(OFFER, lock), DidNotHappen)
    opened = gh(host).open(OFFER, lock)
    assert (
        opened == gh(host).open(OFFER, lock) == gh(host).ask(OFFER, lock) == Happened("https://host.invalid/pull/1")
    )
    assert len(host.requests()) == 1
    host.close()
    assert gh(host).find("work") == PullRequest("https://host.invalid/pull/1", PullRequestState.CLOSED)


def test_a_branch_that_the_host_does_not_know_opens_nothing(host: PullRequestHost, lock: int) -> None:
    found = gh(host).open(Offer("other", "c", "b", "t", "x"), lock)
    assert found == DidNotHappen("gh pr create: Head sha can't be blank: no branch other")


@pytest.mark.parametrize("said", ["", "no JSON", "{}", "[1]", '[{"url": "u"}]', '[{"url": 1, "state": "ODD"}]'])
def test_an_answer_that_makes_no_sense_is_no_answer(tmp_path: Path, lock: int, said: str) -> None:
    odd = playing(tmp_path, f"printf %s {shlex.quote(said)}")
    assert isinstance(odd.find("work"), Unknown)
    assert isinstance(odd.open(OFFER, lock), Unknown)


def test_a_password_in_the_address_goes_nowhere(tmp_path: Path) -> None:
    found = playing(
        tmp_path, f'echo "$@" > {tmp_path}/argv; echo "cannot read $6 of https://me:s3cret@x" >&2; exit 1'
    )
    said = found.find("work")
    assert isinstance(said, Unknown)
    assert said.reason.startswith("gh pr list: cannot read")
    assert "s3cret" not in said.reason + (tmp_path / "argv").read_text()


def test_a_machine_without_gh_says_so(tmp_path: Path, lock: int) -> None:
    none = Gh(lambda: "x", "main", {"PATH": str(tmp_path)})
    assert none.missing() == "gh (https://cli.github.com) is not installed here"
    assert none.open(OFFER, lock) == Unknown(none.missing())


def test_the_lock_is_kept_by_a_gh_that_lives_on(tmp_path: Path, lock: int) -> None:
    seeing = playing(tmp_path, f'[ -e /proc/self/fd/{lock} ] && echo "[]"')
    assert seeing.find("work", lock) is None
