"""Calls a person: a notice of the desktop, and a command of the user's own."""

from __future__ import annotations

import html
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from recall.agents.environment import agent_environment
from recall.domain.frozen import frozen
from recall.domain.receipts import DidNotHappen, Finding, Happened
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

    def reaches(self) -> bool:
        """Tell whether a call does anything here."""
        return bool(self.command or self._notice())

    def call(self, key: str, signal: Signal) -> Finding:
        """Call, and wait for the end. What failed counts as not having happened, and `trouble` is told of it. `key`
        is the same whenever the same call is repeated."""
        failures: list[str] = []
        notice = self._notice()
        if notice is not None:
            words = [f"{self.project}: {signal.title}", html.escape(signal.text)]
            failures.append(self._run("notify-send", [notice, "--app-name=Recall", "--", *words], key, signal))
        if self.command:
            name = "the command of `signals.command`"
            failures.append(self._run(name, ["/bin/sh", "-c", self.command], key, signal))
        told = [failure for failure in failures if failure]
        for failure in told:
            self.trouble(failure)
        return DidNotHappen(told[0]) if told else Happened(signal.title)

    def _notice(self) -> str | None:
        return shutil.which("notify-send", path=self.environ.get("PATH")) if self.desktop else None

    def _run(self, name: str, argv: list[str], key: str, signal: Signal) -> str:
        """Give how it failed, or ""."""
        said = {"KIND": signal.kind.value, "SUBJECT": signal.subject, "TITLE": signal.title, "TEXT": signal.text}
        own = {f"RECALL_SIGNAL_{word}": value for word, value in said.items()}
        own |= {"RECALL_PROJECT": self.project, "RECALL_EFFECT_KEY": key}
        session = ("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS")
        env = agent_environment(self.environ, cwd=self.folder, passed=session, extra=own)
        try:
            done = subprocess.run(
                argv, cwd=self.folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, timeout=_PATIENCE, start_new_session=True, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as failed:
            return f"{name} failed: {failed}"
        return f"{name} ended with {done.returncode}" if done.returncode != 0 else ""
