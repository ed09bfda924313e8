"""Files of ours that somebody deletes by hand, under a running dispatcher or between two: said in words, and nothing
that an agent made is lost."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from recall.domain.run import RunResult
from recall.domain.task import DoneBy, TaskState
from tests.support.overheard import Overheard
from tests.support.workshop import Workshop, eventually

pytestmark = [pytest.mark.faults, pytest.mark.timeout(120)]

FIRST, SECOND = "## T-1 First", "## T-2 Second\n- after: T-1"


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Workshop:
    """A project whose agent has made a file and waits for `go` before it commits and reports."""
    shop = Workshop.create(tmp_path / "shop")
    waits = f'until [ -e "{shop.home}/go" ]; do sleep 0.05; done; '
    shop.agent("ant", 'echo "$TASK" > "$TASK.txt"; ' + waits + 'commit "$TASK: write"; success')
    shop.tasks(FIRST)
    shop.settle()
    return shop


def agents_file(shop: Workshop) -> bool:
    return any((shop.repo.path / ".recall").glob("ws/*/tree/T-1.txt"))


def let_the_agent_finish(shop: Workshop) -> None:
    (shop.home / "go").touch()


def database(shop: Workshop) -> None:
    for file in shop.state.glob("recall.db*"):
        file.unlink()


def database_replaced(shop: Workshop) -> None:
    shutil.copy(shop.state / "recall.db", shop.home / "older")
    (shop.home / "older").replace(shop.state / "recall.db")


def state_folder(shop: Workshop) -> None:
    shutil.rmtree(shop.state)


@pytest.mark.parametrize("delete", [database, database_replaced, state_folder])
def test_the_store_of_a_running_dispatcher(shop: Workshop, delete: Callable[[Workshop], None]) -> None:
    with shop.dispatching() as process:
        dispatcher = Overheard(process)
        eventually(lambda: agents_file(shop))
        delete(shop)
        assert dispatcher.ends() == 4
    assert "was deleted or replaced while this process had it open" in dispatcher.said
    assert "Traceback" not in dispatcher.said
    assert shop.strays(), "the agent works on"
    let_the_agent_finish(shop)
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert shop.repo.file("T-1.txt", "main") == b"T-1\n"
    assert shop.look()["T-1"].done_by is DoneBy.LANDED
    assert shop.strays() == []


def test_the_lock_of_a_running_dispatcher(shop: Workshop) -> None:
    with shop.dispatching() as process:
        dispatcher = Overheard(process)
        eventually(lambda: agents_file(shop))
        (shop.state / "dispatcher.lock").unlink()
        assert dispatcher.ends() == 4
    assert "dispatcher.lock was deleted" in dispatcher.said
    let_the_agent_finish(shop)
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert [run.result for run in shop.runs()] == [RunResult.LANDED], "the same run was adopted"


def test_the_workspace_of_a_running_agent(shop: Workshop) -> None:
    with shop.dispatching("--until-done") as process:
        dispatcher = Overheard(process)
        eventually(lambda: agents_file(shop))
        shutil.rmtree(shop.repo.path / ".recall")
        let_the_agent_finish(shop)
        assert dispatcher.ends() == 0
    assert "its workspace was deleted meanwhile" in dispatcher.said
    assert [run.result for run in shop.runs()] == [RunResult.ORPHANED, RunResult.LANDED]
    task = shop.look()["T-1"]
    assert (task.state, task.attempts, task.interruptions) == (TaskState.DONE, 0, 1)


def test_what_can_be_made_anew(shop: Workshop) -> None:
    let_the_agent_finish(shop)
    assert shop.dispatch().returncode == 0
    for folder in (".recall", ".git/recall/integration.git", ".git/recall/runs", ".git/recall/slots"):
        shutil.rmtree(shop.repo.path / folder)
    shop.tasks(FIRST, SECOND)
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert [run.result for run in shop.runs()] == [RunResult.LANDED, RunResult.LANDED]


def test_a_store_that_knows_what_is_done(shop: Workshop) -> None:
    """What has landed is not silently done again: a person says what counts, in the list."""
    let_the_agent_finish(shop)
    assert shop.dispatch().returncode == 0
    state_folder(shop)
    refused = shop.dispatch()
    assert refused.returncode == 2
    assert "the store is new, yet Recall has landed work on main before" in refused.stderr
    assert "of T-1)" in refused.stderr
    shop.tasks(FIRST + "\n- status: done", SECOND)
    assert shop.recall("import").returncode == 0
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert {task.id: task.done_by for task in shop.look().values()} == {"T-1": DoneBy.IMPORTED, "T-2": DoneBy.LANDED}
