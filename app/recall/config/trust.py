"""recall.toml is code: a fingerprint of every command that Recall would run because of it and of what holds agents
back, and what it covers."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Iterable, Iterator

from recall.config.settings import AgentSettings, MergeSettings, SandboxSettings, Settings, WorkspaceSettings
from recall.domain.task import Task, TaskState

#: A name that a person knows it by, and what is run.
NamedCommand = tuple[str, str]


def commands_hash(settings: Settings, verifies: Iterable[str]) -> str:
    """Fingerprint the commands in force: verify, setup, signals, push, the agents (with their environment, since PATH
    decides what a name runs) and the tasks' own `verifies`; and what bounds them, where it is not as usual. The order
    of agents and tasks makes no difference."""
    commands: dict[str, object] = {
        "verify": settings.verify,
        "setup": settings.setup,
        "env_pass": sorted(settings.env_pass),
        "agents": sorted((_agent(agent) for agent in settings.agents), key=lambda row: str(row["name"])),
        "tasks": sorted(set(verifies)),
    }
    if settings.signals.command:
        commands["signals"] = settings.signals.command
    if settings.push:
        commands["push"] = _pushes(settings)
    if bounds := dict(_bounds(settings)):
        commands["bounds"] = bounds
    return _hashed(json.dumps(commands, sort_keys=True))


def fingerprint(settings: Settings, verifies: Iterable[str]) -> str:
    """What a person confirms: one word for all that is not a task's own, then one for each of the tasks' verify
    commands. Each has its own, since most of them leave with their tasks, and that must not ask for anything."""
    return " ".join((commands_hash(settings, ()), *sorted({_hashed(verify) for verify in verifies})))


def is_covered(settings: Settings, verifies: Collection[str], confirmed: str) -> bool:
    """Whether every command in force is among those of a `fingerprint`, or the `commands_hash` that was confirmed
    before there were fingerprints is still the same."""
    now = fingerprint(settings, verifies).split()
    ours, *tasks = confirmed.split()
    return confirmed == commands_hash(settings, verifies) or (now[0] == ours and set(now[1:]) <= set(tasks))


def commands_in_force(settings: Settings, verifies: Iterable[str]) -> list[NamedCommand]:
    """What a `fingerprint` stands for, in the words of recall.toml."""
    return _legible(*_of_the_file(settings), *_of_tasks(verifies))


def unconfirmed(settings: Settings, verifies: Collection[str], confirmed: str) -> list[NamedCommand]:
    """What of it no person confirmed. Of recall.toml one word is kept: when anything in it changed, all is given."""
    if is_covered(settings, verifies, confirmed):
        return []
    now, (ours, *tasks) = commands_hash(settings, ()), confirmed.split() or [""]
    theirs = _of_tasks(verify for verify in verifies if _hashed(verify) not in tasks)
    return _legible(*(() if now == ours else _of_the_file(settings)), *theirs)


def _legible(*commands: NamedCommand) -> list[NamedCommand]:
    """Hide nothing of a command: what a terminal would obey is spelled out, and a further line is told from another
    command."""
    return [(name, "".join(map(_letter, text)).replace("\n", "\n    ")) for name, text in commands]


def _letter(letter: str) -> str:
    return letter if letter.isprintable() or letter == "\n" else ascii(letter)[1:-1]


def _of_the_file(settings: Settings) -> Iterator[NamedCommand]:
    yield "verify", settings.verify or "none"
    if settings.setup:
        yield "setup", settings.setup
    if settings.signals.command:
        yield "signals.command", settings.signals.command
    if settings.push:
        yield "push", _pushes(settings)
    if settings.env_pass:
        yield "env_pass", " ".join(settings.env_pass)
    yield from _bounds(settings)
    for agent in settings.agents:
        yield from _of_agent(agent)


def _bounds(settings: Settings) -> Iterator[NamedCommand]:
    """What was chosen of how far agents and verification reach: who loosens it needs no command of their own."""
    box, usual = settings.sandbox, SandboxSettings()
    if box.level != usual.level:
        yield "sandbox.level", box.level
    if box.user:
        yield "sandbox.user", box.user
    if box.write:
        yield "sandbox.write", shlex.join(sorted(box.write))
    if box.network != usual.network:
        yield "sandbox.network", box.network
    if settings.workspaces.kind != WorkspaceSettings().kind:
        yield "workspaces.kind", settings.workspaces.kind
    if settings.merge.protected != MergeSettings().protected:
        yield "merge.protected", shlex.join(sorted(settings.merge.protected)) or "nothing"
    for agent in settings.agents:
        if "state" in agent.given:
            yield f"agents.{agent.name}.state", shlex.join(sorted(agent.state))


def _pushes(settings: Settings) -> str:
    return f"{settings.push} (branches, and pull requests by gh)" if settings.offers else settings.push


def _of_agent(agent: AgentSettings) -> Iterator[NamedCommand]:
    argv = shlex.join(agent.command)
    yield f"agents.{agent.name}", f"{argv}  (model {agent.model})" if agent.model else argv
    rest = {
        "resume_command": shlex.join(agent.resume_command),
        "env": " ".join(f"{name}={shlex.quote(value)}" for name, value in sorted(agent.env.items())),
        "env_pass": " ".join(agent.env_pass),
        "env_unset": " ".join(agent.env_unset),
    }
    for name, text in rest.items():
        if text:
            yield f"agents.{agent.name}.{name}", text


def _of_tasks(verifies: Iterable[str]) -> Iterator[NamedCommand]:
    return (("a task's verify", verify) for verify in sorted(set(verifies)))


def verifies_in_force(tasks: Iterable[Task]) -> set[str]:
    """The verify commands of tasks that can still be verified."""
    over = (TaskState.DONE, TaskState.CANCELLED)
    return {task.verify for task in tasks if task.verify and task.state not in over}


def _hashed(text: str) -> str:
    import hashlib  # loads OpenSSL: the first painting does not wait for that

    return hashlib.sha256(text.encode()).hexdigest()


def _agent(agent: AgentSettings) -> dict[str, object]:
    return {
        "name": agent.name,
        "preset": agent.preset,
        "command": list(agent.command),
        "resume_command": list(agent.resume_command),
        "prompt": agent.prompt,
        "model": agent.model,
        "env": dict(agent.env),
        "env_pass": sorted(agent.env_pass),
        "env_unset": sorted(agent.env_unset),
    }
