"""A repository that cannot be written, a store that cannot be read, a limit that is reached: one sentence says what
was found and what to do; nothing is changed, and work goes on once it is mended."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from recall.domain.run import RunResult
from recall.domain.task import TaskState
from tests.support.disks import read_only
from tests.support.overheard import Overheard
from tests.support.workshop import Workshop, eventually

pytestmark = [pytest.mark.faults, pytest.mark.timeout(120)]

WORKS = 'echo "$TASK" > "$TASK.txt"; commit "$TASK: write"; success'
FIRST, SECOND = "## T-1 First", "## T-2 Second\n- after: T-1"


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Workshop:
    """A project in which T-1 has landed and T-2 was written down since."""
    shop = Workshop.create(tmp_path / "shop")
    shop.agent("ant", WORKS)
    shop.tasks(FIRST)
    shop.settle()
    landed = shop.dispatch()
    assert landed.returncode == 0, landed.stdout + landed.stderr
    shop.tasks(FIRST, SECOND)
    return shop


def check_refused(shop: Workshop, code: int, *words: str) -> None:
    """Dispatcher and command line say the same, in one sentence, and change nothing."""
    before = shop.repo.git("for-each-ref"), shop.repo.status()
    for ended in (shop.dispatch(), shop.recall("status")):
        assert ended.returncode == code, ended.stdout + ended.stderr
        assert len(ended.stderr.splitlines()) == 1, ended.stderr
        for word in words:
            assert word in ended.stderr
    assert (shop.repo.git("for-each-ref"), shop.repo.status()) == before


def check_goes_on(shop: Workshop) -> None:
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert {(task.state, task.attempts) for task in shop.look().values()} == {(TaskState.DONE, 0)}
    assert [run.result for run in shop.runs()] == [RunResult.LANDED, RunResult.LANDED]
    assert "T-2.txt" in shop.on_main()


@pytest.mark.usefixtures("mounts")
def test_a_read_only_repository(shop: Workshop) -> None:
    with read_only(shop.repo.path):
        check_refused(shop, 4, "Read-only file system", str(shop.state), "make the file system writable again")
    check_goes_on(shop)


def test_a_store_of_a_newer_recall(shop: Workshop) -> None:
    database = shop.state / "recall.db"
    with closing(sqlite3.connect(database)) as connection:
        version = connection.execute("PRAGMA user_version").fetchall()[0][0]
        connection.execute("PRAGMA user_version = 1000")
    check_refused(shop, 2, f"{database} has schema version 1000", "use the newer Recall that wrote it")
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    check_goes_on(shop)


@pytest.mark.parametrize("damage", [b"no database " * 1000, b"SQLite format 3\0" + b"\xff" * 8192])
def test_a_damaged_store(shop: Workshop, damage: bytes) -> None:
    database = shop.state / "recall.db"
    shop.recall("status")
    whole = database.read_bytes()
    database.write_bytes(damage)
    check_refused(shop, 4, f"the store {database} is damaged", "put a backup")
    assert database.read_bytes() == damage
    database.write_bytes(whole)
    check_goes_on(shop)


@pytest.mark.parametrize("count", [12, 22])
def test_descriptors_that_run_out(shop: Workshop, count: int) -> None:
    """Wherever they run out, nobody is blamed, no person is asked, a stop still ends, and the next start goes on."""
    settings = shop.repo.path / "recall.toml"
    settings.write_text(settings.read_text().replace('backoff = "0.1s"', 'backoff = "3s"'))
    with shop.dispatching(most_files=count) as process:
        dispatcher = Overheard(process)
        eventually(lambda: process.poll() is not None or "Too many open files" in dispatcher.said)
        ended_by_itself = process.poll() == 0
        dispatcher.stop()
    assert "Traceback" not in dispatcher.said
    if not ended_by_itself:
        assert "Too many open files" in dispatcher.said
        assert "ulimit -n" in dispatcher.said
    tasks = shop.look().values()
    assert {task.attempts for task in tasks} == {0}
    assert TaskState.NEEDS_PERSON not in {task.state for task in tasks}, [task.reason for task in tasks]
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "T-2.txt" in shop.on_main()
