"""recall.toml is code: what it would run must have been confirmed by a person."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from recall.config.settings import Settings
from recall.config.trust import NamedCommand, fingerprint, is_covered, unconfirmed, verifies_in_force
from recall.domain.task import Task
from recall.engine.ports import Store

TRUSTED = "trusted_commands"


def distrust_reason(settings: Settings, tasks: Iterable[Task], trusted: str | None) -> str:
    """Say why nothing may start, or "". `trusted` is the fingerprint that a person confirmed, None before the
    very first start; `settings` have their presets filled in."""
    return _doubt(settings, verifies_in_force(tasks), trusted)


def _doubt(settings: Settings, verifies: Collection[str], trusted: str | None) -> str:
    if trusted is None or is_covered(settings, verifies, trusted):
        return ""
    return (
        "the commands in recall.toml, their bounds or a task's verify command changed and no person confirmed it; "
        "read them with `recall config show`, then `recall config trust`"
    )


def distrusted(settings: Settings, store: Store) -> str:
    """The same from the store. The commands of a repository's very first start count as confirmed by the person
    who started it."""
    trusted, verifies = store.setting(TRUSTED), store.verifies()
    if trusted is None:
        store.put_setting(TRUSTED, fingerprint(settings, verifies), actor="person")
    return _doubt(settings, verifies, trusted)


def all_confirmed(settings: Settings, store: Store) -> bool:
    """Tell it of the commands that stand in the store at this moment, whatever was imported a moment ago."""
    return not _doubt(settings, store.verifies(), store.setting(TRUSTED))


def to_confirm(settings: Settings, store: Store, verifies: Collection[str]) -> list[NamedCommand]:
    """Give what a person has not confirmed of the commands in force, `verifies` being the tasks' own."""
    trusted = store.setting(TRUSTED)
    return [] if trusted is None else unconfirmed(settings, verifies, trusted)


def confirm_commands(
    settings: Settings, store: Store, *, actor: str, verifies: Collection[str] | None = None
) -> None:
    """A person has read the commands, and lets them run. `verifies` are the tasks' own that were shown, those in
    force now when None: what came in while the person read is asked for again."""
    read = store.verifies() if verifies is None else verifies
    store.put_setting(TRUSTED, fingerprint(settings, read), actor=actor)
