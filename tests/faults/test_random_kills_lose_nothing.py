"""Kill -9 at random moments while three agents work: each agent works on, is adopted, and its work lands once."""

from __future__ import annotations

import random
import time
from collections import Counter
from pathlib import Path

import pytest

from recall.domain.run import RunResult, RunState
from tests.faults.promises import add_dirt, add_witness, check_promises, versions
from tests.support.workshop import Workshop, eventually

pytestmark = [pytest.mark.faults, pytest.mark.timeout(120)]

KILLS = 5
TASKS = 8


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


@pytest.mark.parametrize("seed", [1, 2])
def test_agents_outlive_every_kill_and_their_work_lands_once(tmp_path: Path, home: Path, seed: int) -> None:
    chance = random.Random(seed)
    shop = set_up(tmp_path)
    before: dict[str, int] = {}
    adopted: set[int] = set()
    for number in range(1, KILLS + 1):
        with shop.dispatching() as dispatcher:
            eventually(lambda pid=dispatcher.pid: holds_the_lock(shop, pid))
            time.sleep(chance.uniform(0.1, 1.2))
        with shop.store() as store:
            running = {run.id for run in store.open_runs() if run.state is RunState.RUNNING}
        print(f"kill {number}: {len(running)} runs went on alone")
        adopted |= running
        now = versions(shop)
        assert all(now[id_] >= version for id_, version in before.items())
        before = now
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    check_promises(shop, before)
    assert set(Counter(task for task, _ in starts(shop)).values()) == {1}, "an agent's work was done again"
    results = {run.id: run.result for run in shop.runs()}
    assert {results[run_id] for _, run_id in starts(shop)} == {RunResult.LANDED}
    landed = sum(results[run_id] is RunResult.LANDED for run_id in adopted)
    print(f"{KILLS} kills survived, {landed} of {len(adopted)} runs under way were adopted and landed")
    assert adopted
