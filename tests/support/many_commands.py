"""Runs many `recall` commands in one terminal, one after another, each in a process of its own that has the program
loaded already. They stand in a JSON file, as lists of arguments. A line `MARK number` comes before what each prints.
Those that go on by themselves are interrupted, as by a person, a moment after they began."""

from __future__ import annotations

import json
import os
import signal
import sys
from importlib import import_module
from pathlib import Path

MARK = "=== command"
_LIVE = ("--watch", "--follow")
_LOOK = 0.7  # seconds


def _run(argv: list[str]) -> None:
    """Become one command: this does not come back."""
    from recall.cli import main

    sys.argv = ["recall", *argv]
    if set(_LIVE) & set(argv):
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, _LOOK)
    main()


def run_all(commands: list[list[str]]) -> None:
    from recall.cli.root import COMMANDS

    for module, _, _ in COMMANDS.values():
        import_module(f"recall.cli.{module}")
    for number, argv in enumerate(commands):
        print(f"{MARK} {number}", flush=True)
        child = os.fork()
        if child == 0:
            _run(argv)
        os.waitpid(child, 0)


if __name__ == "__main__":
    run_all(json.loads(Path(sys.argv[1]).read_text()))
