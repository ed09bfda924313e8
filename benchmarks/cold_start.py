"""What agents wait for when they call Recall: a whole command, against the start of Python with what it cannot do
without.

`recall outcome` reports to the live shim of a run and is answered; `recall next` claims a task in the store. The
baseline imports the same sqlite3 and click and does nothing.

usage: python -m benchmarks.cold_start [--rounds 15]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.pairs import interleaved, timed
from benchmarks.scene import BIN, Scene, environment, flat, run
from recall.agents.runner import ProcessRunner
from recall.domain.launch import RunSpec
from recall.system import SystemClock, SystemRng

GOAL = 1.6
_BASELINE = [sys.executable, "-c", "import sqlite3, click"]


@contextmanager
def live_run(folder: Path) -> Generator[Path]:
    """A run that waits under its shim; gives its slot."""
    slot, runs = folder / "slot", folder / "run"
    (slot / "tree").mkdir(parents=True)
    spec = RunSpec(
        run_id=1, folder=runs, argv=("/bin/sleep", "600"), cwd=slot / "tree", env=environment(folder), slot=slot,
        token=SystemRng().token(32), task="T-1", agent="a", after_report=600.0,
    )  # fmt: skip
    runner = ProcessRunner(SystemClock(), SystemRng())
    runner.start(spec)
    try:
        yield slot
    finally:
        runner.stop_and_wait(runs, "cancel")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="recall-bench-") as place:
        scene = Scene.make(Path(place, "scene"), flat(rounds + 2), agents=1)
        recall = str(BIN / "recall")

        def command(*args: str) -> float:
            return timed(lambda: run([recall, *args], scene.repository, scene.env))

        def baseline() -> float:
            return timed(lambda: run(_BASELINE, scene.repository, scene.env))

        os.environ.update(scene.env)
        with live_run(Path(place, "live")) as slot:
            report = ("outcome", "--slot", str(slot), "--result", "success")
            command(*report)
            print(interleaved("recall outcome", lambda: command(*report), baseline, rounds).line(GOAL), flush=True)
        command("import")
        command("next", "--agent", "a0")
        print(interleaved("recall next", lambda: command("next", "--agent", "a0"), baseline, rounds).line(GOAL))


if __name__ == "__main__":
    main()
