"""What becomes of an offer follows from main at the remote first, and from what its host tells second."""

from __future__ import annotations

import pytest

from recall.domain.merge import MergeEntry, MergeState
from recall.domain.progress import standing
from recall.domain.pull_requests import Offer, PullRequest, PullRequestState, branch_of, fate_of, key_of, the_one
from recall.domain.receipts import Receipt, ReceiptState, is_key, needs_person
from recall.domain.task import TaskRef

OPEN, MERGED, CLOSED = PullRequestState.OPEN, PullRequestState.MERGED, PullRequestState.CLOSED
REF = TaskRef("web", "T-1")
OFFER = Offer("b", "c0ffee", "ba5e", "T-1: title", "body")


@pytest.mark.parametrize(
    ("found", "on_main", "state"),
    [
        (None, "", OPEN),
        (None, "c0ffee", MERGED),
        (PullRequest("u", OPEN), "", OPEN),
        (PullRequest("u", CLOSED), "", CLOSED),
        (PullRequest("u", CLOSED), "c0ffee", MERGED),
        (PullRequest("u", MERGED, "50ba5h"), "50ba5h", MERGED),
        (PullRequest("u", MERGED, "50ba5h"), "", OPEN),
        (PullRequest("u", MERGED), "", OPEN),
    ],
)
def test_it_counts_once_main_has_the_change(found: PullRequest | None, on_main: str, state: PullRequestState) -> None:
    fate = fate_of(OFFER, found, lambda commit: commit == on_main, main="main at origin", unopened="not opened")
    assert fate.state is state
    assert fate.why


def test_one_merged_elsewhere_says_so() -> None:
    merged = PullRequest("u", MERGED, "50ba5h")
    fate = fate_of(OFFER, merged, lambda _: False, main="main at origin", unopened="")
    assert fate.why == "its pull request is merged, but main at origin does not have it: u"


def test_one_that_is_open_counts_more_than_one_that_is_over() -> None:
    merged, old, new = PullRequest("1", MERGED), PullRequest("2", CLOSED), PullRequest("3", CLOSED)
    assert the_one([]) is None
    assert the_one([new, old]) is new
    assert the_one([new, merged]) is merged
    assert the_one([new, merged, PullRequest("0", OPEN)]) == PullRequest("0", OPEN)


def test_its_names_are_the_business_not_a_run() -> None:
    assert key_of(REF, 2) == "web:T-1:pull-request:v2"
    assert is_key(key_of(REF, 2))
    assert branch_of(REF, 2) == "recall-offers/web/T-1/v2"


@pytest.mark.parametrize(("actor", "needed"), [("dispatcher", False), ("person", True)])
def test_the_entry_speaks_for_the_receipt(actor: str, needed: bool) -> None:
    receipt = Receipt(key_of(REF, 1), "i", ReceiptState.IN_DOUBT, 1, actor, 0.0, 0.0)
    assert needs_person(receipt) is needed


@pytest.mark.parametrize(("merged", "moving"), [(None, False), ("c0ffee", True)])
def test_an_offer_waits_for_a_person_and_moves_once_it_is_merged(merged: str | None, moving: bool) -> None:
    entry = MergeEntry(
        1, "web", "T-1", 1, 1, MergeState.PULL_REQUEST, "waits until …", "t", "b", offered=1, merged=merged
    )
    now = standing([], [], [], [entry])
    assert now.moving is moving
    assert now.waits == (() if moving else ("web:T-1: waits until …",))
