"""A place to run one agent under its shim, without git and without a dispatcher."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from recall.agents.mailbox import Slot, read_slot
from recall.agents.process import marked
from recall.agents.runner import ProcessRunner
from recall.agents.transcript import Transcript
from recall.domain.launch import RunSpec
from recall.domain.run import ExitRecord
from recall.system import SystemClock, SystemRng

REPORTS = Path(__file__).parent.parent / "support" / "fake_agent_reports.py"
TOKEN = "0123456789abcdef"


def wait_until(condition: Callable[[], bool], what: str, timeout: float = 15.0, *, pause: float = 0.02) -> None:
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, f"not within {timeout} s: {what}"
        time.sleep(pause)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


class Bench:
    """`slot/tree` is the workspace; `report` is the shell text of the report command."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder = home / "run"
        self.slot = home / "ws" / "slot"
        self.tree = self.slot / "tree"
        self.tree.mkdir(parents=True)
        self.runner = ProcessRunner(SystemClock(), SystemRng())
        self.report = shlex.join([sys.executable, str(REPORTS), "outcome", "--slot", str(self.slot)])

    def spec(self, script: str, **more: Any) -> RunSpec:
        values: dict[str, Any] = {
            "run_id": 7, "folder": self.folder, "argv": (script,), "shell": True, "cwd": self.tree,
            "env": {"PATH": os.environ["PATH"], "HOME": str(self.home)}, "slot": self.slot, "token": TOKEN,
            "task": "T-1", "agent": "fake", "timeout": 20.0, "grace": 0.3,
        }  # fmt: skip
        return RunSpec(**{**values, **more})

    def start(self, script: str, **more: Any) -> int:
        return self.runner.start(self.spec(script, **more))

    def run(self, script: str, **more: Any) -> ExitRecord:
        """Run to the end."""
        self.start(script, **more)
        return self.finish()

    def finish(self, timeout: float = 20.0) -> ExitRecord:
        wait_until(lambda: not self.runner.status(self.folder).live, "the run's end", timeout)
        record = self.runner.status(self.folder).exit
        assert record is not None, self.shim_log()
        return record

    def wait_for(self, name: str) -> str:
        """Wait for a file that the agent writes into its workspace; gives its text."""
        wait_until(lambda: (self.tree / name).exists() and bool((self.tree / name).read_text()), name)
        return (self.tree / name).read_text().strip()

    def box(self) -> Slot:
        slot = read_slot(self.slot)
        assert slot is not None
        return slot

    def marker(self) -> str:
        import json

        return str(json.loads((self.folder / "spec.json").read_text())["marker"])

    def left(self) -> list[int]:
        return [process.pid for process in marked(self.marker())]

    def output(self) -> bytes:
        return Transcript(self.folder).read(0, 1 << 24).data

    def shim_log(self) -> str:
        return (self.folder / "shim.log").read_text()

    def close(self) -> None:
        if (self.folder / "spec.json").exists():
            self.runner.stop_and_wait(self.folder, "cancel", 10)
            self.runner.sweep(self.folder)
