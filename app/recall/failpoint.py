"""Named places between two durable effects, at which a test can kill the real process."""

from __future__ import annotations

import os
import sys

_hits: dict[str, int] = {}


def _strike(name: str) -> None:
    from signal import SIGKILL

    wanted, _, nth = os.environ.get("RECALL_FAILPOINT", "").partition("#")
    if wanted != name:
        return
    _hits[name] = _hits.get(name, 0) + 1
    if _hits[name] == int(nth or 1):
        sys.stderr.write(f"failpoint {name} hit, killing pid {os.getpid()}\n")
        sys.stderr.flush()
        os.kill(os.getpid(), SIGKILL)


def _pass(_name: str) -> None:
    return


#: Kills this process with SIGKILL when RECALL_FAILPOINT is `NAME` or `NAME#N` (the N-th time it is reached).
failpoint = _strike if os.environ.get("RECALL_FAILPOINT") else _pass
