"""How an agent's runs came out, by task type, and how its weights came to be what they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from recall.domain.agent import Agent
from recall.domain.frozen import frozen
from recall.domain.outcome import CONSEQUENCES, WEIGHT_START, weight_after
from recall.domain.run import Run, RunResult
from recall.domain.task import TaskRef


@frozen
class TypeRecord:
    """`runs` are over; `counted` of them said something of the agent's ability. `weights` begins with the first one
    and ends with the one in force; `results` has the most frequent first."""

    type: str
    runs: int
    counted: int
    landed: int
    weights: tuple[float, ...]
    results: tuple[tuple[RunResult, int], ...]

    @property
    def weight(self) -> float:
        return self.weights[-1]

    @property
    def success(self) -> float | None:
        """The share of counted runs that landed; None while there are none."""
        return self.landed / self.counted if self.counted else None


def records(agent: Agent, runs: Iterable[Run], types: Mapping[TaskRef, str]) -> tuple[TypeRecord, ...]:
    """Give a record for each task type that the agent has a weight for, or a settled run among `runs`; the type with
    the most runs first. `types` are the tasks' types as they are now."""
    by_type: dict[str, list[Run]] = {type_: [] for type_ in agent.weights}
    for run in runs:
        if run.agent == agent.name and run.result is not None:
            by_type.setdefault(types.get(run.ref, "general"), []).append(run)
    made = [_record(type_, mine, agent.weight(type_).value) for type_, mine in by_type.items()]
    return tuple(sorted(made, key=lambda record: (-record.runs, record.type)))


def _record(type_: str, runs: list[Run], now: float) -> TypeRecord:
    runs = sorted(runs, key=lambda run: (run.settled_at or 0.0, run.id))
    results = [run.result for run in runs if run.result is not None]
    return TypeRecord(
        type_,
        runs=len(results),
        counted=sum(CONSEQUENCES[result].weight != 0 for result in results),
        landed=results.count(RunResult.LANDED),
        weights=_weights(results, now),
        results=tuple(Counter(results).most_common()),
    )


def _weights(results: Iterable[RunResult], now: float) -> tuple[float, ...]:
    """Go through the results as the store did. Where that ends elsewhere, as after a change of a task's type, the
    weight in force has the last word."""
    path = [WEIGHT_START]
    for result in results:
        if (after := weight_after(path[-1], result)) is not None:
            path.append(after)
    return tuple(path) if path[-1] == now else (*path, now)
