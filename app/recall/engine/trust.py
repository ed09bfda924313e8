"""recall.toml is code: what it would run must have been confirmed by a person."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from recall.config.settings import Settings
from recall.config.trust import fingerprint, is_covered, verifies_in_force
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
        "the commands in recall.toml or a task's verify command changed and no person confirmed it; "
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


def confirm_commands(settings: Settings, store: Store, *, actor: str) -> None:
    """A person has read the commands in force as they are now, and lets them run."""
    store.put_setting(TRUSTED, fingerprint(settings, store.verifies()), actor=actor)
