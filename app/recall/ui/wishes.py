"""What a command does to the store: one transaction each, and the reason where it was refused."""

from __future__ import annotations

from collections.abc import Callable

from recall.domain.agent import Agent
from recall.domain.merge import Shift
from recall.domain.run import Refused
from recall.domain.task import TaskState
from recall.engine import interventions
from recall.engine.ports import Store
from recall.ui.context import Context

ACTOR = "person"

Act = Callable[[Store, Context], Refused | None]


def requeue(store: Store, context: Context) -> Refused | None:
    return interventions.requeue(store, context.ref, actor=ACTOR)


def hold(store: Store, context: Context) -> Refused | None:
    task = store.task(context.ref)
    if task is not None and task.state is TaskState.ON_HOLD:
        return interventions.unhold(store, task.ref, actor=ACTOR)
    return interventions.hold(store, context.ref, actor=ACTOR, reason="put on hold by you")


def cancel(store: Store, context: Context) -> Refused | None:
    return interventions.cancel(store, context.ref, actor=ACTOR, reason="cancelled by you")


def prioritize(by: int) -> Act:
    """Give what moves the selected task's priority by so much."""

    def act(store: Store, context: Context) -> Refused | None:
        task = store.task(context.ref)
        return interventions.prioritize(store, context.ref, (task.priority if task else 0) + by, actor=ACTOR)

    return act


def pause_agent(store: Store, context: Context) -> Refused | None:
    agent = context.agent
    if agent is None:
        return Refused("select an agent first")
    if agent.paused or agent.stopped_reason:
        return interventions.resume_agent(store, agent.name, actor=ACTOR)
    return interventions.pause_agent(store, agent.name, actor=ACTOR, reason="paused by you")


def lift_cooldown(store: Store, context: Context) -> Refused | None:
    return interventions.lift_cooldown(store, context.agent.name if context.agent else "", actor=ACTOR)


def enable_agent(store: Store, context: Context) -> Refused | None:
    agent = _agent_now(store, context)
    if agent is None:
        return Refused("select an agent first")
    return interventions.choose_agent(store, agent.name, actor=ACTOR, enabled=not agent.enabled)


def run_parallel(by: int) -> Act:
    """Give what lets the selected agent run so many tasks more at once."""

    def act(store: Store, context: Context) -> Refused | None:
        agent = _agent_now(store, context)
        if agent is None:
            return Refused("select an agent first")
        return interventions.choose_agent(store, agent.name, actor=ACTOR, parallel=agent.parallel + by)

    return act


def reset_agent(store: Store, context: Context) -> Refused | None:
    return interventions.reset_agent(store, context.agent.name if context.agent else "", actor=ACTOR)


def _agent_now(store: Store, context: Context) -> Agent | None:
    """The selected agent as the store has it: a key may be pressed twice before the screen follows."""
    name = context.agent.name if context.agent is not None else ""
    return next((agent for agent in store.agents() if agent.name == name), None)


def pause_all(store: Store, context: Context) -> Refused | None:
    if context.overview.snapshot.dispatching:
        return interventions.pause_dispatching(store, actor=ACTOR, reason="paused by you")
    return interventions.resume_dispatching(store, actor=ACTOR)


def release_queue(store: Store, _: Context) -> Refused | None:
    return interventions.release_queue(store, actor=ACTOR)


def move_merge(to: Shift) -> Act:
    """Give what moves the selected task's entry in the merge queue."""
    return lambda store, context: interventions.move_merge(store, context.ref, to, actor=ACTOR)


def skip_merge(store: Store, context: Context) -> Refused | None:
    return interventions.skip_merge(store, context.ref, actor=ACTOR)


def retry_merge(store: Store, context: Context) -> Refused | None:
    return interventions.retry_merge(store, context.ref, actor=ACTOR)
