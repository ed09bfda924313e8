"""`recall workspaces`: what is parked and why, brought back as a branch or as files, dropped on demand."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall.engine.ports import Store
from recall.gitops.slot_records import LEFT, SlotRecords
from tests.cli.conflict_ground import CONFIG, TASKS, Ground, meeting
from tests.cli.conftest import Recall, typed
from tests.support.hermetic_git import Repo
from tests.support.kept import Kept

BRANCH = "recall/main/T-2/1"


@pytest.fixture
def ground(repo: Repo, cli: Recall, monkeypatch: pytest.MonkeyPatch) -> Ground:
    repo.commit("set up", {"recall.toml": CONFIG, "TASKS.md": TASKS})
    monkeypatch.chdir(repo.path)
    assert cli("import").code == 0
    return Ground(repo)


@pytest.fixture
def parked(kept: Kept, home: Path, cli: Recall, monkeypatch: pytest.MonkeyPatch) -> Ground:
    """Run 2 was given up; its work is parked."""

    def give_up(ground: Ground) -> None:
        with monkeypatch.context() as there:
            there.chdir(ground.repo.path)
            assert cli("resolve", "T-2", "--give-up").code == 0

    task = {"x": "task\n", "more/big": "x" * 3000}
    ground = meeting(kept, "parked", {"x": "main\n"}, task, {"x": "x\n"}, give_up)
    monkeypatch.chdir(ground.repo.path)
    return ground


def names(cli: Recall) -> list[str]:
    return [row["name"] for row in cli("workspaces", "list", "--json").json]


def test_nothing_parked_is_said(ground: Ground, cli: Recall) -> None:
    assert ground.last_seq() > 0
    assert cli("workspaces").out == "nothing is parked\n"
    assert cli("workspaces", "list", "--json").json == []


def test_the_list_says_whose_it_is_why_how_large_and_how_old(parked: Ground, cli: Recall) -> None:
    (row,) = cli("workspaces", "list", "--json").json
    assert (row["name"], row["run_id"], row["task"], row["agent"]) == ("2", 2, "T-2", "ann")
    assert (row["ref"], row["files"], row["folder"]) == ("refs/recall/parked/2", 2, None)
    assert row["commit"] == parked.repo.tip("refs/recall/parked/2")
    assert 100 < row["bytes"] < 3000
    assert -1 <= row["age_s"] < 300
    for command in (["workspaces"], ["workspaces", "list"]):
        shown = cli(*command).out
        assert all(word in shown for word in ("T-2 (ann)", "ago", "2 files", "it did not land"))


def test_restored_as_a_branch_it_is_the_runs_own_commit(parked: Ground, cli: Recall) -> None:
    restored = cli("workspaces", "restore", "2")
    assert (restored.code, "git switch recall-restored/2" in restored.out) == (0, True)
    assert parked.repo.message("recall-restored/2").startswith("T-2: do it")
    assert parked.repo.file("x", "recall-restored/2") == b"task\n"
    assert names(cli) == ["2"]
    assert [event.kind for event in parked.events(parked.last_seq() - 1)] == ["workspace.restored"]
    again = cli("workspaces", "restore", "2")
    assert (again.code, "recall-restored/2 already" in again.err) == (1, True)


def test_what_was_never_committed_comes_back_with_it(ground: Ground, cli: Recall) -> None:
    ground.begin("T-1", "T-2")
    ground.finish("T-1", {"x": "main\n"})
    tree = next((ground.repo.path / ".recall" / "ws").glob("s2/tree"))
    ground.finish("T-2", {"x": "task\n"})
    (tree / "late").write_text("written at the last moment\n")
    ground.step()
    assert cli("resolve", "T-2", "--give-up").code == 0
    assert cli("workspaces", "restore", "2").code == 0
    assert ground.repo.file("late", "recall-restored/2") == b"written at the last moment\n"
    assert ground.repo.file("x", "recall-restored/2") == b"task\n"


def test_restored_to_a_folder_it_is_files_and_no_branch(parked: Ground, cli: Recall, tmp_path: Path) -> None:
    before = parked.repo.git("for-each-ref")
    assert cli("workspaces", "restore", "2", "--to", str(tmp_path / "look")).code == 0
    assert (tmp_path / "look" / "x").read_text() == "task\n"
    assert not (tmp_path / "look" / ".git").exists()
    assert parked.repo.git("for-each-ref") == before
    refused = cli("workspaces", "restore", "2", "--to", str(tmp_path / "look"))
    assert (refused.code, "not an empty folder" in refused.err) == (1, True)


def test_dropping_asks_and_a_no_keeps_it(parked: Ground, cli: Recall) -> None:
    for answer in ("n\n", ""):
        ended = typed(answer, "workspaces", "drop", "2")
        assert ended.code == 1
        assert "Drop it?" in ended.out
    assert parked.repo.has("refs/recall/parked/2")
    assert names(cli) == ["2"]


@pytest.mark.parametrize("yes", [True, False])
def test_dropped_it_is_gone_with_its_branch(parked: Ground, cli: Recall, yes: bool) -> None:
    commit = parked.repo.tip("refs/recall/parked/2")
    assert parked.repo.has(BRANCH)
    ended = cli("workspaces", "drop", "2", "--yes") if yes else typed("y\n", "workspaces", "drop", "2")
    assert (ended.code, commit[:12] in ended.out) == (0, True)
    assert names(cli) == []
    assert not parked.repo.has(BRANCH)
    assert parked.events(parked.last_seq() - 1)[0].kind == "workspace.dropped"
    assert parked.repo.has(commit)


@pytest.mark.parametrize("how", ["checked out", "grown"])
def test_a_branch_that_somebody_uses_stays(parked: Ground, cli: Recall, how: str) -> None:
    parked.repo.switch(BRANCH)
    if how == "grown":
        parked.repo.commit("more by hand", {"own": "x\n"})
        parked.repo.switch("main")
    tip = parked.repo.tip(BRANCH)
    assert cli("workspaces", "drop", "2", "--yes").code == 0
    assert parked.repo.tip(BRANCH) == tip


def test_unknown_work_is_refused(parked: Ground, cli: Recall) -> None:
    assert names(cli) == ["2"]
    for command in ("restore", "drop"):
        refused = cli("workspaces", command, "1")
        assert (refused.code, refused.err) == (1, "nothing is parked as 1; `recall workspaces` lists what is\n")


def test_work_of_a_run_that_is_not_over_is_not_dropped(ground: Ground, cli: Recall) -> None:
    ground.begin("T-1")
    ground.repo.git("update-ref", "refs/recall/parked/1", "HEAD")
    refused = cli("workspaces", "drop", "1", "--yes")
    assert (refused.code, "run 1 of T-1 is not over" in refused.err) == (1, True)
    assert ground.repo.has("refs/recall/parked/1")


def _leave(ground: Ground, store: Store) -> Path:
    """A workspace that could not be tidied: it holds a repository of its own."""
    assert store.runs()
    (tree,) = (ground.repo.path / ".recall" / "ws").glob("s1/tree")
    Repo.create(tree / "nested").commit("inner", {"x": "x"})
    return tree.parent


def test_a_folder_that_was_left_is_listed_and_dropped_on_demand(ground: Ground, cli: Recall) -> None:
    ground.begin("T-1")
    with ground.store() as store:
        folder = _leave(ground, store)
    assert cli("cancel", "T-1").code == 0
    with ground.engine():
        pass
    rows = {row["folder"]: row for row in cli("workspaces", "list", "--json").json}
    assert rows[str(folder)]["run_id"] == 1
    assert rows[str(folder)]["bytes"] > 0
    assert "nested" in rows[str(folder)]["why"]
    assert cli("workspaces", "drop", "1", "--yes").code == 0
    assert not (folder / "tree").exists()
    assert names(cli) == []
    state = ground.repo.git_dir / "recall"
    assert [slot for slot in SlotRecords(state).all().values() if slot.status == LEFT] == []
    assert str(folder) not in ground.repo.git("worktree", "list")


def test_a_workspace_in_use_is_never_listed(ground: Ground, cli: Recall) -> None:
    ground.begin("T-1", "T-2")
    assert names(cli) == []
