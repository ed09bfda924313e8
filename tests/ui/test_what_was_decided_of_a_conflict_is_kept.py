"""What a person decided of a conflict is there the next time, whatever others did meanwhile, and when the same lines
meet again."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from recall.domain.merge import MergeState
from recall.domain.task import TaskState
from recall.ui.session import Session, open_session
from tests.cli.conflict_ground import CONFIG, TASKS, Ground, meeting
from tests.support.builders import ref
from tests.support.driver import Driver, driving
from tests.support.hermetic_git import Repo
from tests.support.kept import Kept
from tests.support.pilot import NARROW, WIDE

pytestmark = pytest.mark.timeout(120)

LINES = "".join(f"line {number}\n" for number in range(1, 31))
MAIN = LINES.replace("line 5\n", "main 5\n").replace("line 20\n", "main 20\n")
TASK = LINES.replace("line 5\n", "task 5\n").replace("line 20\n", "task 20\n")


@pytest.fixture
def ground(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Ground:
    repo.commit("set up", {"recall.toml": CONFIG, "TASKS.md": TASKS})
    monkeypatch.chdir(repo.path)
    return Ground(repo)


@pytest.fixture
def met(kept: Kept, home: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    """T-2 is in conflict with T-1, which has landed: `x` has two hunks."""
    ground = meeting(kept, "two-hunks", {"x": MAIN}, {"x": TASK}, {"x": LINES})
    monkeypatch.chdir(ground.repo.path)
    return ground


@pytest.fixture
def session(met: Ground) -> Generator[Session]:
    with open_session(met.repo.path) as session:
        yield session


def opened(recall: Driver, task: str = "T-2") -> Driver:
    recall.board.select(task).press("conflict")
    recall.screen.shows("CONFLICT", f"CONFLICT  {task}")
    return recall


def typed(recall: Driver, text: str) -> None:
    recall.keys("e")
    recall.screen.shows("ctrl+s keeps it")
    recall.types(text).keys("ctrl+s")
    recall.screen.shows("result: edited").hides("ctrl+s keeps it")


def test_it_is_there_again_after_leaving(session: Session) -> None:
    with driving(session) as recall:
        typed(opened(recall), "mine")
        recall.keys("escape")
        recall.board.shows("T-2")
        opened(recall).screen.shows("1 of 2 decided", "mine", "result: edited")


def test_a_text_that_was_not_kept_is_there_when_the_hunk_is_written_again(session: Session) -> None:
    with driving(session) as recall:
        opened(recall).keys("e")
        recall.types("half a thought").keys("escape")
        recall.screen.shows("0 of 2 decided").hides("half a thought")
        recall.keys("e")
        recall.screen.shows("half a thought")


def test_a_conflict_that_somebody_else_resolved_is_said_and_takes_nothing_away(met: Ground, session: Session) -> None:
    with driving(session) as recall:
        typed(opened(recall), "mine")
        assert isinstance(session.desk("somebody").take_hunks(ref("T-2"), "x", ["both", "task"]), str)
        recall.says("T-2 is in no conflict: it is queued in the merge queue", "What you typed is in")
        recall.screen.shows("What you decided stays here", "mine", "1 of 2 decided")
        (draft,) = (session.state / "drafts").iterdir()
        assert draft.read_text() == "== x, hunk 1\nminemain 5\ntask 5\n"
        recall.keys("j", "1", "a").says("T-2 is in no conflict")
        recall.screen.shows("CONFLICT", "2 of 2 decided")
        recall.keys("escape")
        recall.board.shows("T-2")
    assert met.entry().state is MergeState.QUEUED


def test_what_still_fits_is_kept_when_it_meets_main_anew(met: Ground, session: Session) -> None:
    with driving(session) as recall:
        typed(opened(recall), "mine")
        recall.keys("j", "2")
        assert isinstance(session.desk("somebody").take_hunks(ref("T-2"), "x", ["task", "task"]), str)
        recall.screen.shows("What you decided stays here")
        met.repo.commit("by hand", {"x": MAIN.replace("main 20\n", "by hand 20\n")})
        met.step()
        recall.says("T-2 meets main anew: R shows it")
        recall.keys("R").says("0 of your 2 decisions fit and are kept")
        recall.screen.shows("by hand 20", "still open")
        recall.keys("1").keys("a").says("T-2 is resolved")
    met.step()
    assert met.task().state is TaskState.DONE


def test_another_decision_of_somebody_else_takes_nothing_away(met: Ground, session: Session) -> None:
    with driving(session) as recall:
        typed(opened(recall), "mine")
        assert isinstance(session.desk("somebody").check_out(ref("T-2"), met.repo.path.parent / "out"), str)
        recall.keys("j", "2")
        recall.screen.shows("all decided")
        recall.keys("a").says("T-2 is resolved")
    assert met.entry().state is MergeState.QUEUED


def test_sent_back_to_another_agent_with_every_hunk(met: Ground, session: Session) -> None:
    with driving(session) as recall:
        opened(recall).keys("s")
        recall.screen.shows("Send T-2 back", "1  any agent", "2  ann, who wrote it")
        recall.keys("2").says("T-2 goes back to ann")
        recall.board.shows("T-2")
    assert met.task().sent_to == "ann"
    assert all(words in met.task().brief for words in ("main 5", "task 5", "main 20", "task 20"))


def test_a_click_on_a_side_takes_it_and_a_click_on_a_key_is_the_key(session: Session) -> None:
    with driving(session) as recall:
        opened(recall)
        recall.click("task 5")
        recall.screen.shows("result: task", "1 of 2 decided")
        recall.click("main 5")
        recall.screen.shows("result: main")
        recall.click("j/k hunk")
        recall.screen.shows("hunk 2/2")
        recall.click("3 both  e edit")
        recall.screen.shows("result: both", "all decided")


@pytest.mark.parametrize("size", [NARROW, WIDE, (200, 60)])
def test_both_sides_and_the_keys_are_in_sight(session: Session, size: tuple[int, int]) -> None:
    with driving(session) as recall:
        opened(recall).resize(*size)
        recall.screen.shows(
            "main 5", "task 5", "result", "1 main", "2 task", "s send back", "esc leave", "? keys", "hunk 1/2"
        )
        recall.keys("question_mark")
        recall.screen.shows("Keys of the conflict workbench", "Take over what you edited in that folder.")


def test_hostile_names_and_lines_stay_text(ground: Ground) -> None:
    path, line = "[@click=app.quit]\x1b[2J", "[/b] \x1b]0;owned\x07 [@click=app.quit] {}\n"
    ground.meet({path: f"main {line}"}, {path: f"task {line}"}, {path: line})
    with open_session(ground.repo.path) as session, driving(session) as recall:
        opened(recall).screen.shows("[@click=app.quit]", "main [/b]", "task [/b]")
        recall.keys("2", "e")
        recall.screen.shows("ctrl+s keeps it")
        recall.keys("escape", "s").screen.shows("any agent")
        recall.keys("escape", "o").screen.shows("run this in a terminal")
        assert all(mark not in recall.screen.text for mark in ("\x1b", "\x07"))


# -- remembered ----------------------------------------------------------------------------------------------------
@pytest.fixture
def again(ground: Ground) -> Ground:
    """T-3 meets what T-2 met in its first hunk, and something else in its second."""
    ground.repo.commit("before", {"x": LINES})
    ground.begin("T-1", "T-2", "T-3")
    ground.finish("T-1", {"x": MAIN})
    ground.finish("T-2", {"x": TASK.replace("task 20", "main 20")})
    ground.finish("T-3", {"x": TASK})
    ground.step()
    with open_session(ground.repo.path) as session:
        assert isinstance(session.desk("person").take_hunks(ref("T-2"), "x", ["both"]), str)
    return ground


def test_the_same_hunk_is_offered_its_resolution_and_taken_with_a_key(again: Ground) -> None:
    with open_session(again.repo.path) as session, driving(session) as recall:
        opened(recall, "T-3").screen.shows("remembered from T-2, ", "4 takes it, 0 does not", "0 of 2 decided")
        recall.keys("j").screen.hides("remembered from")
        recall.keys("k", "4")
        recall.screen.shows("result: remembered", "1 of 2 decided").hides("0 does not")
        recall.keys("j", "1", "a").says("T-3 is resolved")
    assert again.entry("T-3").state is MergeState.QUEUED


def test_a_remembered_resolution_can_be_refused(again: Ground, tmp_path: Path) -> None:
    with open_session(again.repo.path) as session, driving(session) as recall:
        opened(recall, "T-3").screen.shows("remembered from T-2")
        recall.keys("0").screen.hides("remembered from")
        recall.keys("4").says("nothing is remembered of what is in view")
        recall.keys("1").screen.shows("result: main")
        recall.keys("0").screen.shows("0 of 2 decided")
