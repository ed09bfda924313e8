"""Repositories to measure on: cut off from the machine's own git configuration, with work of a known shape."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

BIN = Path(sys.executable).parent

#: An agent that thinks for 0.1 s, writes one file, commits it and reports. The dispatcher to be measured says in
#: the prompt how to report; the floor gives the command as the first argument.
_AGENT = r"""prompt=$(cat)
task=$(printf '%s\n' "$prompt" | sed -n 's/^# Task \([^:]*\):.*/\1/p' | head -1)
report=$(printf '%s\n' "$prompt" | sed -n 's/^\(.* outcome --slot [^ ]* --result success\).*/\1/p' | head -1)
sleep 0.1
mkdir -p out
echo "done" > "out/$task.txt"
git add -A out
git -c user.name=agent -c user.email=agent@example.invalid commit -q -m "$task"
eval "${1:-$report}"
"""


@dataclass(frozen=True, slots=True)
class Shape:
    """So many tasks, and for each the numbers of those it comes after."""

    name: str
    after: tuple[tuple[int, ...], ...]

    @property
    def ids(self) -> list[str]:
        return [f"T-{number}" for number in range(len(self.after))]


def flat(count: int) -> Shape:
    return Shape("flat", ((),) * count)


def chain(count: int) -> Shape:
    return Shape("chain", tuple((number - 1,) if number else () for number in range(count)))


def diamond(count: int) -> Shape:
    """One task, then all but one side by side, then one that needs them all."""
    middle = tuple(range(1, count - 1))
    return Shape("diamond", ((), *((0,) for _ in middle), middle))


def environment(home: Path) -> dict[str, str]:
    """The process's environment with git's own variables, Python's and the user's settings taken out."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GIT_", "XDG_", "RECALL_", "PYTHON"))
    }
    return kept | {"HOME": str(home), "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}


def run(argv: list[str], cwd: Path, env: Mapping[str, str], *, stdin: str | None = None, status: int = 0) -> str:
    """Run a program to its end and give what it printed. Raises RuntimeError when it ends with another status."""
    done = subprocess.run(argv, cwd=cwd, env=env, input=stdin, capture_output=True, text=True, check=False)
    if done.returncode != status:
        raise RuntimeError(f"{' '.join(argv[:4])} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


@dataclass(frozen=True, slots=True)
class Scene:
    """A fresh repository in a folder of its own, with a task list of `shape` for `agents` agents."""

    folder: Path
    shape: Shape
    agents: int

    @classmethod
    def make(cls, folder: Path, shape: Shape, agents: int) -> Scene:
        scene = cls(folder, shape, agents)
        scene.repository.mkdir(parents=True)
        scene.agent.write_text(_AGENT)
        (scene.repository / "TASKS.md").write_text(_task_list(shape))
        (scene.repository / "recall.toml").write_text(_settings(scene.agent, agents))
        scene.git("init", "-q", "-b", "main")
        scene.git("add", "-A")
        scene.git("-c", "user.name=user", "-c", "user.email=user@example.invalid", "commit", "-q", "-m", "start")
        return scene

    @property
    def repository(self) -> Path:
        return self.folder / "repository"

    @property
    def agent(self) -> Path:
        return self.folder / "agent.sh"

    @property
    def env(self) -> dict[str, str]:
        return environment(self.folder)

    def git(self, *args: str) -> str:
        return run(["git", *args], self.repository, self.env)

    def check_all_landed(self) -> None:
        """Raises RuntimeError unless main, and its checkout, hold every task's file."""
        listed = set(self.git("ls-tree", "-r", "--name-only", "main").split())
        wanted = {f"out/{task}.txt" for task in self.shape.ids}
        checked_out = {f"out/{file.name}" for file in (self.repository / "out").iterdir()}
        if wanted - listed or wanted - checked_out:
            raise RuntimeError(
                f"not on main: {sorted(wanted - listed)}, not checked out: {sorted(wanted - checked_out)}"
            )


def _task_list(shape: Shape) -> str:
    lines = ["# Tasks", ""]
    for task, after in zip(shape.ids, shape.after, strict=True):
        lines += [f"## {task} Write a file", ""]
        if after:
            lines += [f"- after: {', '.join(shape.ids[number] for number in after)}", ""]
    return "\n".join(lines)


def _settings(agent: Path, agents: int) -> str:
    lines = ['main = "main"', 'verify = "true"']
    for number in range(agents):
        lines += [f"[agents.a{number}]", f'command = ["/bin/bash", "{agent}"]']
    return "\n".join(lines) + "\n"
