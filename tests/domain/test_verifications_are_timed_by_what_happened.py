"""How long verifications take is learned from the merge queue's events, however they are portioned."""

from __future__ import annotations

from recall.domain.event import Event
from recall.domain.figures.verifications import Verifications


def _happened(kind: str, at: float, merge_id: int = 1) -> Event:
    return Event(1, at, "dispatcher", kind, merge_id=merge_id)


def test_each_one_counts_when_it_is_over() -> None:
    verifications = Verifications()
    assert list(verifications.see([_happened("merge.queued", 90.0), _happened("merge.verifying", 100.0)])) == []
    more = [_happened("merge.verifying", 120.0, 2), _happened("merge.landing", 140.0)]
    assert list(verifications.see(more)) == [40.0]
    more = [_happened("merge.rejected", 140.0, 2), _happened("merge.landed", 190.0)]
    assert list(verifications.see(more)) == [20.0]


def test_one_that_is_begun_again_counts_twice() -> None:
    again = [_happened("merge.verifying", at) for at in (100.0, 130.0)]
    assert list(Verifications().see([*again, _happened("merge.landing", 150.0)])) == [30.0, 20.0]


def test_a_remembered_verdict_says_nothing() -> None:
    remembered = [_happened("merge.verifying", 100.0), _happened("merge.landing", 100.02)]
    assert list(Verifications().see(remembered)) == []
