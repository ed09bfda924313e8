"""How fast and how fair claims are, against bare sqlite3 loops with the same lock file, pragmas and durability.

Pairs: 1, 4 and 12 processes claim all there is, each time in every way, the order changing from round to round.
`bare` writes the rows that a claim of Recall writes (task, run, event) into the same tables and does nothing else;
`least` moves one row of a small table of its own and writes an event. `ratio` is Recall's claims a second by those of
`bare` in the same round (goal: a median of 0.7 or more), `to least` the same by `least`. `unluckiest` is what the
process with the fewest claims got, by its fair share (goal: 0.5 or more). Duplicates end the benchmark.

Growth: one process claims from 1,000 tasks, from 100,000, and from 100,000 of which 98,000 stand in front and are
blocked. `growth` is the median claim by that among 1,000 (goal: 1.3 or less).

All ways wait for the disk at each commit (`synchronous=FULL`): --folder says which disk.

usage: python -m benchmarks.claims [--rounds 5] [--claims 1200] [--large 100000] [--folder DIR] [--json]
"""

from __future__ import annotations

import argparse
import fcntl
import itertools
import json
import multiprocessing
import os
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Protocol

from recall.domain.task import TaskRef, TaskSpec
from recall.store import open_store
from recall.store.connection import connect
from recall.system import SystemClock, SystemRng

PROCESSES = (1, 4, 12)
RATIO_GOAL, SHARE_GOAL, GROWTH_GOAL = 0.7, 0.5, 1.3
_LONG = 1e6
_GATE = TaskRef("main", "GATE")

_FIRST = """
SELECT region, id FROM tasks WHERE status = 'todo' AND unmet = 0 AND is_group = 0
ORDER BY priority DESC, behind DESC, position, region, id LIMIT 1
"""
_CLAIM = """
UPDATE tasks SET status = 'in_progress', lease_owner = :who, lease_version = lease_version + 1, lease_boot = 'bare',
  lease_expires = :expires WHERE region = :region AND id = :id AND status = 'todo' RETURNING lease_version
"""
_RUN = """
INSERT INTO runs (region, task, agent, owner, version, number, state, claimed_at)
VALUES (:region, :id, 'gate', :who, :version, 1, 'pulled', :wall)
"""
_EVENT = """
INSERT INTO events (at, actor, kind, region, task, agent, before, after)
VALUES (:wall, :who, 'task.claimed', :region, :id, 'gate', 'todo', 'in_progress')
"""

_LEAST_SCHEMA = """
CREATE TABLE task (id INTEGER PRIMARY KEY, status TEXT NOT NULL, priority INTEGER NOT NULL, unmet INTEGER NOT NULL,
  owner TEXT, version INTEGER NOT NULL DEFAULT 0, expires REAL, title TEXT);
CREATE INDEX task_ready ON task (priority DESC, id) WHERE status = 'todo' AND unmet = 0;
CREATE TABLE event (id INTEGER PRIMARY KEY, at REAL, kind TEXT, task INTEGER, owner TEXT);
"""
_LEAST_FIRST = "SELECT id FROM task WHERE status = 'todo' AND unmet = 0 ORDER BY priority DESC, id LIMIT 1"
_LEAST_CLAIM = """
UPDATE task SET status = 'in_progress', owner = :who, version = version + 1, expires = :expires
WHERE id = :id AND status = 'todo'
"""
_LEAST_EVENT = "INSERT INTO event (at, kind, task, owner) VALUES (:wall, 'claimed', :id, :who)"

Claimer = Callable[[], str | None]


class Way(Protocol):
    """A way of claiming. `build` makes a store of so many ready tasks, and blocked ones in front of them."""

    def build(self, folder: Path, ready: int, blocked: int) -> None: ...
    def opened(self, folder: Path, who: str) -> Generator[Claimer]:
        """Yield what claims the next task and gives its id, None when there is none."""
        ...


class Recall:
    def build(self, folder: Path, ready: int, blocked: int) -> None:
        gate = TaskSpec(_GATE.id, "keeps others waiting", priority=99)
        behind = [
            TaskSpec(f"B-{number}", f"blocked {number}", after=(_GATE,), priority=9) for number in range(blocked)
        ]
        free = [TaskSpec(f"T-{number}", f"task number {number}") for number in range(ready)]
        with closing(open_store(folder / "recall.db", SystemClock(), SystemRng())) as store:
            store.import_tasks("main", [gate, *behind, *free], actor="benchmark", cancel_vanished=False)
            store.claim(_GATE, "gate", "gate", _LONG, pulled=True)

    def opened(self, folder: Path, who: str) -> Generator[Claimer]:
        rng = SystemRng()
        with closing(open_store(folder / "recall.db", SystemClock(), rng, lock_timeout=60.0)) as store:

            def claim() -> str | None:
                won = store.claim_next(who, f"{who}-{rng.token()}", _LONG)
                return won.ref.id if won else None

            yield claim


class Bare(Recall):
    def opened(self, folder: Path, who: str) -> Generator[Claimer]:
        return _loop(folder / "recall.db", who, _claim_same_rows)


class Least:
    def build(self, folder: Path, ready: int, blocked: int) -> None:
        with closing(connect(folder / "least.db")) as connection:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            connection.executescript(_LEAST_SCHEMA)
            rows = [(9, 1, f"blocked {number}") for number in range(blocked)]
            rows += [(0, 0, f"task number {number}") for number in range(ready)]
            connection.execute("BEGIN")
            connection.executemany("INSERT INTO task (status, priority, unmet, title) VALUES ('todo', ?, ?, ?)", rows)
            connection.execute("COMMIT")

    def opened(self, folder: Path, who: str) -> Generator[Claimer]:
        return _loop(folder / "least.db", who, _claim_one_row)


BareClaim = Callable[[sqlite3.Connection, str], str | None]


def _loop(database: Path, who: str, body: BareClaim) -> Generator[Claimer]:
    """A claim as a bare loop makes it: lock, transaction, and now and then a checkpoint, as the store does."""
    lock = os.open(database.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    numbers = itertools.count(1)
    with closing(connect(database)) as connection:

        def claim() -> str | None:
            number = next(numbers)
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                connection.execute("BEGIN IMMEDIATE")
                won = body(connection, f"{who}-{number}")
                connection.execute("COMMIT")
                if number % 64 == 0:
                    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            finally:
                fcntl.flock(lock, fcntl.LOCK_UN)
            return won

        yield claim
    os.close(lock)


def _claim_same_rows(connection: sqlite3.Connection, who: str) -> str | None:
    for region, id_ in connection.execute(_FIRST).fetchall():
        values = {"region": region, "id": id_, "who": who, "expires": time.monotonic() + _LONG, "wall": time.time()}
        values["version"] = connection.execute(_CLAIM, values).fetchall()[0][0]
        connection.execute(_RUN, values)
        connection.execute(_EVENT, values)
        return str(id_)
    return None


def _claim_one_row(connection: sqlite3.Connection, who: str) -> str | None:
    for (id_,) in connection.execute(_LEAST_FIRST).fetchall():
        values = {"id": id_, "who": who, "expires": time.monotonic() + _LONG, "wall": time.time()}
        connection.execute(_LEAST_CLAIM, values)
        connection.execute(_LEAST_EVENT, values)
        return str(id_)
    return None


# -- measuring -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Part:
    """What one process did: what it won, and the seconds of each claim from asking to having."""

    start: float
    end: float
    won: list[str]
    seconds: list[float]


@dataclass(frozen=True, slots=True)
class Race:
    """What all processes did together, in claims a second and milliseconds."""

    claims: int
    rate: float
    p50: float
    p99: float
    longest: float
    unluckiest: float

    @classmethod
    def of(cls, parts: Sequence[Part]) -> Race:
        won = [id_ for part in parts for id_ in part.won]
        if len(set(won)) < len(won):
            raise SystemExit(f"{len(won) - len(set(won))} tasks were claimed twice")
        waits = sorted(1000 * seconds for part in parts for seconds in part.seconds)
        return cls(
            claims=len(won),
            rate=len(won) / (max(part.end for part in parts) - min(part.start for part in parts)),
            p50=waits[len(waits) // 2],
            p99=waits[min(len(waits) * 99 // 100, len(waits) - 1)],
            longest=waits[-1],
            unluckiest=min(len(part.won) for part in parts) * len(parts) / len(won),
        )


@dataclass(frozen=True, slots=True)
class Spread:
    """Least, median and greatest of the rounds."""

    least: float
    median: float
    greatest: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        return cls(min(values), statistics.median(values), max(values))

    def __str__(self) -> str:
        return "/".join(f"{value:.0f}" if value >= 100 else f"{value:.2f}" for value in asdict(self).values())


@contextmanager
def _place(parent: str | None) -> Generator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="recall-bench-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def _claim_all(way: Way, folder: Path, who: str, most: int, ready: Callable[[], object]) -> Part:
    """Claim until there is nothing more, or `most` is reached."""
    won, seconds = list[str](), list[float]()
    with contextmanager(way.opened)(folder, who) as claim:
        ready()
        start = now = time.monotonic()
        while len(won) < most and (id_ := claim()) is not None:
            before, now = now, time.monotonic()
            won.append(id_)
            seconds.append(now - before)
    return Part(start, now, won, seconds)


def _race(way: Way, claims: int, processes: int, parent: str | None) -> Race:
    spawn = multiprocessing.get_context("spawn")
    with _place(parent) as folder:
        way.build(folder, claims, 0)
        barrier = spawn.Barrier(processes)
        with spawn.Pool(processes, _meet_at, (barrier,)) as pool:
            jobs = [(way, folder, f"agent{number}", claims) for number in range(processes)]
            return Race.of(pool.starmap(_claim_in_step, jobs, chunksize=1))


def _meet_at(barrier: object) -> None:
    globals()["_barrier"] = barrier


def _claim_in_step(way: Way, folder: Path, who: str, most: int) -> Part:
    return _claim_all(way, folder, who, most, globals()["_barrier"].wait)


@dataclass(frozen=True, slots=True)
class Rounds:
    """What one way showed over all rounds."""

    rate: Spread
    p50: Spread
    p99: Spread
    longest: Spread
    unluckiest: Spread

    @classmethod
    def of(cls, races: Sequence[Race]) -> Rounds:
        names = [field.name for field in fields(cls)]
        return cls(*(Spread.of([getattr(race, name) for race in races]) for name in names))


@dataclass(frozen=True, slots=True)
class Comparison:
    """All ways with one number of processes."""

    processes: int
    ratio: Spread
    to_least: Spread
    recall: Rounds
    bare: Rounds
    least: Rounds

    def lines(self) -> list[str]:
        fast = _verdict(self.ratio.median >= RATIO_GOAL)
        fair = _verdict(self.recall.unluckiest.median >= SHARE_GOAL)
        ways = {"recall": self.recall, "bare": self.bare, "least": self.least}
        return [
            f"{self.processes} process{'es' if self.processes > 1 else ''}: ratio {self.ratio} "
            f"(goal {RATIO_GOAL:g} or more: {fast}), to least {self.to_least}, "
            f"unluckiest {self.recall.unluckiest} (goal {SHARE_GOAL:g} or more: {fair})",
            *(
                f"  {name:7} {way.rate} claims/s, ms p50 {way.p50}, p99 {way.p99}, longest {way.longest}, "
                f"unluckiest {way.unluckiest}"
                for name, way in ways.items()
            ),
        ]


def _verdict(met: bool) -> str:
    return "met" if met else "missed"


def compare(processes: int, claims: int, rounds: int, parent: str | None) -> Comparison:
    ways: dict[str, Way] = {"recall": Recall(), "bare": Bare(), "least": Least()}
    races: dict[str, list[Race]] = {name: [] for name in ways}
    for number in range(rounds):
        for name in [*ways][:: 1 if number % 2 else -1]:
            races[name].append(_race(ways[name], claims, processes, parent))
    return Comparison(
        processes,
        _ratio(races["recall"], races["bare"]),
        _ratio(races["recall"], races["least"]),
        *(Rounds.of(races[name]) for name in ways),
    )


def _ratio(subject: Sequence[Race], baseline: Sequence[Race]) -> Spread:
    return Spread.of([one.rate / other.rate for one, other in zip(subject, baseline, strict=True)])


@dataclass(frozen=True, slots=True)
class Growth:
    """The median claim of one process, in milliseconds, in stores of these sizes."""

    small: Spread
    large: Spread
    blocked: Spread
    large_growth: Spread
    blocked_growth: Spread

    def lines(self) -> list[str]:
        return [
            f"1,000 tasks         {self.small} ms",
            f"large               {self.large} ms, growth {self.large_growth} "
            f"(goal {GROWTH_GOAL:g} or less: {_verdict(self.large_growth.median <= GROWTH_GOAL)})",
            f"large, blocked      {self.blocked} ms, growth {self.blocked_growth} "
            f"(goal {GROWTH_GOAL:g} or less: {_verdict(self.blocked_growth.median <= GROWTH_GOAL)})",
        ]


def grow(large: int, rounds: int, parent: str | None) -> Growth:
    """Claim in turn from three stores that are built once, so that each round meets the same load."""
    way = Recall()
    sizes = {"small": (1000, 0), "large": (large, 0), "blocked": (large // 50, large - large // 50)}
    most = min(ready for ready, _ in sizes.values()) // rounds
    found: dict[str, list[float]] = {name: [] for name in sizes}
    with _place(parent) as folder:
        for name, (ready, blocked) in sizes.items():
            (folder / name).mkdir()
            way.build(folder / name, ready, blocked)
        for number in range(rounds):
            for name in sizes:
                part = _claim_all(way, folder / name, f"agent{number}", most, lambda: None)
                found[name].append(1000 * statistics.median(part.seconds))
    small, big, behind = found["small"], found["large"], found["blocked"]
    return Growth(
        Spread.of(small),
        Spread.of(big),
        Spread.of(behind),
        Spread.of([one / other for one, other in zip(big, small, strict=True)]),
        Spread.of([one / other for one, other in zip(behind, small, strict=True)]),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--claims", type=int, default=1200, help="how many tasks there are to claim in a race")
    parser.add_argument("--large", type=int, default=100_000, help="how many tasks the large stores have")
    parser.add_argument("--folder", help="where the stores are made")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    found: list[Comparison] = []
    for processes in PROCESSES:
        found.append(compare(processes, given.claims, given.rounds, given.folder))
        _say(found[-1].lines(), given.json)
    growth = grow(given.large, given.rounds, given.folder)
    _say(growth.lines(), given.json)
    if given.json:
        print(json.dumps({"pairs": [asdict(one) for one in found], "growth": asdict(growth)}, indent=2))


def _say(lines: Sequence[str], as_json: bool) -> None:
    if not as_json:
        print("\n".join(lines), flush=True)


if __name__ == "__main__":
    main()
