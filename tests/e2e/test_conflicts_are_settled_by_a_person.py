"""A conflict that waits for a person, from its reason to verified commits on main, with the real program."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from recall.domain.run import RunResult
from recall.domain.task import DoneBy, Task, TaskState
from tests.support.hermetic_git import Repo
from tests.support.kept import Kept
from tests.support.workshop import Workshop, eventually, until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

PERSON = '[merge]\nconflicts = "person"\n'
#: Both work on the same line at once; T-1 reports first, so T-2 meets it.
MEET = """\
if again; then
  printf '%s\\n' "$PROMPT" > "$GATE-told"
  echo "$TASK on $(cat README.md)" > README.md; commit "$TASK anew"; success; exit
fi
touch "$GATE-$TASK"
while [ "$(ls "$GATE"-T-* | wc -l)" -lt 2 ]; do sleep 0.05; done
echo "$TASK $(cat README.md)" > README.md
commit "$TASK: write"
if [ "$TASK" = T-2 ]; then while git -C "$ROOT" diff --quiet "$BASE" main -- README.md; do sleep 0.05; done; fi
success
"""


def two_agents(place: Path) -> Workshop:
    shop = Workshop.create(place, verify="grep -q hello README.md")
    shop.extra = PERSON
    names = f'GATE="{place / "gate"}"; ROOT="{shop.repo.path}"; BASE=$(git rev-parse HEAD)\n'
    for name in ("ant", "bee"):
        shop.agent(name, names + MEET)
    shop.tasks("## T-1 Parse the config", "## T-2 Validate input")
    shop.settle()
    return shop


def two_agents_met(kept: Kept) -> Workshop:
    """T-1 has landed, T-2 waits in conflict, no dispatcher runs."""

    def make(place: Path) -> None:
        ended = two_agents(place).dispatch()
        assert ended.returncode == 1, ended.stdout + ended.stderr
        assert "T-2: conflict with T-1 in README.md, 1 hunk" in ended.stdout

    place = kept("two-agents-that-met", make)
    return Workshop(place, Repo(place / "repo"))


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Workshop:
    return two_agents(tmp_path)


@pytest.fixture
def met(kept: Kept, home: Path) -> Workshop:
    return two_agents_met(kept)


def said(ended: subprocess.CompletedProcess[str]) -> str:
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def task(shop: Workshop) -> Task:
    return shop.look()["T-2"]


def finished(shop: Workshop) -> None:
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert (task(shop).state, task(shop).done_by) == (TaskState.DONE, DoneBy.LANDED)
    assert shop.repo.status() == []
    assert shop.strays() == []


def test_it_needs_a_person_and_says_whom_it_meets(met: Workshop) -> None:
    assert (task(met).state, task(met).attempts, task(met).interruptions) == (TaskState.NEEDS_PERSON, 0, 0)
    assert task(met).reason == "conflict with T-1 in README.md, 1 hunk"
    shown = said(met.recall("resolve", "T-2"))
    assert "T-2 Validate input" in shown
    assert "T-1 Parse the config" in shown
    assert "T-1 hello" in shown
    assert "T-2 hello" in shown
    assert "--take main|task" in shown


def test_taking_the_tasks_side_lands_after_verification(met: Workshop) -> None:
    assert "back in the merge queue" in said(met.recall("resolve", "T-2", "--take", "task"))
    assert (task(met).state, met.repo.file("README.md", "main")) == (TaskState.LANDING, b"T-1 hello\n")
    finished(met)
    assert met.repo.file("README.md", "main") == b"T-2 hello\n"
    message = met.repo.message("main")
    assert message.startswith("T-2: write")
    assert "Recall-Task: T-2" in message
    assert [run.result for run in met.runs()] == [RunResult.LANDED, RunResult.LANDED]
    assert met.repo.git("branch", "--list", "recall/*") == ""


def test_a_resolution_that_fails_verification_does_not_land(met: Workshop) -> None:
    folder = met.home / "by-hand"
    said(met.recall("resolve", "T-2", "--checkout", str(folder)))
    (folder / "README.md").write_text("broken\n")
    said(met.recall("resolve", "T-2", "--continue"))
    finished(met)
    assert met.runs()[1].result is RunResult.VERIFY_FAILED
    assert met.repo.file("README.md", "main").startswith(b"T-2 on T-1 hello")


def test_editing_it_by_hand(met: Workshop) -> None:
    folder = met.home / "by-hand"
    assert "--continue" in said(met.recall("resolve", "T-2", "--checkout", str(folder)))
    too_early = met.recall("resolve", "T-2", "--continue")
    assert too_early.returncode == 1
    assert "README.md:1: a conflict marker is left" in too_early.stderr
    assert "<<<<<<< main (T-1)" in (folder / "README.md").read_text()
    (folder / "README.md").write_text("T-1 and T-2 hello\n")
    said(met.recall("resolve", "T-2", "--continue"))
    finished(met)
    assert met.repo.file("README.md", "main") == b"T-1 and T-2 hello\n"


def test_a_running_dispatcher_lands_it_at_once(shop: Workshop) -> None:
    with shop.dispatching("--no-ui") as process:
        until(process, "conflict with T-1")
        said(shop.recall("resolve", "T-2", "--take", "task"))
        eventually(lambda: task(shop).state is TaskState.DONE)
    assert shop.repo.file("README.md", "main") == b"T-2 hello\n"


def test_main_may_move_on_meanwhile_without_a_new_conflict(met: Workshop) -> None:
    said(met.recall("resolve", "T-2", "--take", "task"))
    met.repo.commit("by hand", {"other.txt": "x\n"})
    finished(met)
    assert met.repo.file("README.md", "main") == b"T-2 hello\n"
    assert "other.txt" in met.on_main()


def test_it_conflicts_again_when_main_moved_at_the_same_place(met: Workshop) -> None:
    said(met.recall("resolve", "T-2", "--take", "task"))
    met.repo.commit("by hand", {"README.md": "person hello\n"})
    ended = met.dispatch()
    assert ended.returncode == 1
    assert "by hand" in task(met).reason
    said(met.recall("resolve", "T-2", "--take", "task"))
    finished(met)
    assert met.repo.file("README.md", "main") == b"T-2 hello\n"


def test_sent_back_the_next_attempt_hears_of_both_sides(met: Workshop) -> None:
    said(met.recall("resolve", "T-2", "--send-back", "ant"))
    assert (task(met).state, task(met).interruptions, task(met).attempts) == (TaskState.TODO, 0, 0)
    assert "ant" in said(met.recall("why", "T-2"))
    finished(met)
    assert [run.agent for run in met.runs()][2:] == ["ant"]
    told = (met.home / "gate-told").read_text()
    assert "T-1 (Parse the config)" in told
    assert "main has:\n\n```\nT-1 hello" in told
    assert "the earlier attempt had:\n\n```\nT-2 hello" in told
    assert met.repo.file("README.md", "main") == b"T-2 on T-1 hello\n"


def test_started_over_its_work_is_kept(met: Workshop) -> None:
    assert "refs/recall/parked/2" in said(met.recall("resolve", "T-2", "--restart"))
    assert met.repo.file("README.md", "refs/recall/parked/2") == b"T-2 hello\n"
    finished(met)
    assert met.repo.file("README.md", "main") == b"T-2 on T-1 hello\n"


def test_given_up_its_work_is_kept_and_comes_back_on_demand(met: Workshop) -> None:
    said(met.recall("resolve", "T-2", "--give-up"))
    assert task(met).state is TaskState.CANCELLED
    assert met.dispatch().returncode == 0
    assert "recall-restored/2" in said(met.recall("workspaces", "restore", "2"))
    assert met.repo.file("README.md", "recall-restored/2") == b"T-2 hello\n"
    assert met.repo.message("recall-restored/2").startswith("T-2: write")


def test_a_running_dispatcher_parks_what_is_given_up(shop: Workshop) -> None:
    with shop.dispatching("--no-ui") as process:
        until(process, "conflict with T-1")
        assert "the dispatcher parks" in said(shop.recall("resolve", "T-2", "--give-up"))
        eventually(lambda: shop.repo.has("refs/recall/parked/2"))
    assert shop.repo.file("README.md", "refs/recall/parked/2") == b"T-2 hello\n"


@pytest.mark.parametrize("conflicts", ["auto", "restart"])
def test_without_a_person_it_starts_over_and_still_says_whom_it_met(shop: Workshop, conflicts: str) -> None:
    settings = shop.repo.path / "recall.toml"
    settings.write_text(settings.read_text().replace('"person"', f'"{conflicts}"'))
    shop.repo.commit("conflicts", {})
    finished(shop)
    conflict = next(run for run in shop.runs() if run.result is RunResult.CONFLICT)
    assert conflict.reason == "conflict with T-1 in README.md, 1 hunk"
