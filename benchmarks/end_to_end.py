"""A whole task list, from a fresh repository to the last file on main: Recall against the floor.

Both are started as programs on a fresh repository with the same agents. After every run main and its checkout
are looked at: a run that lost a task ends the benchmark.

usage: python -m benchmarks.end_to_end [--rounds 5] [--shape flat]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.floor import SHAPES
from benchmarks.pairs import interleaved, timed
from benchmarks.scene import BIN, Scene, run

GOAL = 3.0
AGENTS = 4
COUNTS = {"flat": 20, "diamond": 12, "chain": 12}


def recall(shape: str, folder: Path) -> float:
    scene = Scene.make(folder, SHAPES[shape](COUNTS[shape]), AGENTS)
    seconds = timed(lambda: run([str(BIN / "recall-tui"), "--no-ui", "--until-done"], scene.repository, scene.env))
    scene.check_all_landed()
    return seconds


def floor(shape: str, folder: Path) -> float:
    scene = Scene.make(folder, SHAPES[shape](COUNTS[shape]), AGENTS)
    argv = [sys.executable, "-m", "benchmarks.floor", str(folder), shape, str(COUNTS[shape]), str(AGENTS)]
    seconds = timed(lambda: run(argv, Path(__file__).parents[1], scene.env))
    scene.check_all_landed()
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--shape", choices=list(COUNTS), action="append")
    given = parser.parse_args()
    for shape in given.shape or COUNTS:
        with tempfile.TemporaryDirectory(prefix="recall-bench-") as place:
            folders = iter(Path(place, str(number)) for number in range(2 * given.rounds))
            found = interleaved(
                f"{shape}, {COUNTS[shape]} tasks, {AGENTS} agents",
                lambda: recall(shape, next(folders)),  # noqa: B023 - called within this turn of the loop
                lambda: floor(shape, next(folders)),  # noqa: B023
                given.rounds,
            )
        print(found.line(GOAL), flush=True)


if __name__ == "__main__":
    main()
