"""Stands in for the shims of many runs in one process: holds their locks, as shims that live do, and writes
transcripts.

usage: python -m benchmarks.live_runs RUNS_FOLDER BYTES_A_SECOND WRITING_RUN,... SILENT_RUN,...
"""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import sys
import time
from pathlib import Path
from typing import BinaryIO

from recall.agents.process import boot_id, read_process

_STEP = 0.1
_LINES = (
    "Read src/config.py and found {n} places that use the old reader",
    "$ pytest -q tests/test_config_{n}.py",
    "....................................................................            [ {n}%]",
    "\x1b[32m+    return tomllib.loads(path.read_text())  # line {n}\x1b[0m",
    "src/parser.py:{n}: the default moved to config.py; the caller passes strict=True now, as the tests ask for",
)


def hold(folder: Path) -> int:
    """Hold a run's lock until this process ends."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    me = read_process(os.getpid())
    assert me is not None
    os.write(descriptor, json.dumps({"pid": me.pid, "start": me.start, "boot": boot_id()}).encode())
    return descriptor


def write(files: list[BinaryIO], rate: int) -> None:
    """Add to every transcript ten times a second, `rate` bytes a second together."""
    share = int(rate * _STEP / max(len(files), 1))
    numbers = itertools.count()
    due = time.monotonic()
    while True:
        for file in files:
            text = ""
            while len(text) < share:
                number = next(numbers)
                text += _LINES[number % len(_LINES)].format(n=number % 100) + "\n"
            file.write(text.encode())
            file.flush()
        due += _STEP
        time.sleep(max(0.0, due - time.monotonic()))


def main() -> None:
    runs, rate = Path(sys.argv[1]), int(sys.argv[2])
    writing, silent = ([part for part in given.split(",") if part] for given in sys.argv[3:5])
    held = [hold(runs / run) for run in (*writing, *silent)]
    for run in silent:
        (runs / run / "transcript").write_text("waiting for the model\n" * 200)
    print(f"holding {len(held)}", flush=True)
    write([(runs / run / "transcript").open("ab") for run in writing], rate)


if __name__ == "__main__":
    main()
