"""The `recall` command: a thin front end. Every subcommand is a module of its own, imported when it is used."""

from __future__ import annotations

import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run `recall` with the process's arguments and exit with one of `report.ExitCode`."""
    from recall.cli.report import run
    from recall.cli.root import recall

    if "_RECALL_COMPLETE" in os.environ:
        from recall.cli.completion import complete_in_bash_with_colons

        complete_in_bash_with_colons()
    sys.exit(run(recall, "recall"))
