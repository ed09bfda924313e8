"""Pull requests: what is offered instead of being landed, and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum

from recall.domain.frozen import frozen
from recall.domain.task import TaskRef

_KEY = ":pull-request:v"


class PullRequestState(StrEnum):
    OPEN = "open"
    MERGED = "merged"
    CLOSED = "closed"


@frozen
class PullRequest:
    """As its host tells of it. `commit` is what merging it made; "": not merged, or not told."""

    url: str
    state: PullRequestState
    commit: str = ""


@frozen
class Offer:
    """A commit that is to become a pull request, on a branch of its own at the remote. `onto` is main's commit that
    it was verified on."""

    branch: str
    commit: str
    onto: str
    title: str
    body: str


@frozen
class Fate:
    """What became of an offer; `why` says it to a person."""

    state: PullRequestState
    why: str


def key_of(ref: TaskRef, number: int) -> str:
    """Name the receipt of a task's pull request; `number` counts those of the task from 1."""
    return f"{ref}{_KEY}{number}"


def is_pull_request(key: str) -> bool:
    """Tell whether a receipt's key is one of `key_of`."""
    return _KEY in key


def branch_of(ref: TaskRef, number: int) -> str:
    """Name the branch that is offered: under the task and never under a run, so that a repetition meets it again."""
    return f"recall-offers/{ref.region}/{ref.id}/v{number}"


def the_one(found: Sequence[PullRequest]) -> PullRequest | None:
    """Of all pull requests of one branch, newest first, give the one that counts: somebody may close one and open
    another."""
    by_state = {state: [one for one in found if one.state is state] for state in PullRequestState}
    return next((one for state in PullRequestState for one in by_state[state]), None)


def fate_of(
    offer: Offer, found: PullRequest | None, on_main: Callable[[str], bool], *, main: str, unopened: str
) -> Fate:
    """Say what became of an offer. `on_main` tells whether main at the remote, called `main`, has a commit;
    `unopened` is why no pull request is known.

    What counts is that main has the change: by the very commits, whoever brought them there, or by the commit that
    a squash or rebase made of them.
    """
    if on_main(offer.commit):
        return Fate(PullRequestState.MERGED, f"merged: {main} has {offer.commit[:10]}")
    if found is None:
        return Fate(PullRequestState.OPEN, unopened)
    if found.state is PullRequestState.CLOSED:
        return Fate(PullRequestState.CLOSED, f"its pull request was closed without being merged: {found.url}")
    if found.state is PullRequestState.OPEN:
        return Fate(PullRequestState.OPEN, f"waits until its pull request is merged: {found.url}")
    if found.commit and on_main(found.commit):
        return Fate(PullRequestState.MERGED, f"merged as {found.commit[:10]}: {found.url}")
    return Fate(PullRequestState.OPEN, f"its pull request is merged, but {main} does not have it: {found.url}")
