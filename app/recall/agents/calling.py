"""Calls a person: a notice of the desktop, and a command of the user's own."""

from __future__ import annotations

import html
import shutil
import subprocess
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from recall.agents.environment import agent_environment
from recall.domain.frozen import frozen
from recall.domain.signals import Signal

_PATIENCE = 30.0


@frozen
class Caller:
    """`command` is a shell command, or "" for none; it runs in `folder` and learns of the signal by its environment.
    `desktop`: also show a notice, where the desktop has `notify-send`. `trouble` is told of a command that fails."""

    project: str
    folder: Path
    command: str
    desktop: bool
    environ: Mapping[str, str]
    trouble: Callable[[str], None] = lambda _: None

    def call(self, signal: Signal) -> None:
        """Start what is wanted, and do not wait for it."""
        threading.Thread(target=self.call_and_wait, args=(signal,), name="calling", daemon=True).start()

    def call_and_wait(self, signal: Signal) -> None:
        notice = shutil.which("notify-send", path=self.environ.get("PATH")) if self.desktop else None
        if notice is not None:
            words = [f"{self.project}: {signal.title}", html.escape(signal.text)]
            self._run("notify-send", [notice, "--app-name=Recall", "--", *words], signal)
        if self.command:
            self._run("the command of `signals.command`", ["/bin/sh", "-c", self.command], signal)

    def _run(self, name: str, argv: list[str], signal: Signal) -> None:
        said = {"KIND": signal.kind.value, "SUBJECT": signal.subject, "TITLE": signal.title, "TEXT": signal.text}
        own = {f"RECALL_SIGNAL_{word}": value for word, value in said.items()} | {"RECALL_PROJECT": self.project}
        session = ("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS")
        env = agent_environment(self.environ, cwd=self.folder, passed=session, extra=own)
        try:
            done = subprocess.run(
                argv, cwd=self.folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, timeout=_PATIENCE, start_new_session=True, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as failed:
            self.trouble(f"{name} failed: {failed}")
            return
        if done.returncode != 0:
            self.trouble(f"{name} ended with {done.returncode}")
