"""How agents' weights came to be what they are: told again from the runs, as the store keeps only the last ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from recall.domain.agent import Agent
from recall.domain.outcome import WEIGHT_START, weight_after
from recall.domain.run import Run, RunState
from recall.domain.task import Task, TaskRef

_KEPT = 12
#: Weights have four digits; what differs by less is the same.
_SAME = 0.00005


class WeightHistory:
    """Takes each settled run once, in the order in which they were settled."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._values: dict[tuple[str, str], deque[float]] = {}

    def see(self, runs: Iterable[Run], tasks: Mapping[TaskRef, Task]) -> None:
        settled = [run for run in runs if run.state is RunState.SETTLED and run.id not in self._seen]
        for run in sorted(settled, key=lambda run: (run.settled_at or 0.0, run.id)):
            self._seen.add(run.id)
            task = tasks.get(run.ref)
            if task is None:
                continue
            values = self._values.get((run.agent, task.type)) or deque([WEIGHT_START], maxlen=_KEPT)
            if (after := weight_after(values[-1], run.result)) is not None:
                values.append(after)
                self._values[run.agent, task.type] = values

    def of(self, agents: Iterable[Agent]) -> dict[tuple[str, str], tuple[float, ...]]:
        """The last weights by agent and task type, oldest first. Those that do not lead to the weight that the store
        has, as after a change of a task's type, are left out."""
        return {
            (agent.name, type_): tuple(values)
            for agent in agents
            for type_, weight in agent.weights.items()
            if (values := self._values.get((agent.name, type_))) and abs(values[-1] - weight.value) < _SAME
        }
