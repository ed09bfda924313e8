"""Everything that a person can do to a running system, the same for every front end.

Each is one transaction with one event, refused in words where it makes no sense. Nothing here reaches for a
process: dispatcher, merge queue and shims find what changed in the store, and act on it.
"""

from __future__ import annotations

from collections.abc import Callable

from recall.domain.agent import AgentChoice
from recall.domain.merge import Shift
from recall.domain.run import Refused
from recall.domain.task import TaskRef
from recall.engine.ports import Store


def requeue(store: Store, ref: TaskRef, *, actor: str, reason: str = "") -> Refused | None:
    """Make a task claimable again with all its attempts; a waiting merge of it is turned away."""
    return store.requeue(ref, actor=actor, reason=reason)


def hold(store: Store, ref: TaskRef, *, actor: str, reason: str = "") -> Refused | None:
    """Keep a task from being started; its run loses its lease, so its agent is stopped."""
    return store.hold(ref, actor=actor, reason=reason)


def unhold(store: Store, ref: TaskRef, *, actor: str) -> Refused | None:
    return store.unhold(ref, actor=actor)


def cancel(store: Store, ref: TaskRef, *, actor: str, reason: str = "") -> Refused | None:
    """Give a task up; its agent is stopped, its work is kept."""
    return store.cancel(ref, actor=actor, reason=reason)


def finish(store: Store, ref: TaskRef, *, actor: str, reason: str) -> Refused | None:
    """Say that a task is done without a commit of ours."""
    return store.finish_manually(ref, actor=actor, reason=reason)


def prioritize(store: Store, ref: TaskRef, priority: int, *, actor: str) -> Refused | None:
    return store.prioritize(ref, priority, actor=actor)


def answer(store: Store, ref: TaskRef, text: str, *, actor: str) -> Refused | None:
    """Answer the question that a task waits with; its next attempt is told both."""
    return store.answer(ref, text, actor=actor)


def pause_agent(store: Store, name: str, *, actor: str, reason: str = "") -> Refused | None:
    """Let an agent start nothing new; what it runs goes on."""
    return store.pause_agent(name, actor=actor, reason=reason)


def resume_agent(store: Store, name: str, *, actor: str) -> Refused | None:
    """Lift whatever holds an agent: pause, cooldown, or what only a person could mend."""
    return store.resume_agent(name, actor=actor)


def choose_agent(
    store: Store, name: str, *, actor: str, enabled: bool | None = None, parallel: int | None = None
) -> Refused | None:
    """Enable or disable an agent, or let it run so many tasks at once, whatever recall.toml says; None leaves open.
    What an agent runs goes on."""
    return store.choose_agent(name, AgentChoice(enabled, parallel), actor=actor)


def reset_agent(store: Store, name: str, *, actor: str) -> Refused | None:
    """Let recall.toml say again whether an agent is enabled and how much it runs at once."""
    return store.choose_agent(name, AgentChoice(), actor=actor)


def set_weight(store: Store, name: str, type_: str, value: float, *, actor: str) -> Refused | None:
    """Trust an agent with a task type by so much, 0 to 1; its record of landings stays."""
    return store.set_weight(name, type_, value, actor=actor)


def forget_record(store: Store, name: str, type_: str, *, actor: str) -> Refused | None:
    """Begin anew with an agent and a task type, as if it had never done any."""
    return store.set_weight(name, type_, None, actor=actor)


def set_cooldown(store: Store, name: str, until: float, *, actor: str, reason: str = "") -> Refused | None:
    """Let an agent, and all of its account, start nothing before wall second `until` (UTC)."""
    return store.set_cooldown(name, until, actor=actor, reason=reason)


def lift_cooldown(store: Store, name: str, *, actor: str) -> Refused | None:
    """End the cooldown of an agent and of all of its account; a pause stays."""
    return store.lift_cooldown(name, actor=actor)


def pause_dispatching(store: Store, *, actor: str, reason: str = "") -> Refused | None:
    """Start nothing new at all; what runs goes on and lands."""
    return store.pause_dispatching(actor=actor, reason=reason)


def resume_dispatching(store: Store, *, actor: str) -> Refused | None:
    return store.resume_dispatching(actor=actor)


def release_queue(store: Store, *, actor: str) -> Refused | None:
    """Let a queue that is held because main was rewritten go on from main as it is."""
    return store.release_queue(actor=actor)


def move_merge(store: Store, ref: TaskRef, to: Shift | int, *, actor: str) -> Refused | None:
    """Move a task's entry in the merge queue; a number counts the open entries from 1."""
    return _with_entry(store, ref, lambda merge_id: store.merge_move(merge_id, to, actor=actor))


def skip_merge(store: Store, ref: TaskRef, *, actor: str) -> Refused | None:
    """Put a task's entry behind all others in the merge queue."""
    return move_merge(store, ref, Shift.LAST, actor=actor)


def retry_merge(store: Store, ref: TaskRef, *, actor: str) -> Refused | None:
    """Try at once what waits for the user's checkout or for main to become green."""
    return _with_entry(store, ref, lambda merge_id: store.merge_retry(merge_id, actor=actor))


def _with_entry(store: Store, ref: TaskRef, act: Callable[[int], Refused | None]) -> Refused | None:
    entry = next((entry for entry in store.merges() if entry.ref == ref), None)
    if entry is None:
        return Refused(f"{ref} has nothing in the merge queue")
    return act(entry.id)
