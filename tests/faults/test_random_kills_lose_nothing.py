"""Kill -9 at random moments while three agents work: each agent works on, is adopted, and its work lands once."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from pathlib import Path

import pytest

from recall.domain.run import RunResult, RunState
from tests.faults.promises import add_dirt, add_witness, check_promises, versions
from tests.faults.scenes import TROUBLE
from tests.support.workshop import Workshop, eventually

pytestmark = [pytest.mark.faults, pytest.mark.timeout(120)]

KILLS = 5
TASKS = 8
#: More for a soak: every seed is another course of events.
SEEDS = range(1, 1 + int(os.environ.get("RECALL_SOAK", "1")))


def set_up(home: Path) -> Workshop:
    shop = Workshop.create(home, verify="sleep 0.1")
    script = add_witness(shop) + (
        'echo "$TASK" > "$TASK.txt"; made "$TASK.txt"; sleep 0.$((RANDOM % 9)); sleep 0.3; commit "$TASK: write"\n'
        'echo "more of $TASK" > "$TASK.more"; made "$TASK.more"; sleep 0.$((RANDOM % 9)); success'
    )
    for name in ("ant", "bee", "cat"):
        shop.agent(name, script)
    first = [f"## T-{number} Step {number}" for number in range(1, TASKS - 1)]
    shop.tasks(*first, f"## T-{TASKS - 1} Late\n- after: T-1, T-2", f"## T-{TASKS} Last\n- after: T-{TASKS - 1}")
    shop.settle()
    add_dirt(shop)
    return shop


def starts(shop: Workshop) -> list[tuple[str, int]]:
    """Task and run of every agent that ever began."""
    told = (shop.home / "starts").read_text().splitlines()
    return [(task, int(run_id)) for task, run_id, _ in map(str.split, told)]


def holds_the_lock(shop: Workshop, pid: int) -> bool:
    lock = shop.state / "dispatcher.lock"
    return lock.exists() and lock.read_text().strip() == str(pid)


def kill_once(shop: Workshop, seconds: float) -> set[int]:
    """Kill a dispatcher that many seconds after it began to work; gives the runs under way."""
    with shop.dispatching() as dispatcher:
        eventually(lambda: holds_the_lock(shop, dispatcher.pid))
        time.sleep(seconds)
    with shop.store() as store:
        return {run.id for run in store.open_runs() if run.state is RunState.RUNNING}


def kill_often(shop: Workshop, chance: random.Random) -> tuple[set[int], dict[str, int]]:
    """Gives all runs that were under way at a kill, and the versions at the last one."""
    adopted: set[int] = set()
    before: dict[str, int] = {}
    for number in range(1, KILLS + 1):
        running = kill_once(shop, chance.uniform(0.1, 1.2))
        print(f"kill {number}: {len(running)} runs went on alone")
        adopted |= running
        now = versions(shop)
        assert all(now[id_] >= version for id_, version in before.items())
        before = now
    return adopted, before


@pytest.mark.parametrize("seed", SEEDS)
def test_agents_outlive_every_kill_and_their_work_lands_once(tmp_path: Path, home: Path, seed: int) -> None:
    shop = set_up(tmp_path)
    adopted, before = kill_often(shop, random.Random(seed))
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    check_promises(shop, before)
    assert set(Counter(task for task, _ in starts(shop)).values()) == {1}, "an agent's work was done again"
    results = {run.id: run.result for run in shop.runs()}
    assert {results[run_id] for _, run_id in starts(shop)} == {RunResult.LANDED}
    landed = sum(results[run_id] is RunResult.LANDED for run_id in adopted)
    print(f"{KILLS} kills survived, {landed} of {len(adopted)} runs under way were adopted and landed")
    assert adopted


@pytest.mark.parametrize("seed", SEEDS)
def test_kills_in_the_midst_of_trouble_break_no_promise(tmp_path: Path, home: Path, seed: int) -> None:
    """Conflicts, red trees, failures and parked files at the same time."""
    shop = TROUBLE.set_up(tmp_path)
    adopted, before = kill_often(shop, random.Random(seed))
    ended = shop.dispatch()
    assert ended.returncode == 1, ended.stdout + ended.stderr
    check_promises(shop, before, waiting=TROUBLE.waiting)
    print(f"{KILLS} kills survived, {len(adopted)} runs under way were adopted, {len(shop.runs())} runs in all")
