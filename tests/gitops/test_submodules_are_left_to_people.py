"""A submodule's commit changes by a person's hand only; agents may fill it, and what they do inside is not lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from recall.config.settings import WorkspaceSettings
from recall.domain.work import Landed, Rebased
from tests.gitops.ground import TASK, Ground, settings_for
from tests.support.hermetic_git import Repo

ALLOW = ("-c", "protocol.file.allow=always")
PATH = "vendor/lib"


@pytest.fixture
def library(tmp_path: Path, home: Path) -> Repo:
    library = Repo.create(tmp_path / "library")
    library.commit("first", {"lib.py": "1\n"})
    return library


@pytest.fixture(params=["worktree", "clone"])
def ground(request: pytest.FixtureRequest, repo: Repo, library: Repo) -> Ground:
    repo.git(*ALLOW, "submodule", "add", "-q", str(library.path), PATH)
    repo.commit("with a submodule")
    return Ground(repo, replace(settings_for(repo), workspaces=WorkspaceSettings(kind=str(request.param))))


def fill(repo: Repo) -> Repo:
    repo.git(*ALLOW, "submodule", "update", "--init", "-q")
    return Repo(repo.path / PATH)


def bump(repo: Repo, library: Repo) -> None:
    library.commit("second", {"lib.py": "2\n"})
    inner = Repo(repo.path / PATH)
    inner.git(*ALLOW, "fetch", "-q")
    inner.git("checkout", "-q", "origin/main")
    repo.commit("newer library")


def test_it_is_empty_at_first_and_nothing_of_it_lands(ground: Ground) -> None:
    assert list((ground.workspace.tree / PATH).iterdir()) == []
    assert ground.agent.status() == []
    ground.agent.write("work.py", "1\n")
    assert ground.result().leftovers == ("work.py",)


def test_filling_it_is_no_change_of_anything(ground: Ground) -> None:
    """Also where the user has not filled it: the agent's git then notes in the shared configuration where it is."""
    ground.repo.git("submodule", "deinit", "-q", "-f", PATH)
    ground.gateway.close_workspace(ground.workspace, 7, landed=False)
    workspace = ground.gateway.open_workspace(TASK, 2, 8)
    fill(Repo(workspace.tree))
    Repo(workspace.tree).write("work.py", "1\n")
    result = ground.gateway.collect(workspace, 8, "t")
    assert getattr(result, "leftovers", None) == ("work.py",), result
    ground.gateway.close_workspace(workspace, 8, landed=True)
    assert ground.gateway.open_workspace(TASK, 3, 9).slot == workspace.slot


def test_the_next_run_finds_it_empty_again(ground: Ground, library: Repo) -> None:
    fill(ground.agent)
    ground.agent.commit("work", {"work.py": "1\n"})
    ground.result()
    ground.gateway.close_workspace(ground.workspace, 7, landed=True)
    bump(ground.repo, library)
    again = ground.gateway.open_workspace(TASK, 2, 8)
    agent = Repo(again.tree)
    assert again.slot == ground.workspace.slot
    assert agent.status() == []
    assert list((again.tree / PATH).iterdir()) == []
    assert fill(agent).file("lib.py") == b"2\n"
    agent.commit("more", {"more.py": "1\n"})
    assert getattr(ground.gateway.collect(again, 8, "t"), "commits", None) == 1


def edit(inner: Repo) -> None:
    inner.write("lib.py", "edited\n")


def add(inner: Repo) -> None:
    inner.write("new.py", "new\n")


def commit(inner: Repo) -> None:
    inner.commit("inside", {"lib.py": "committed\n"})


@pytest.mark.parametrize("change", [edit, add, commit])
def test_work_inside_it_calls_a_person_and_stays(ground: Ground, change: object) -> None:
    inner = fill(ground.agent)
    assert callable(change)
    change(inner)
    ground.agent.write("work.py", "1\n")
    refused = ground.refusal()
    assert refused.paths == (PATH,)
    said = ground.gateway.close_workspace(ground.workspace, 7, landed=False)
    assert "left as it is" in said and PATH in said
    assert (
        inner.run("diff", "--quiet", "origin/main", check=False).returncode == 1 or (inner.path / "new.py").exists()
    )
    assert ground.gateway.open_workspace(TASK, 2, 8).slot != ground.workspace.slot


def test_files_where_it_should_be_call_a_person_and_stay(ground: Ground) -> None:
    ground.agent.write(f"{PATH}/stray.py", "1\n")
    assert ground.refusal().paths == (PATH,)
    assert "left as it is" in ground.gateway.close_workspace(ground.workspace, 7, landed=False)
    assert (ground.workspace.tree / PATH / "stray.py").exists()


@pytest.mark.parametrize("command", [("rm", "-q", PATH), ("mv", PATH, "elsewhere")])
def test_a_moved_or_removed_one_calls_a_person(ground: Ground, command: tuple[str, ...]) -> None:
    fill(ground.agent)
    ground.agent.git(*command)
    ground.agent.commit("change it")
    assert "submodules" in ground.refusal().reason


def test_a_new_commit_of_it_calls_a_person(ground: Ground, library: Repo) -> None:
    fill(ground.agent)
    bump(ground.agent, library)
    assert "submodules" in ground.refusal().reason


def test_one_that_the_user_works_in_is_left_alone_by_a_landing(ground: Ground) -> None:
    mine = Repo(ground.repo.path / PATH)
    mine.write("lib.py", "edited by the user\n")
    ground.agent.commit("work", {"work.py": "1\n"})
    result = ground.result()
    onto = ground.repo.tip("main")
    rebased = ground.gateway.rebase(base=result.base, tip=result.tip, onto=onto, trailers={})
    assert isinstance(rebased, Rebased)
    slot = ground.gateway.open_slot(rebased.candidate)
    assert ground.gateway.slot_changes(slot, rebased.candidate) == ()
    assert isinstance(ground.gateway.land(merge_id=1, old=onto, new=rebased.candidate, reflog="t"), Landed)
    assert (mine.path / "lib.py").read_text() == "edited by the user\n"
    assert (ground.repo.path / "work.py").exists()
