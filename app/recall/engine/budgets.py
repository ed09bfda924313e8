"""Holds what has spent its budget, for the dispatcher and for whoever asks why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recall.config.settings import Settings
from recall.domain.agent import Agent
from recall.domain.budget import Allowance, Allowances, Outlay, day_of, held_agents, held_tasks, within_budget
from recall.domain.snapshot import Snapshot
from recall.domain.task import Task, TaskRef, TaskState
from recall.engine.ports import Store


def allowances_of(settings: Settings) -> Allowances:
    budget = settings.budget
    return Allowances(
        Allowance(budget.day_usd, budget.day_tokens),
        Allowance(budget.task_usd, budget.task_tokens),
        {agent.name: Allowance(agent.day_usd, agent.day_tokens) for agent in settings.agents},
    )


def agents_within_budget(store: Store, settings: Settings, now: float, agents: Sequence[Agent]) -> tuple[Agent, ...]:
    """Mark agents that may start nothing more today; the store is asked only where there is a budget."""
    allowances = allowances_of(settings)
    return held_agents(agents, allowances, _spending(store, now)) if allowances.any else tuple(agents)


def tasks_over_budget(store: Store, settings: Settings, now: float, tasks: Iterable[Task]) -> dict[TaskRef, str]:
    """Give the unfinished ones of these tasks on which nothing more may be spent, with the reason."""
    allowances = allowances_of(settings)
    if allowances.task == Allowance():
        return {}
    waiting = (task for task in tasks if task.state is TaskState.TODO)
    return held_tasks(waiting, allowances, _spending(store, now))


def snapshot_within_budget(store: Store, settings: Settings, snapshot: Snapshot) -> Snapshot:
    """The same for agents and tasks of a snapshot."""
    allowances = allowances_of(settings)
    return within_budget(snapshot, allowances, _spending(store, snapshot.now)) if allowances.any else snapshot


def _spending(store: Store, now: float) -> Outlay:
    return store.outlay(since=day_of(now))
