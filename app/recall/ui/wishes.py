"""What a command does to the store: one transaction each, what came of it in words, or why it was refused."""

from __future__ import annotations

from collections.abc import Callable

from recall.domain.agent import Agent
from recall.domain.merge import Shift
from recall.domain.run import Refused
from recall.domain.task import TaskState
from recall.engine import interventions
from recall.engine.observing import PAUSED
from recall.engine.ports import Store
from recall.ui.context import Context

ACTOR = "person"

Act = Callable[[Store, Context], Refused | str]


def requeue(store: Store, context: Context) -> Refused | str:
    return interventions.requeue(store, context.ref, actor=ACTOR) or f"{context.ref} is to be done again"


def hold(store: Store, context: Context) -> Refused | str:
    task = store.task(context.ref)
    if task is not None and task.state is TaskState.ON_HOLD:
        return interventions.unhold(store, task.ref, actor=ACTOR) or f"{task.ref} is not on hold any more"
    refused = interventions.hold(store, context.ref, actor=ACTOR, reason="put on hold by you")
    return refused or f"{context.ref} is on hold"


def cancel(store: Store, context: Context) -> Refused | str:
    refused = interventions.cancel(store, context.ref, actor=ACTOR, reason="cancelled by you")
    return refused or f"{context.ref} is cancelled"


def prioritize(by: int) -> Act:
    """Give what moves the selected task's priority by so much."""

    def act(store: Store, context: Context) -> Refused | str:
        task = store.task(context.ref)
        priority = (task.priority if task else 0) + by
        refused = interventions.prioritize(store, context.ref, priority, actor=ACTOR)
        return refused or f"{context.ref} has priority {priority}"

    return act


def pause_agent(store: Store, context: Context) -> Refused | str:
    agent = _agent_now(store, context)
    if agent is None:
        return Refused("select an agent first")
    if agent.paused or agent.stopped_reason:
        return interventions.resume_agent(store, agent.name, actor=ACTOR) or f"{agent.name} is not paused any more"
    if agent.suspicions:
        return interventions.resume_agent(store, agent.name, actor=ACTOR) or f"{agent.name} is not held back any more"
    refused = interventions.pause_agent(store, agent.name, actor=ACTOR, reason="paused by you")
    return refused or f"{agent.name} is paused: it starts nothing new"


def lift_cooldown(store: Store, context: Context) -> Refused | str:
    name = _name(context)
    return interventions.lift_cooldown(store, name, actor=ACTOR) or f"{name} does not cool down any more"


def enable_agent(store: Store, context: Context) -> Refused | str:
    agent = _agent_now(store, context)
    if agent is None:
        return Refused("select an agent first")
    refused = interventions.choose_agent(store, agent.name, actor=ACTOR, enabled=not agent.enabled)
    return refused or f"{agent.name} is {'disabled: it starts nothing new' if agent.enabled else 'enabled'}"


def run_parallel(by: int) -> Act:
    """Give what lets the selected agent run so many tasks more at once."""

    def act(store: Store, context: Context) -> Refused | str:
        agent = _agent_now(store, context)
        if agent is None:
            return Refused("select an agent first")
        parallel = agent.parallel + by
        refused = interventions.choose_agent(store, agent.name, actor=ACTOR, parallel=parallel)
        return refused or f"{agent.name} may run {parallel} at once"

    return act


def reset_agent(store: Store, context: Context) -> Refused | str:
    name = _name(context)
    return interventions.reset_agent(store, name, actor=ACTOR) or f"{name} is as recall.toml says"


def _agent_now(store: Store, context: Context) -> Agent | None:
    """The selected agent as the store has it: a key may be pressed twice before the screen follows."""
    return next((agent for agent in store.agents() if agent.name == _name(context)), None)


def _name(context: Context) -> str:
    return context.agent.name if context.agent is not None else ""


def pause_all(store: Store, _: Context) -> Refused | str:
    if store.setting(PAUSED) == "yes":
        return interventions.resume_dispatching(store, actor=ACTOR) or "dispatching is not paused any more"
    refused = interventions.pause_dispatching(store, actor=ACTOR, reason="paused by you")
    return refused or "dispatching is paused: nothing new starts, what runs goes on"


def release_queue(store: Store, _: Context) -> Refused | str:
    return interventions.release_queue(store, actor=ACTOR) or "the merge queue goes on from main as it is"


def move_merge(to: Shift) -> Act:
    """Give what moves the selected task's entry in the merge queue."""

    def act(store: Store, context: Context) -> Refused | str:
        refused = interventions.move_merge(store, context.ref, to, actor=ACTOR)
        return refused or f"{context.ref} is one place {'earlier' if to is Shift.UP else 'later'} in the merge queue"

    return act


def skip_merge(store: Store, context: Context) -> Refused | str:
    refused = interventions.skip_merge(store, context.ref, actor=ACTOR)
    return refused or f"{context.ref} is behind all others in the merge queue"


def retry_merge(store: Store, context: Context) -> Refused | str:
    return interventions.retry_merge(store, context.ref, actor=ACTOR) or f"{context.ref} is tried again at once"
