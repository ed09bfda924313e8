"""What it takes to leave the office open while 12 agents work: the real `recall-tui` in a real pseudo-terminal.

All 12 write to their logs, so times tick and hands type at each desk. The baseline is the main screen with the same
runs, before and after it; the timeline, which shows as little as any, tells what a screen takes at least. By itself
it takes two minutes.

usage: python -m benchmarks.office [--agents 12] [--seconds 15] [--tasks 300] [--size WIDTHxHEIGHT]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

from benchmarks.screen import claim_runs, opened, project, rest, say, writing
from benchmarks.terminal import Terminal

#: Bytes a second of all logs together.
RATE = 20_000
SHARE = 0.02


def share_of(screen: Terminal, seconds: float) -> tuple[float, int]:
    """The share of a core, and the bytes written a second, while nobody presses a key."""
    screen.settle(3)
    spent, began, written = screen.cpu_seconds(), time.perf_counter(), screen.written
    screen.settle(seconds)
    took = time.perf_counter() - began
    return (screen.cpu_seconds() - spent) / took, round((screen.written - written) / took)


def show(screen: Terminal, key: bytes, words: str) -> None:
    screen.press(key)
    if screen.seen(lambda picture: words in picture.text, 20) is None:
        raise RuntimeError(f"nothing shows {words!r}:\n{screen.picture.text}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--tasks", type=int, default=300)
    parser.add_argument("--size", default="120x40")
    given = parser.parse_args()
    width, height = (int(part) for part in given.size.split("x"))
    print(
        f"{given.agents} agents at work, {given.tasks} tasks, {given.size}; load {os.getloadavg()[0]:.1f}", flush=True
    )
    with (
        tempfile.TemporaryDirectory(prefix="recall-bench-") as place,
        project(Path(place), given.tasks, given.agents, 1) as scene,
    ):
        claim_runs(scene, given.agents, given.agents)
        with writing(scene, RATE), opened(scene, (width, height), hosts=False) as screen:
            rest(screen)
            before, _ = share_of(screen, given.seconds / 2)
            show(screen, b"t", "Timeline")
            least, _ = share_of(screen, given.seconds / 2)
            show(screen, b"q", "1 Tasks")
            show(screen, b"O", "Office")
            share, written = share_of(screen, given.seconds)
            show(screen, b"q", "1 Tasks")
            after, _ = share_of(screen, given.seconds / 2)
    say("the office, left open:", 100 * share, 100 * SHARE, "% of a core")
    baseline = (before + after) / 2
    print(f"  {written} bytes a second; against the main screen {baseline:.1%}: ratio {share / baseline:.2f}")
    print(f"  the timeline, as left open: {least:.1%}", flush=True)


if __name__ == "__main__":
    main()
