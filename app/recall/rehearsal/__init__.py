"""The rehearsal: a real repository, a real task list and three scripted agents, in about a minute."""

from recall.rehearsal.show import run

__all__ = ["run"]
