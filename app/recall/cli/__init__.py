"""The `recall` command: a thin front end. Every subcommand is a module of its own, imported when it is used."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run `recall` with the process's arguments and exit with one of `report.ExitCode`."""
    gc.set_threshold(
        100_000
    )  # imports make much and leave no garbage: looking for it costs a command a tenth of its time
    from recall.cli.report import run
    from recall.cli.root import recall

    if "_RECALL_COMPLETE" in os.environ:
        from recall.cli.completion import complete_in_bash_with_colons

        complete_in_bash_with_colons()
    _leave(run(recall, "recall"))


def _leave(code: int) -> NoReturn:
    """End the process without taking the interpreter apart module by module; everything has been closed."""
    with contextlib.suppress(OSError):  # whoever read it is gone
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)
