"""Workers that die anywhere, services that lose answers, clocks that move: an effect is never had twice, and whoever
asks somebody that knows comes to its end. On the real store."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall.domain.receipts import (
    DidNotHappen,
    Finding,
    Happened,
    ReceiptState,
    Terms,
    Unknown,
    Wish,
)
from recall.domain.run import Refused
from recall.engine import effects as effects_module
from recall.engine.effects import Effects, Settled, UnderWay
from tests.engine.locks import Locks
from tests.support.builders import make_store
from tests.support.clock import FakeClock

DAY = 86400.0


class Died(BaseException):
    """A worker is gone between two instructions."""


@dataclass
class Service:
    """Has effects. One that `honours` keys forgets them a day after it first saw them."""

    clock: FakeClock
    honours: bool
    had: int = 0
    seen_at: float | None = None

    def send(self, *, arrives: bool, answers: bool) -> Finding:
        if arrives:
            now = self.clock.wall
            known = self.honours and self.seen_at is not None and now - self.seen_at < DAY
            if not known:
                self.had += 1
                self.seen_at = now
        if not arrives:
            return DidNotHappen("refused before it began") if answers else Unknown("the line broke")
        return Happened("yes") if answers else Unknown("the line broke")

    def ask(self) -> Finding:
        return Happened("found") if self.had else DidNotHappen("not there")


@dataclass(frozen=True)
class Try:
    """One worker's try. `dies`: at which place, if any; `asks`: it can ask whether it happened."""

    dies: str | None
    arrives: bool
    answers: bool
    asks: bool
    later: float


tries = st.builds(
    Try,
    dies=st.sampled_from([None, "effect.begun", "effect.performed", "effect.recorded", "effect.reconciled"]),
    arrives=st.booleans(),
    answers=st.booleans(),
    asks=st.booleans(),
    later=st.sampled_from([0.0, 60.0, DAY / 2, DAY - 1, DAY, 3 * DAY]),
)


@contextmanager
def dying_at(place: str | None, monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    def strike(name: str) -> None:
        if name == place:
            raise Died

    with monkeypatch.context() as patched:
        patched.setattr(effects_module, "failpoint", strike)
        yield


def play(history: list[Try], *, honours: bool, stated: bool) -> None:
    clock = FakeClock()
    monkeypatch = pytest.MonkeyPatch()
    with TemporaryDirectory() as folder, make_store(Path(folder), clock) as store:
        service, locks = Service(clock, honours), Locks()
        effects = Effects(store, clock, locks.take)
        wish = Wish("k", "intent", "cli", Terms(stated, DAY))
        for one in history:
            with dying_at(one.dies, monkeypatch):
                try:
                    outcome = effects.run(
                        wish,
                        lambda _, one=one: service.send(arrives=one.arrives, answers=one.answers),
                        (lambda _: service.ask()) if one.asks else None,
                    )
                except Died:
                    outcome = None
            assert not locks.held
            assert service.had <= 1
            if isinstance(outcome, Settled) and outcome.receipt.state is ReceiptState.DONE:
                assert service.had == 1
            if isinstance(outcome, Settled) and outcome.receipt.state is ReceiptState.FAILED:
                assert service.had == 0
            assert not isinstance(outcome, Refused | UnderWay)
            clock.advance(one.later)
            effects.sweep()
        end = effects.run(wish, lambda _: service.send(arrives=True, answers=True), lambda _: service.ask())
        assert isinstance(end, Settled)
        assert (end.receipt.state, service.had) == (ReceiptState.DONE, 1)


@settings(max_examples=40, deadline=None)
@given(st.lists(tries, max_size=6))
def test_a_service_without_keys(history: list[Try]) -> None:
    play(history, honours=False, stated=False)


@settings(max_examples=40, deadline=None)
@given(st.lists(tries, max_size=6))
def test_a_service_that_honours_keys_for_a_day(history: list[Try]) -> None:
    play(history, honours=True, stated=True)
