"""What may be spent, and what follows when it is: nothing new is started, what runs goes on.

Only what an agent tells of its tokens and price counts, once its run is over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from datetime import datetime, time
from typing import NamedTuple

from recall.domain.agent import Agent
from recall.domain.frozen import frozen
from recall.domain.snapshot import Snapshot
from recall.domain.task import Task, TaskRef


class Spent(NamedTuple):
    """US dollars and tokens, in and out together; both as far as they were told."""

    usd: float = 0.0
    tokens: int = 0


class Allowance(NamedTuple):
    """The most that may be spent; 0 is no limit."""

    usd: float = 0.0
    tokens: int = 0

    def used_up(self, spent: Spent) -> str:
        """Say what is used up, or ""."""
        if self.usd and spent.usd >= self.usd:
            return f"${spent.usd:.2f} of ${self.usd:.2f}"
        if self.tokens and spent.tokens >= self.tokens:
            return f"{spent.tokens:,} of {self.tokens:,} tokens"
        return ""


@frozen
class Allowances:
    """`day` is for all agents together, `agents` for some of them a day each, `task` for all runs of one task."""

    day: Allowance = Allowance()
    task: Allowance = Allowance()
    agents: Mapping[str, Allowance] = field(default_factory=dict[str, Allowance])

    @property
    def any(self) -> bool:
        return any(one != Allowance() for one in (self.day, self.task, *self.agents.values()))


@frozen
class Outlay:
    """What was spent `today` by each agent, and on each task in all."""

    today: Mapping[str, Spent] = field(default_factory=dict[str, Spent])
    tasks: Mapping[TaskRef, Spent] = field(default_factory=dict[TaskRef, Spent])


def day_of(now: float) -> float:
    """Give the wall second at which the local day of `now` began."""
    today = datetime.fromtimestamp(now).astimezone().date()
    return datetime.combine(today, time()).astimezone().timestamp()


def held_agents(agents: Iterable[Agent], allowances: Allowances, spending: Outlay) -> tuple[Agent, ...]:
    """Mark the agents that may start nothing more today, with the reason."""
    together = Spent(
        sum(one.usd for one in spending.today.values()), sum(one.tokens for one in spending.today.values())
    )
    for_all = allowances.day.used_up(together)
    reasons = {name: one.used_up(spending.today.get(name, Spent())) for name, one in allowances.agents.items()}
    return tuple(replace(agent, over_budget=_words(reasons.get(agent.name, ""), for_all)) for agent in agents)


def within_budget(snapshot: Snapshot, allowances: Allowances, spending: Outlay) -> Snapshot:
    """Give the snapshot in which agents and tasks that have spent what they may are held."""
    return replace(
        snapshot,
        agents=held_agents(snapshot.agents, allowances, spending),
        over_budget=held_tasks(snapshot.ready, allowances, spending),
    )


def held_tasks(tasks: Iterable[Task], allowances: Allowances, spending: Outlay) -> dict[TaskRef, str]:
    """Give the tasks on which nothing more may be spent, with the reason."""
    spent = {task.ref: allowances.task.used_up(spending.tasks.get(task.ref, Spent())) for task in tasks}
    return {ref: f"its budget is used up: {words}" for ref, words in spent.items() if words}


def _words(own: str, for_all: str) -> str:
    if own:
        return f"today's budget is used up: {own}; goes on at midnight"
    return f"today's budget for all agents is used up: {for_all}; goes on at midnight" if for_all else ""
