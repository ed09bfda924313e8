"""What ends something asks first, says what is kept, and takes away nothing that it did not name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from recall.domain.overview import Overview
from recall.domain.run import Claim, RunResult
from recall.domain.snapshot import Snapshot
from recall.domain.task import TaskState
from recall.ui.commands import COMMANDS
from recall.ui.context import Context
from tests.support.builders import spec
from tests.support.driver import Driver, Shop, driving, shop_in

_KEPT = "its work is kept under refs/recall/parked"


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Iterator[Shop]:
    """A project in which `ant` works on T-1 in a workspace; T-2 waits for its turn."""
    with shop_in(tmp_path, spec("T-1", title="Parse"), spec("T-2", title="Print")) as made:
        claim = made.store.claim(made.task("T-1").ref, "ant", "ant-1", 1e6)
        assert isinstance(claim, Claim)
        made.store.start_run(claim.run_id, claim.owner, claim.version, branch="recall/x", base="0" * 40, slot="s-1")
        (made.session.workspaces / "s-1" / "tree").mkdir(parents=True)
        yield made


def _at_t1(recall: Driver) -> Driver:
    recall.board.shows("Running")
    return recall.board.select("T-1")


def _last_result(shop: Shop) -> RunResult | None:
    return shop.store.runs(shop.task("T-1").ref)[-1].result


@pytest.mark.parametrize("command", ["hold", "cancel"])
def test_a_running_task_is_not_stopped_before_a_yes(shop: Shop, command: str) -> None:
    with driving(shop.session) as recall:
        _at_t1(recall).press(command)
        recall.screen.shows("T-1", "?", "(ant) is stopped", "its work is kept")
        recall.keys("n")
        recall.screen.hides("is stopped")
        assert shop.task("T-1").state is TaskState.IN_PROGRESS
        recall.press(command)
        recall.screen.shows("is stopped")
        recall.keys("y").wait(lambda: shop.task("T-1").state is not TaskState.IN_PROGRESS)
        assert _last_result(shop) is RunResult.CANCELLED


@pytest.mark.parametrize(("way", "state"), [("1", TaskState.ON_HOLD), ("2", TaskState.TODO)])
def test_a_run_is_stopped_without_giving_the_task_up(shop: Shop, way: str, state: TaskState) -> None:
    with driving(shop.session) as recall:
        _at_t1(recall).press("stop-run")
        recall.screen.shows("Stop the run of T-1?", "1  put the task on hold", "2  let it be started again")
        recall.keys(way).wait(lambda: shop.task("T-1").state is state)
        assert _last_result(shop) is RunResult.CANCELLED
        recall.board.select("T-2").press("stop-run").says("T-2 is not running")


def test_what_takes_nothing_away_does_not_ask(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.select("T-2").press("hold").wait(lambda: shop.task("T-2").state is TaskState.ON_HOLD)
        recall.press("raise").wait(lambda: shop.task("T-2").priority == 1)


@pytest.mark.parametrize(
    ("state", "command", "words"),
    [
        (TaskState.DONE, "requeue", "Do T-2 again? What it brought stays in main."),
        (TaskState.CANCELLED, "requeue", ""),
        (TaskState.TODO, "cancel", "Cancel T-2? Nothing of it runs; requeue brings it back."),
        (TaskState.LANDING, "cancel", f"Cancel T-2? It leaves the merge queue; {_KEPT}."),
        (TaskState.LANDING, "requeue", f"Start T-2 again from main as it is? It leaves the merge queue; {_KEPT}."),
    ],
)
def test_the_question_fits_what_is_under_way(shop: Shop, state: TaskState, command: str, words: str) -> None:
    overview = Overview("shop", "main", "", 0.0, True, "", "", Snapshot(0.0, (), (), ()), (), (), (), ())
    asked = next(one for one in COMMANDS if one.id == command).confirm
    assert asked(Context(overview, replace(shop.task("T-2"), state=state))) == words


# -- programs of the person's own ----------------------------------------------------------------------------------
def test_editor_and_shell_say_where_to_run_when_the_terminal_cannot_be_given_away(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", "edit --now")
    monkeypatch.setenv("SHELL", "/bin/dash")
    tree = shop.session.workspaces / "s-1" / "tree"
    with driving(shop.session) as recall:
        _at_t1(recall).press("editor").says(f"cd {tree} && edit --now .")
        recall.press("shell").says(f"cd {tree} && /bin/dash")
        recall.board.select("T-2").press("editor").says("has no workspace at the moment")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# Tasks\n\n## T-1 Parse\n\n## T-2 Print\n\n## T-3 New\n", "TASKS.md: 1 new"),
        ("# Tasks\n\n## T-1 Parse\n\n## T-2 Print\n- after: T-9\n", "TASKS.md:6:"),
        ("# Tasks\n\n## T-1 Parse\n", "TASKS.md: 1 vanished"),
    ],
)
def test_an_edited_list_counts_though_nobody_dispatches(
    shop: Shop, text: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def edited(_: object, argv: list[str], folder: Path) -> bool:
        """An app that is driven has no terminal to give to an editor."""
        return (folder / argv[-1]).write_text(text) > 0

    monkeypatch.setattr("recall.ui.acts.outside.run_outside", edited)
    with driving(shop.session) as recall:
        recall.board.shows("T-2")
        recall.press("edit").says(said)
        recall.wait(lambda: (shop.store.task(shop.task("T-1").ref._replace(id="T-3")) is not None) == ("T-3" in text))
        assert shop.task("T-2").state is TaskState.TODO


def test_the_palette_opens_with_a_key_and_gives_the_reason(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.select("T-2").press("palette")
        recall.screen.shows("Search for commands")
        recall.types("stop run")
        recall.screen.shows("stop run", "T-2 is not running")
        recall.keys("enter").says("T-2 is not running")
