"""A whole project for end-to-end tests: a repository, a task list, shell scripts as agents, and the real program.

shop = Workshop.create(tmp_path)
shop.agent("ant", 'echo "$TASK" > "$TASK.txt"; $SUCCESS')
shop.tasks("## T-1 First", "## T-2 Second\n- after: T-1")
assert shop.dispatch().returncode == 0
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from pwd import getpwnam
from typing import Any

from recall.domain.run import Run
from recall.domain.task import Task
from recall.engine.ports import Store
from recall.store import open_store
from recall.system import SystemClock, SystemRng
from tests.support import forked
from tests.support.hermetic_git import Repo

#: What every scripted agent starts with: it finds its task and the report command in its prompt, as a model would.
PRELUDE = """\
PROMPT=$(cat)
TASK=$(printf '%s\\n' "$PROMPT" | sed -n 's/^# Task \\([^:]*\\):.*/\\1/p' | head -1)
REPORT=$(printf '%s\\n' "$PROMPT" | sed -n 's/^\\(.* outcome --slot [^ ]*\\) --result success.*/\\1/p' | head -1)
ASK=$(printf '%s\\n' "$PROMPT" | sed -n 's/^\\(.* ask --slot [^ ]*\\) .*/\\1/p' | head -1)
success() { $REPORT --result success --summary "${1:-done}"; }
failure() { $REPORT --result failure --summary "${1:-cannot}"; }
commit() { git add -A && git -c user.name=Ant -c user.email=ant@example.invalid commit -q -m "$1"; }
again() { printf '%s' "$PROMPT" | grep -q 'Earlier attempts'; }
"""

_TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)

_SHORT = """\
main = "main"
verify = "{verify}"
verify_timeout = "30s"
[lease]
ttl = "20s"
heartbeat = "1s"
[limits]
margin = "1s"
default = "2s"
failover_after = "2s"
[run]
timeout = "40s"
stall = "20s"
grace = "1s"
backoff = "0.1s"
after_report = "5s"
"""


@dataclass
class Workshop:
    """`home` holds the repository in `repo/` and the agents' scripts in `agents/`. `settings` is recall.toml without
    its agents, in which `{verify}` stands for the command; `top` and `extra` come before and behind it. Recall is run
    by `python` as `user` (empty: as whoever runs the tests), with `variables` in its environment."""

    home: Path
    repo: Repo
    verify: str = "true"
    settings: str = _SHORT
    top: str = ""
    extra: str = ""
    python: str = sys.executable
    user: str = ""
    variables: dict[str, str] = field(default_factory=dict[str, str])
    _agents: dict[str, Path] = field(default_factory=dict[str, Path])
    _streams: dict[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def create(cls, home: Path, *, verify: str = "true") -> Workshop:
        repo = Repo.create(home / "repo")
        repo.commit("start", {"README.md": "hello\n"})
        (home / "agents").mkdir()
        return cls(home, repo, verify)

    # -- setting up --------------------------------------------------------------------------------------------
    def agent(self, name: str, script: str, *, stream: str = "") -> None:
        """Give the project an agent: a shell script that gets its prompt on stdin and knows $TASK, `success`,
        `failure`, `commit MESSAGE` and `again`. `stream` is the known agent whose events it prints."""
        path = self.home / "agents" / f"{name}.sh"
        path.write_text(PRELUDE + script + "\n")
        self._agents[name] = path
        self._streams[name] = stream

    def tasks(self, *blocks: str) -> None:
        self.repo.write("TASKS.md", "# Tasks\n\n" + "\n\n".join(blocks) + "\n")

    def settle(self) -> None:
        """Write recall.toml and commit it together with the task list."""
        text = self.top + self.settings.format(verify=self.verify) + self.extra
        for name, path in self._agents.items():
            text += f'\n[agents.{name}]\ncommand = ["/bin/bash", "{path}"]\n'
            text += f'stream = "{self._streams[name]}"\n' if self._streams[name] else ""
        self.repo.commit("settings", {"recall.toml": text})

    # -- running -----------------------------------------------------------------------------------------------
    def recall(self, *args: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        if self._as_here({}):
            return forked.run("recall.cli:main", *args, cwd=cwd or self.repo.path, env=self._environ({}))
        return subprocess.run(
            [self.python, "-m", "recall", *args],
            cwd=cwd or self.repo.path,
            **self._as_user(),
            env=self._environ({}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def dispatch(
        self, *args: str, env: Mapping[str, str] | None = None, timeout: float = 90
    ) -> subprocess.CompletedProcess[str]:
        """Run the dispatcher until nothing can move by itself."""
        env, argv = env or {}, self._argv(*args)
        if self._as_here(env):
            words = argv[argv.index("--no-ui") :]
            return forked.run(
                "recall.cli.tui:main", *words, cwd=self.repo.path, env=self._environ(env), timeout=timeout
            )
        return subprocess.run(
            argv,
            cwd=self.repo.path,
            **self._as_user(),
            env=self._environ(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
        )

    @contextmanager
    def dispatching(
        self,
        *args: str,
        env: Mapping[str, str] | None = None,
        most_files: int | None = None,
        terminal: int | None = None,
        quiet: bool = False,
    ) -> Generator[subprocess.Popen[str]]:
        """Run the dispatcher beside the test; it is killed at the end if it still lives. `most_files` is all that it
        may have open, `terminal` the descriptor of a terminal to control it; without one there is none."""
        front = [] if most_files is None else ["prlimit", f"--nofile={most_files}"]
        front += [] if terminal is None else [sys.executable, "-c", _TAKE_TERMINAL]
        process = subprocess.Popen(
            [*front, *self._argv(*args)],
            cwd=self.repo.path,
            **self._as_user(),
            env=self._environ(env or {}),
            stdin=subprocess.DEVNULL if terminal is None else terminal,
            stdout=subprocess.DEVNULL if quiet else subprocess.PIPE if terminal is None else terminal,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    def _argv(self, *args: str) -> list[str]:
        return [
            self.python,
            "-c",
            "from recall.cli.tui import main; main()",
            "--no-ui",
            *(args or ("--until-done",)),
        ]

    def _as_here(self, env: Mapping[str, str]) -> bool:
        """Whether Python itself would start as it did for these tests; else there is no way around its start."""
        same = (self.python, self.user, self.variables) == (sys.executable, "", {})
        return same and set(env) <= {"RECALL_FAILPOINT"}

    def _as_user(self) -> dict[str, Any]:
        if not self.user:
            return {}
        return {"user": self.user, "group": getpwnam(self.user).pw_gid, "extra_groups": []}

    def _environ(self, extra: Mapping[str, str]) -> dict[str, str]:
        return {**os.environ, "PYTHONWARNINGS": "error", **self.variables, **extra}

    # -- looking -----------------------------------------------------------------------------------------------
    @property
    def state(self) -> Path:
        return self.repo.path / ".git" / "recall"

    @contextmanager
    def store(self) -> Generator[Store]:
        store = open_store(self.state / "recall.db", SystemClock(), SystemRng())
        try:
            yield store
        finally:
            store.close()

    def look(self) -> dict[str, Task]:
        with self.store() as store:
            return {task.id: task for task in store.tasks()}

    def runs(self) -> list[Run]:
        with self.store() as store:
            return store.runs()

    def reasons(self, kind: str) -> list[str]:
        with self.store() as store:
            return [event.reason for event in store.events_since(0, 100_000) if event.kind == kind]

    def on_main(self) -> set[str]:
        return set(self.repo.files("main"))

    def strays(self) -> list[int]:
        """The processes that still work somewhere in this project."""
        return processes_in(self.home)


def processes_in(folder: Path) -> list[int]:
    """The processes, other than this one, that work somewhere below `folder`."""
    entries = [entry for entry in Path("/proc").iterdir() if entry.name.isdigit() and int(entry.name) != os.getpid()]
    return [int(entry.name) for entry in entries if _works_in(entry, folder)]


def _works_in(entry: Path, folder: Path) -> bool:
    try:
        return (entry / "cwd").readlink().is_relative_to(folder)
    except OSError:
        return False


def eventually(claim: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait until `claim` holds; an AssertionError when it does not within `seconds`."""
    deadline = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < deadline, f"not within {seconds} s: {claim}"
        time.sleep(0.05)


def until(process: subprocess.Popen[str], words: str) -> str:
    """Read the output up to the line that holds `words`; an AssertionError when it ends without."""
    assert process.stdout is not None
    seen: list[str] = []
    for line in process.stdout:
        seen.append(line)
        if words in line:
            return "".join(seen)
    raise AssertionError(f"ended without saying {words!r}:\n{''.join(seen)}")
