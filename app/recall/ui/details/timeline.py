"""Runs as lanes of a timeline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recall.domain.figures.words import result_words
from recall.domain.run import Run, RunResult, RunState
from recall.domain.words import elapsed, moment
from recall_widgets.glyphs import Shown
from recall_widgets.timeline import Bar, Lane

_RESULTS: dict[RunResult, Shown] = {
    RunResult.LANDED: Shown.DONE,
    RunResult.CONFLICT: Shown.NEEDS_YOU,
    RunResult.QUESTION: Shown.NEEDS_YOU,
    RunResult.RATE_LIMITED: Shown.COOLING,
    RunResult.CREDIT_EXHAUSTED: Shown.COOLING,
    RunResult.AUTH_REQUIRED: Shown.COOLING,
    RunResult.CANCELLED: Shown.CANCELLED,
    RunResult.NO_CHANGE: Shown.CANCELLED,
}
_OPEN: dict[RunState, Shown] = {RunState.ENDED: Shown.LANDING, RunState.LANDING: Shown.LANDING}


def lanes_of(runs: Iterable[Run], agents: Sequence[str]) -> list[Lane]:
    """A lane for each of the agents, also without a run, and one more wherever an agent ran several at once."""
    mine: dict[str, list[Run]] = {name: [] for name in agents}
    for run in runs:
        mine.setdefault(run.agent, []).append(run)
    return [lane for name, of_agent in mine.items() for lane in _lanes(name, of_agent)]


def _lanes(name: str, runs: list[Run]) -> list[Lane]:
    lanes: list[list[Bar]] = [[]]
    for bar in sorted(map(bar_of, runs), key=lambda one: one.begin):
        free = next((lane for lane in lanes if not lane or _is_over(lane[-1], bar.begin)), None)
        if free is None:
            lanes.append([bar])
        else:
            free.append(bar)
    return [Lane(f"{name}:{number}", "" if number else name, tuple(bars)) for number, bars in enumerate(lanes)]


def _is_over(bar: Bar, at: float) -> bool:
    return bar.end is not None and bar.end <= at


def bar_of(run: Run) -> Bar:
    """How long the agent was taken up, and how that came out."""
    end = run.ended_at if run.ended_at is not None else run.settled_at
    return Bar(f"run:{run.id}", run.claimed_at, end, state_of(run), str(run.ref))


def state_of(run: Run) -> Shown:
    if run.result is None:
        return _OPEN.get(run.state, Shown.RUNNING)
    return _RESULTS.get(run.result, Shown.FAILED)


def run_words(run: Run, now: float) -> str:
    """Everything about a run in a line: who, when, how long, how it came out."""
    end = run.ended_at if run.ended_at is not None else run.settled_at
    times = f"{moment(run.claimed_at, now)}, {elapsed((now if end is None else end) - run.claimed_at)}"
    came_out = result_words(run.result) if run.result is not None else run.state.value
    reason = " ".join(run.reason.split())
    return f"{run.agent} on {run.ref}, run {run.id}, {times}, {came_out}" + (f": {reason}" if reason else "")
