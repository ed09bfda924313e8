"""The recall.toml that `recall init` writes: what was decided, and every other setting as a comment."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from recall.config.explain import toml_text
from recall.config.schema import AGENT, SECTIONS, TOP, Key
from recall.config.settings import Settings

_HEAD = """\
# How Recall works on this repository. Every key but `verify` has a default; the commented lines show them.
# The commands in this file are run on your machine: look at changes to it the way you look at code.
"""

_WRITTEN = ("main", "tasks", "verify")

EXAMPLE_TASKS = """\
# Tasks

One heading is one task: an id, then what it is about. The text below it is what the agent is told.

## T-1 Say what this project is

Write a short README.md: what the project does, how to start it, how to run its tests.

## T-2 Mend what the README shows to be wrong

- after: T-1

Follow the README from a fresh clone and mend whatever does not work as it says.
"""


def template_text(
    main: str, verify: str | None, agents: Iterable[str], tasks: tuple[str, ...] = ("TASKS.md",)
) -> str:
    """Write a recall.toml that loads to exactly these decisions. `agents` are preset names; `verify` None is
    spelled out as "none"."""
    return "\n".join(_lines(main, verify, tuple(agents), tasks)) + "\n"


def _lines(main: str, verify: str | None, agents: tuple[str, ...], tasks: tuple[str, ...]) -> Iterator[str]:
    written = {"main": main, "tasks": tasks, "verify": verify}
    defaults = Settings(file=Path(), main=main, verify=verify)
    meanings = {key.name: key for key in TOP}
    yield _HEAD
    for name in _WRITTEN:
        yield f"# {meanings[name].meaning}"
        yield f"{name} = {toml_text(meanings[name], written[name])}"
    for key in TOP:
        if key.name not in _WRITTEN:
            yield _commented(key, getattr(defaults, key.name))
    for section in SECTIONS:
        yield f"\n[{section.name}]"
        for key in section.keys:
            yield _commented(key, getattr(section.build(), key.name))
    yield from _agents(agents)


def _commented(key: Key, value: object) -> str:
    return f"# {key.name} = {toml_text(key, value)}".ljust(36) + f"  # {key.meaning}"


def _agents(agents: tuple[str, ...]) -> Iterator[str]:
    for name in agents:
        yield f"\n[agents.{name}]"
        yield f"preset = {json.dumps(name)}"
    yield "\n# An agent of your own, and what can be said of any agent:"
    yield "# [agents.mine]"
    yield '# command = ["./agent.sh"]'
    for key in AGENT:
        if key.name not in {"preset", "command"}:
            yield f"# {key.name}".ljust(14) + f"  # {key.meaning}"
