"""Sets the stage: a small real project with a task list, and the scripted agents beside it."""

from __future__ import annotations

import shutil
import sys
from importlib.resources import as_file, files
from pathlib import Path

from recall.gitops.command import run_git

_SETTINGS = """\
# The rehearsal's own settings: limits are short, so that everything can be seen in a minute.
main = "main"
tasks = ["TASKS.md"]
verify = "{python} -m unittest -q"
verify_timeout = "60s"

[lease]
ttl = "20s"
heartbeat = "2s"

[limits]
margin = "1s"
default = "10s"

[run]
timeout = "60s"
stall = "6s"
grace = "1s"
backoff = "1s"
after_report = "5s"

"""

_AGENT = """\
[agents.{name}]
command = ["{python}", "{script}", "{name}"]
prompt = "stdin"

"""

AGENTS = ("otter", "heron", "mole")

#: It prints its events and what it costs, in the shape of Claude Code's.
_OTTER = """\
[agents.otter]
command = ["{python}", "{script}", "otter", "--events"]
prompt = "stdin"
stream = "claude"

"""


def set_stage(folder: Path) -> Path:
    """Make `folder/shop` (the repository) and `folder/agents`; gives the repository. What is there already is
    left alone, so that an interrupted rehearsal goes on where it was."""
    repository = folder / "shop"
    if (repository / ".git").exists():
        return repository
    source = files("recall.rehearsal")
    with as_file(source / "agents") as agents:
        shutil.copytree(agents, folder / "agents", ignore=shutil.ignore_patterns("__pycache__"))
    with as_file(source / "project") as project:
        shutil.copytree(project, repository, ignore=shutil.ignore_patterns("__pycache__"))
    (repository / "gitignore").rename(repository / ".gitignore")
    script = folder / "agents" / "scripted_agent.py"
    text = _SETTINGS.format(python=sys.executable)
    text += _OTTER.format(python=sys.executable, script=script)
    text += "".join(_AGENT.format(name=name, python=sys.executable, script=script) for name in AGENTS[1:])
    (repository / "recall.toml").write_text(text)
    run_git(["init", "--quiet", "--initial-branch", "main"], cwd=repository)
    run_git(["config", "user.name", "Rehearsal"], cwd=repository)
    run_git(["config", "user.email", "rehearsal@recall.invalid"], cwd=repository)
    run_git(["add", "--all"], cwd=repository)
    run_git(["commit", "--quiet", "--message", "A very small shop"], cwd=repository)
    return repository
