"""recall.toml is code: what it would run must have been confirmed by a person."""

from __future__ import annotations

from recall.config.trust import commands_hash
from recall.domain.task import TaskState
from recall.engine.parts import Parts

TRUSTED = "trusted_commands"


def commands_in_force(parts: Parts) -> str:
    """Hash every command that could run: verify, set-up, agents, and the tasks' own verify commands."""
    verifies = [
        task.verify
        for task in parts.store.tasks()
        if task.verify and task.state not in (TaskState.DONE, TaskState.CANCELLED)
    ]
    return commands_hash(parts.settings, verifies)


def distrusted(parts: Parts) -> str:
    """Say why nothing may start, or "". The commands of a repository's very first start count as confirmed by
    the person who started it."""
    current, trusted = commands_in_force(parts), parts.store.setting(TRUSTED)
    if trusted is None:
        parts.store.put_setting(TRUSTED, current, actor="person")
        return ""
    if trusted == current:
        return ""
    return (
        "the commands in recall.toml or a task's verify command changed and no person confirmed it; "
        "read them with `recall config show`, then `recall config trust`"
    )
