"""Other terminals beside a running dispatcher: a person takes a task away, a second dispatcher wants to start, one
comes after a crash."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from recall.domain.run import RunResult
from recall.domain.task import TaskState
from tests.faults.promises import add_witness, check_promises
from tests.support.workshop import Workshop, eventually

pytestmark = [pytest.mark.faults, pytest.mark.timeout(120)]


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Workshop:
    return Workshop.create(tmp_path)


def long_work(shop: Workshop) -> None:
    """An agent that leaves half a file, has a child of its own, and would take ten minutes; done at once when it is
    sent again."""
    shop.agent(
        "ant",
        add_witness(shop)
        + "again && { echo whole > whole.txt; success; exit; }\n"
        + 'echo half > half.txt; made half.txt; setsid sleep 600 & echo $! > "$0.child"; sleep 600',
    )
    shop.tasks("## T-1 Long")
    shop.settle()


def wait_for_work(shop: Workshop) -> list[int]:
    """Give the pids of the agent and its child once both are there."""
    child = shop.home / "agents" / "ant.sh.child"
    eventually(lambda: child.exists() and child.read_text().endswith("\n"))
    return [int((shop.home / "starts").read_text().split()[-1]), int(child.read_text())]


def gone(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


@pytest.mark.parametrize(("wish", "state"), [("cancel", TaskState.CANCELLED), ("hold", TaskState.ON_HOLD)])
def test_a_person_in_another_terminal_stops_a_run_at_once_and_its_work_is_kept(
    shop: Workshop, wish: str, state: TaskState
) -> None:
    long_work(shop)
    with shop.dispatching() as dispatcher:
        pids = wait_for_work(shop)
        asked = shop.recall(wish, "T-1")
        assert asked.returncode == 0, asked.stdout + asked.stderr
        since = time.monotonic()
        eventually(lambda: all(map(gone, pids)), 10.0)
        print(f"all processes were gone {time.monotonic() - since:.2f} s after `recall {wish}`")
        out, _ = dispatcher.communicate(timeout=30)
    assert dispatcher.returncode == (0 if wish == "cancel" else 1), out
    assert shop.strays() == []
    task = shop.look()["T-1"]
    assert (task.state, task.attempts, task.interruptions) == (state, 0, 0)
    assert [run.result for run in shop.runs()] == [RunResult.CANCELLED]
    assert shop.repo.file("half.txt", "refs/recall/parked/1") == b"half\n"
    assert len(shop.repo.git("worktree", "list").splitlines()) == 2


def test_a_task_that_was_held_while_it_ran_goes_on_when_it_is_released(shop: Workshop) -> None:
    long_work(shop)
    with shop.dispatching("--no-ui") as dispatcher:
        wait_for_work(shop)
        assert shop.recall("hold", "T-1").returncode == 0
        eventually(lambda: shop.strays() == [dispatcher.pid])
        assert shop.recall("unhold", "T-1").returncode == 0
        eventually(lambda: shop.look()["T-1"].state is TaskState.DONE)
    assert {"whole.txt"} <= shop.on_main()
    assert "half.txt" not in shop.on_main()


def test_of_many_dispatchers_that_start_at_once_one_works_and_the_others_name_it(shop: Workshop) -> None:
    gate = shop.home / "gate"
    work = f'while [ ! -e "{gate}" ]; do sleep 0.05; done; echo "$TASK" > "$TASK.txt"; made "$TASK.txt"; success'
    script = add_witness(shop) + work
    for name in ("ant", "bee"):
        shop.agent(name, script)
    shop.tasks("## T-1 First", "## T-2 Second")
    shop.settle()
    with ExitStack() as stack:
        started = [stack.enter_context(shop.dispatching()) for _ in range(4)]
        eventually(lambda: sum(one.poll() is not None for one in started) == 3)
        (winner,) = [one for one in started if one.poll() is None]
        gate.touch()
        for one in started:
            out, _ = one.communicate(timeout=60)
            assert one.returncode == (0 if one is winner else 3), out
            assert one is winner or ("another dispatcher" in out and "process 0" not in out)
    check_promises(shop, {}, dirty=False)


def test_a_lock_file_that_a_crash_left_behind_keeps_nobody_out(shop: Workshop) -> None:
    long_work(shop)
    with shop.dispatching() as first:
        pids = wait_for_work(shop)
    lock = shop.state / "dispatcher.lock"
    assert lock.read_text() == f"{first.pid}\n", "left as the crash left it"
    assert not any(map(gone, pids)), "agents outlive their dispatcher"
    with shop.dispatching() as second:
        eventually(lambda: lock.read_text() == f"{second.pid}\n")
        eventually(lambda: "its agent worked on while no dispatcher was there" in shop.reasons("run.adopted"))
        assert shop.recall("cancel", "T-1").returncode == 0
        eventually(lambda: all(map(gone, pids)))
        second.communicate(timeout=30)
    assert second.returncode == 0
    assert len(shop.runs()) == 1
