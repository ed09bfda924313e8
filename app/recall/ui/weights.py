"""How agents' weights came to be what they are: told again from the runs, as the store keeps only the last ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from recall.domain.agent import Agent
from recall.domain.outcome import CONSEQUENCES, WEIGHT_START
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
            task, cost = tasks.get(run.ref), CONSEQUENCES[run.result].weight if run.result is not None else 0.0
            if task is not None and cost:
                values = self._values.setdefault((run.agent, task.type), deque([WEIGHT_START], maxlen=_KEPT))
                values.append(round(min(max(values[-1] + cost, 0.0), 1.0), 4))

    def of(self, agents: Iterable[Agent]) -> dict[tuple[str, str], tuple[float, ...]]:
        """The last weights by agent and task type, oldest first. Those that do not lead to the weight that the store
        has, as after a change of a task's type, are left out."""
        return {
            (agent.name, type_): tuple(values)
            for agent in agents
            for type_, weight in agent.weights.items()
            if (values := self._values.get((agent.name, type_))) and abs(values[-1] - weight.value) < _SAME
        }
