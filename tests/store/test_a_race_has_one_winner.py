"""Claims by processes that start at the same moment."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from recall.domain.task import TaskState
from recall.system import SystemClock
from tests.support.builders import import_specs, make_store, spec

ROOT = Path(__file__).parents[2]


@contextmanager
def claimants(database: Path, count: int) -> Generator[list[subprocess.Popen[str]], None, None]:
    """Start processes that have the store open and wait for their first line."""
    with ExitStack() as stack:
        processes = [stack.enter_context(_claimant(database, f"agent{number}")) for number in range(count)]
        for process in processes:
            assert _answer(process) == "ready"
        yield processes
        for process in processes:
            assert process.stdin is not None
            process.stdin.close()
        assert [process.wait(30) for process in processes] == [0] * count


def _claimant(database: Path, name: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.store.claimant", str(database), name],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _answer(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def race(processes: Sequence[subprocess.Popen[str]], *ids: str, lead: float = 0.002) -> list[list[str]]:
    """Let all processes try these tasks from the same moment of the monotonic clock on; gives what each won."""
    moment = time.monotonic() + lead
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(f"{moment} {' '.join(ids)}\n")
        process.stdin.flush()
    return [json.loads(_answer(process)) for process in processes]


def test_twelve_processes_share_out_eight_claimable_tasks(tmp_path: Path) -> None:
    free = [f"T-{number}" for number in range(1, 9)]
    blocked = [f"B-{number}" for number in range(1, 9)]
    with make_store(tmp_path, SystemClock()) as store:
        import_specs(store, *map(spec, free), *(spec(id_, "T-1") for id_ in blocked), spec("B-9", "B-1", "T-2"))
        with claimants(tmp_path / "state" / "recall.db", 12) as processes:
            won = race(processes, *(["next"] * 9), lead=0.05)
        handed_out = Counter(id_ for ids in won for id_ in ids)
        assert handed_out == Counter(free)
        in_progress = [task.id for task in store.tasks() if task.state is TaskState.IN_PROGRESS]
        assert in_progress == free
        told = [event.task for event in store.events_since(0) if event.kind == "task.claimed"]
        assert Counter(told) == Counter(free)
        assert len(store.open_runs()) == 8
        assert store.check() == []


def test_every_one_of_200_rounds_has_exactly_one_winner(tmp_path: Path) -> None:
    rounds = [f"T-{number}" for number in range(200)]
    with make_store(tmp_path, SystemClock()) as store:
        import_specs(store, *map(spec, rounds))
        with claimants(tmp_path / "state" / "recall.db", 8) as processes:
            winners = [[id_ for won in race(processes, id_) for id_ in won] for id_ in rounds]
        assert winners == [[id_] for id_ in rounds]
        assert store.check() == []


def test_explicit_claims_of_the_same_tasks_in_the_same_order_never_double(tmp_path: Path) -> None:
    ids = [f"T-{number}" for number in range(1, 9)]
    with make_store(tmp_path, SystemClock()) as store:
        import_specs(store, *map(spec, ids), spec("B-1", "T-1"))
        with claimants(tmp_path / "state" / "recall.db", 12) as processes:
            won = race(processes, "B-1", *ids, lead=0.05)
        assert Counter(id_ for each in won for id_ in each) == Counter(ids)
        assert {run.version for run in store.runs()} == {1}
