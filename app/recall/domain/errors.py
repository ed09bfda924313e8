"""The errors that end an action. Expected situations (conflict, lease lost, nothing to do) are values."""

from __future__ import annotations


class RecallError(Exception):
    """Something stopped Recall. The message names what was found, what was expected and what to do next."""


class ConfigError(RecallError):
    """recall.toml or the task list cannot be used as it stands: exit code 2."""


class EnvironmentFailure(RecallError):
    """Git, the disk, the store or the system failed; nothing was half written: exit code 4."""


class StoreBusy(EnvironmentFailure):
    """Another process held the store longer than `store.lock_timeout`; the message says who."""


class Exhausted(EnvironmentFailure):
    """The machine ran out of something: disk space, descriptors, memory, processes. The same thing works again once
    there is some, so it is tried again and blamed on nobody."""


class Displaced(EnvironmentFailure):
    """The database, or the dispatcher's lock, was deleted or replaced under the process that had it: it must end."""


class DispatcherRunning(RecallError):
    """Another dispatcher works on this repository: exit code 3."""
