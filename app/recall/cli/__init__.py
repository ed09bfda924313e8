"""The `recall` command: a thin front end. Every subcommand is a module of its own, imported when it is used."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run `recall` with the process's arguments and exit with one of `report.ExitCode`."""
    from recall.cli.report import run
    from recall.cli.root import recall

    sys.exit(run(recall, "recall"))
