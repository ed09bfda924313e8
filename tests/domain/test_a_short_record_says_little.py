"""The interval behind a weight, and what routing makes of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.domain.agent import Weight
from recall.domain.schedule import score


@pytest.mark.parametrize(
    ("landed", "failed", "low", "high"),
    [(1, 0, 0.2065, 1.0), (17, 3, 0.6396, 0.9476), (0, 1, 0.0, 0.7935), (0, 0, 0.0, 1.0), (50, 50, 0.4038, 0.5962)],
)
def test_the_interval_is_wilsons(landed: int, failed: int, low: float, high: float) -> None:
    assert Weight(0.5, landed, failed).interval == pytest.approx((low, high), abs=0.0002)


def test_one_of_one_does_not_beat_seventeen_of_twenty() -> None:
    assert score(Weight(0.8, 1, 0)) < score(Weight(0.4, 17, 3))


@given(st.integers(0, 500), st.integers(0, 500))
def test_the_share_lies_in_its_interval(landed: int, failed: int) -> None:
    low, high = Weight(0.5, landed, failed).interval
    assert 0 <= low <= high <= 1
    if landed + failed:
        assert low - 1e-9 <= landed / (landed + failed) <= high + 1e-9
