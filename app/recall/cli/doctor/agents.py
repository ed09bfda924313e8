"""The agents: whether their programs are there and still know the flags that they are started with.

A program is asked for its version and its help, with nothing on its standard input; no agent is started."""

from __future__ import annotations

import os.path
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from recall.cli.doctor.finding import Finding, fine, note, wrong
from recall.cli.project import Project
from recall.domain.text import clean_line, clip

if TYPE_CHECKING:
    from recall.config.settings import AgentSettings

#: Some of these programs take seconds to print a line, in seconds.
_PATIENCE = 20.0
_MOST = 1024 * 1024


def look_at_agents(project: Project) -> Iterator[Finding]:
    from recall.bootstrap import with_presets

    agents = with_presets(project.settings).agents
    if not agents:
        yield wrong("agents", "recall.toml has none", "add one under [agents.NAME]")
    with ThreadPoolExecutor(4) as pool:
        looks = [pool.submit(_look_now, project, agent) for agent in agents]
        for look in looks:
            yield from look.result()
    yield from _unused(agents)


def _look_now(project: Project, agent: AgentSettings) -> list[Finding]:
    return list(_look(project, agent))


def _look(project: Project, agent: AgentSettings) -> Iterator[Finding]:
    program = agent.command[0] if agent.command else ""
    path = shutil.which(program, path=None) or _beside(project, program)
    about = f"agent {agent.name}"
    if not agent.enabled:
        yield fine(about, "disabled")
    elif not path:
        yield wrong(about, f"`{program}` is not found", "install it, or name its path in `command`")
    elif not _is_handed_out(project, program):
        what = f"`{program}` is not committed on {project.settings.main}, so no workspace has it"
        yield wrong(about, what, f"commit it there, or write {Path(path).absolute()} in `command`")
    elif not agent.preset:
        yield fine(about, f"starts {path}")
    else:
        yield from _ask(about, path, agent, project.settings.sandbox_level)


def _ask(about: str, path: str, agent: AgentSettings, level: str) -> Iterator[Finding]:
    from recall.agents.presets import load_preset

    version = _said([path, "--version"]).strip().partition("\n")[0]
    yield fine(about, f"starts {path}, {clip(clean_line(version), 60) or 'which tells no version'}")
    unknown = missing_flags(agent.command[1:], _said([path, *_subcommand(agent.command[1:]), "--help"]))
    if unknown:
        what = f"its help does not mention {', '.join(unknown)}"
        yield note(about, what, "if a run fails at once, set `command` in recall.toml to what this version knows")
    yield note(about, _reach(level, agent))
    for sentence in load_preset(agent.preset).notes:
        yield note(about, sentence)


def _reach(level: str, agent: AgentSettings) -> str:
    """Say what an agent may touch."""
    if level == "none":
        return "may read and change whatever you can, beyond its workspace only as far as its own sandbox lets it"
    if level == "user":
        return "runs as the user that sandbox.user names: may read and change what that one can, whatever it is"
    own = ", ".join(agent.state) or "no folder of its own"
    return f"fenced by {level}: may read whatever you can, and change its workspace, package caches and {own}"


def missing_flags(args: Sequence[str], help_text: str) -> list[str]:
    """Give the flags in `args` that a program's help does not mention; none when it printed no help."""
    if "-" not in help_text:
        return []
    known = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", help_text))
    flags = [arg.partition("=")[0] for arg in args if re.match(r"--?[A-Za-z]", arg)]
    return [flag for flag in dict.fromkeys(flags) if flag not in known]


def _subcommand(args: Sequence[str]) -> list[str]:
    """The words before the first option: `exec` of `codex exec --json`."""
    first = next((place for place, arg in enumerate(args) if arg.startswith("-")), len(args))
    return list(args[:first])


def _said(argv: Sequence[str]) -> str:
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout + done.stderr)[:_MOST].decode("utf-8", "replace")


def _beside(project: Project, program: str) -> str | None:
    """Agents are started in a checkout of the repository, so a relative command is looked for there."""
    beside = project.settings.file.parent / program
    return str(beside) if "/" in program and beside.is_file() else None


def _is_handed_out(project: Project, program: str) -> bool:
    """Workspaces are made from main, so a program that is named relative to one is there when it is committed, unless
    `setup` makes it."""
    from recall.gitops.repository import Repository

    if "/" not in program or Path(program).is_absolute() or project.settings.setup:
        return True
    repository = Repository(project.location, project.settings.main, project.state)
    return repository.file_on_main(os.path.normpath(program)) is not None


def _unused(agents: Sequence[AgentSettings]) -> Iterator[Finding]:
    """Agent CLIs that are installed and not named in recall.toml."""
    from recall.agents.presets import load_preset, preset_names

    used = {agent.preset for agent in agents} | {agent.command[0] for agent in agents if agent.command}
    for name in preset_names():
        preset = load_preset(name)
        if not used & {name, preset.command[0]} and shutil.which(preset.command[0]):
            yield note(
                "agents", f"{preset.title} is installed, not used", f'[agents.{name}] preset = "{name}" uses it'
            )
            used.add(preset.command[0])
