"""Slow work on the pool of threads, one piece at a time for each run."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import TypeVar

from recall.domain.clock import Clock

T = TypeVar("T")

_PAUSE_AFTER_TROUBLE = 2.0


class Jobs:
    """Hands work to the executor. A run whose last piece failed is left alone for two seconds, then tried
    again: what was interrupted stands in the store, so nothing is lost by failing."""

    def __init__(
        self, executor: Executor, clock: Clock, *, wake: Callable[[], None], trouble: Callable[[str], None]
    ) -> None:
        self._executor = executor
        self._clock = clock
        self._wake = wake
        self._trouble = trouble
        self._lock = threading.Lock()
        self._busy: set[int] = set()
        self._not_before: dict[int, float] = {}

    def submit(self, run_id: int, work: Callable[[], None]) -> bool:
        """Start `work` for a run, unless something is under way for it or it failed a moment ago."""
        with self._lock:
            late_enough = self._clock.now().mono >= self._not_before.get(run_id, 0.0)
            if run_id in self._busy or not late_enough:
                return False
            self._busy.add(run_id)
        self._executor.submit(work).add_done_callback(lambda future: self._done(run_id, future))
        return True

    def ask(self, question: Callable[[], T]) -> Future[T]:
        """Have something worked out that belongs to no run; the loop is woken when the answer is there."""
        answer = self._executor.submit(question)
        answer.add_done_callback(lambda _: self._wake())
        return answer

    def under_way(self, run_id: int) -> bool:
        with self._lock:
            return run_id in self._busy

    def any(self) -> bool:
        with self._lock:
            return bool(self._busy)

    def _done(self, run_id: int, future: Future[None]) -> None:
        error = future.exception()
        with self._lock:
            self._busy.discard(run_id)
            if error is not None:
                self._not_before[run_id] = self._clock.now().mono + _PAUSE_AFTER_TROUBLE
        if error is not None:
            self._trouble(f"run {run_id}: {error}")
        self._wake()
