"""A disk that fills up at any stage: one sentence that says so, nothing half written, and work that goes on by itself
once there is room."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall.domain.run import RunResult
from recall.domain.task import TaskState
from recall.store import open_store
from recall.system import SystemClock, SystemRng
from tests.support.disks import Disk
from tests.support.overheard import Overheard
from tests.support.workshop import Workshop, eventually

pytestmark = [pytest.mark.faults, pytest.mark.timeout(120)]

WORKS = 'echo "$TASK" > "$TASK.txt"; commit "$TASK: write"; success'


def shop_at(place: Path, *, min_free: str, state: Path | None = None, workspaces: Path | None = None) -> Workshop:
    shop = Workshop.create(place)
    shop.extra = f'[store]\nmin_free = "{min_free}"\n' + (f'state_dir = "{state}"\n' if state else "")
    shop.extra += f'[workspaces]\nroot = "{workspaces}"\n' if workspaces else ""
    shop.tasks("## T-1 First", "## T-2 Second\n- after: T-1")
    return shop


def check_nothing_was_lost(shop: Workshop, state: Path, said: str) -> None:
    assert "Traceback" not in said
    assert {"T-1.txt", "T-2.txt"} <= shop.on_main()
    shop.repo.git("fsck", "--strict")
    assert shop.repo.status() in ([], [" M TASKS.md"])
    store = open_store(state / "recall.db", SystemClock(), SystemRng())
    try:
        tasks, runs = store.tasks(), store.runs()
        assert store.check() == []
    finally:
        store.close()
    assert {(task.state, task.attempts) for task in tasks} == {(TaskState.DONE, 0)}
    # a start that met the full disk is an interruption: it costs nothing and is tried again
    assert [run.result for run in runs if run.result is not RunResult.ORPHANED] == [RunResult.LANDED] * 2


def test_at_an_import_and_a_claim(tmp_path: Path, disk: Disk, home: Path) -> None:
    state = disk.path / "state"
    shop = shop_at(tmp_path / "shop", min_free="0B", state=state)
    shop.tasks("## T-1 First")
    shop.agent("ant", WORKS)
    shop.settle()
    with shop.dispatching("--grace", "1s") as process:
        dispatcher = Overheard(process)
        dispatcher.says("task done")
        disk.fill()
        shop.tasks("## T-1 First", "## T-2 Second\n- after: T-1")
        dispatcher.says("trouble: no space is left for the store")
        disk.free()
        dispatcher.says("task done")
        assert dispatcher.stop() == 0
    check_nothing_was_lost(shop, state, dispatcher.said)


def test_at_an_agents_output(tmp_path: Path, disk: Disk, home: Path) -> None:
    """The disk fills with what the agent prints; its run, its report and its work are kept."""
    state = disk.path / "state"
    shop = shop_at(tmp_path / "shop", min_free="0B", state=state)
    shop.agent("ant", '[ "$TASK" = T-2 ] || head -c 40m /dev/zero; ' + WORKS)
    shop.settle()
    with shop.dispatching("--grace", "1s") as process:
        dispatcher = Overheard(process)
        dispatcher.says("trouble: ")
        (state / "runs" / "1" / "transcript").unlink()
        dispatcher.says("T-2         task done")
        assert dispatcher.stop() == 0
    assert "no space is left for the store" in dispatcher.said
    check_nothing_was_lost(shop, state, dispatcher.said)


def test_at_a_verification_whose_red_then_means_nothing(tmp_path: Path, disk: Disk, home: Path) -> None:
    state = tmp_path / "state"
    shop = shop_at(disk.path / "shop", min_free="1MiB", state=state)
    once = disk.path / "once"
    shop.verify = f"[ -e {once} ] || {{ : > {once}; {disk.filling}; }}; head -c 900K /dev/zero > junk && rm junk"
    shop.agent("ant", WORKS)
    shop.settle()
    with shop.dispatching("--grace", "1s") as process:
        dispatcher = Overheard(process)
        dispatcher.says("nothing new starts: less than 1 MiB is free")
        eventually(lambda: "red, but less than 1 MiB is free" in shop.recall("queue").stdout)
        disk.free()
        dispatcher.says("T-2         task done")
        assert dispatcher.stop() == 0
    check_nothing_was_lost(shop, state, dispatcher.said)


def test_at_a_landing(tmp_path: Path, disk: Disk, home: Path) -> None:
    state, once = tmp_path / "state", tmp_path / "once"
    shop = shop_at(disk.path / "shop", min_free="0B", state=state, workspaces=tmp_path / "workspaces")
    shop.verify = f"[ -e {once} ] || {{ : > {once}; {disk.filling}; }}"
    shop.agent("ant", "head -c 300000 /dev/urandom > large; " + WORKS)
    shop.settle()
    with shop.dispatching("--grace", "1s") as process:
        dispatcher = Overheard(process)
        dispatcher.says("No space left on device")
        assert "T-1.txt" not in shop.on_main()
        disk.free()
        dispatcher.says("T-2         task done")
        assert dispatcher.stop() == 0
    check_nothing_was_lost(shop, state, dispatcher.said)


def test_an_agent_that_fails_for_want_of_room_is_not_blamed(tmp_path: Path, disk: Disk, home: Path) -> None:
    shop = shop_at(disk.path / "shop", min_free="1MiB", state=tmp_path / "state")
    once = tmp_path / "once"
    shop.agent("ant", f"[ -e {once} ] || {{ : > {once}; {disk.filling}; exit 1; }}; " + WORKS)
    shop.settle()
    with shop.dispatching("--grace", "1s") as process:
        dispatcher = Overheard(process)
        dispatcher.says("no report; exit code 1, but less than 1 MiB is free on the disk of")
        disk.free()
        dispatcher.says("T-2         task done")
        assert dispatcher.stop() == 0
    store = open_store(tmp_path / "state" / "recall.db", SystemClock(), SystemRng())
    try:
        first = store.tasks()[0]
    finally:
        store.close()
    assert (first.state, first.attempts, first.interruptions) == (TaskState.DONE, 0, 1)


def test_before_the_start(tmp_path: Path, disk: Disk, home: Path) -> None:
    state = disk.path / "state"
    shop = shop_at(tmp_path / "shop", min_free="0B", state=state)
    shop.agent("ant", WORKS)
    shop.settle()
    disk.fill()
    refused = shop.dispatch()
    assert refused.returncode == 4
    assert "free some" in refused.stderr
    assert "Traceback" not in refused.stderr
    asked = shop.recall("status")
    assert asked.returncode == 4
    assert f"no space is left for the store {state}" in asked.stderr
    disk.free()
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    check_nothing_was_lost(shop, state, ended.stdout)


def test_nothing_is_claimed_below_the_mark(tmp_path: Path, disk: Disk, home: Path) -> None:
    state = disk.path / "state"
    shop = shop_at(tmp_path / "shop", min_free="8MiB", state=state)
    shop.agent("ant", WORKS)
    shop.settle()
    disk.fill(leave=4 * 1024 * 1024)
    waiting = shop.dispatch()
    sentence = f"nothing new starts: less than 8 MiB is free on the disk of {state}; free some space"
    assert waiting.returncode == 1
    assert waiting.stdout.count(sentence) == 2, "once as trouble, once at the end"
    assert sentence in shop.recall("status").stdout
    disk.free()
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    check_nothing_was_lost(shop, state, ended.stdout)
