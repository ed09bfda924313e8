"""With Git LFS, agents, verification and the user's checkout see contents, commits hold pointers, and every content
is in the user's own LFS store."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from recall.config.settings import WorkspaceSettings
from recall.domain.receipts import DidNotHappen, Happened
from recall.domain.task import TaskRef
from recall.domain.work import Landed, PersonNeeded, Rebased, Result
from recall.gitops.pushing import Remote
from tests.gitops.ground import TASK, Ground, gateway_for, settings_for
from tests.support.hermetic_git import Repo
from tests.support.tools import need

POINTER = b"version https://git-lfs.github.com/spec/v1\n"


@pytest.fixture(autouse=True)
def lfs() -> None:
    need("git-lfs")


@pytest.fixture(params=["--local", "--global"])
def user(request: pytest.FixtureRequest, repo: Repo, home: Path) -> Repo:
    """A repository whose main holds one large file, and in whose folder `git lfs install` was said."""
    repo.git("lfs", "install", str(request.param).replace("--global", "--skip-repo"))
    repo.commit(
        "large", {".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "old.bin": b"old\0" * 1000}
    )
    assert repo.file("old.bin").startswith(POINTER)
    return repo


@pytest.fixture(params=["worktree", "clone"])
def ground(request: pytest.FixtureRequest, user: Repo) -> Ground:
    return Ground(user, replace(settings_for(user), workspaces=WorkspaceSettings(kind=str(request.param))))


def land(ground: Ground, base: str, tip: str) -> None:
    onto = ground.repo.tip("main")
    rebased = ground.gateway.rebase(base=base, tip=tip, onto=onto, trailers={})
    assert isinstance(rebased, Rebased)
    slot = ground.gateway.open_slot(rebased.candidate)
    assert (slot / "old.bin").read_bytes() == b"old\0" * 1000
    assert ground.gateway.slot_changes(slot, rebased.candidate) == ()
    landed = ground.gateway.land(merge_id=1, old=onto, new=rebased.candidate, reflog="t")
    assert isinstance(landed, Landed)


def test_contents_go_all_the_way(ground: Ground) -> None:
    tree = ground.workspace.tree
    assert (tree / "old.bin").read_bytes() == b"old\0" * 1000
    ground.agent.commit("work", {"new.bin": b"new\0" * 1000})
    assert ground.agent.file("new.bin").startswith(POINTER)
    ground.agent.write("left.bin", b"left\0" * 1000)
    ground.repo.commit("meanwhile", {"other.txt": "x"})
    result = ground.result()
    assert result.leftovers == ("left.bin",)
    assert ground.see().file("left.bin", result.tip).startswith(POINTER)
    land(ground, result.base, result.tip)
    for name in ("new", "left"):
        assert (ground.repo.path / f"{name}.bin").read_bytes() == f"{name}\0".encode() * 1000
        assert ground.repo.file(f"{name}.bin", "main").startswith(POINTER)
    assert ground.repo.status() == []
    assert ground.repo.git("lfs", "fsck") == "Git LFS fsck OK"
    ground.gateway.close_workspace(ground.workspace, 7, landed=True)
    again = ground.gateway.open_workspace(TASK, 2, 8)
    assert (again.tree / "left.bin").read_bytes() == b"left\0" * 1000
    assert Repo(again.tree).status() == []


def test_parked_work_keeps_its_contents(ground: Ground) -> None:
    ground.agent.write("left.bin", b"left\0" * 1000)
    assert "parked/7" in ground.gateway.close_workspace(ground.workspace, 7, landed=False)
    assert ground.repo.file("left.bin", "refs/recall/parked/7").startswith(POINTER)
    ground.repo.git("checkout", "-q", "refs/recall/parked/7")
    assert (ground.repo.path / "left.bin").read_bytes() == b"left\0" * 1000


def test_a_content_that_is_not_there_is_a_pointer_for_everybody(ground: Ground) -> None:
    """As after a clone with GIT_LFS_SKIP_SMUDGE, offline: nothing fails, nothing is fetched."""
    ground.agent.commit("work", {"new.txt": "x"})
    result = ground.result()
    shutil.rmtree(ground.repo.git_dir / "lfs" / "objects")
    onto = ground.repo.tip("main")
    rebased = ground.gateway.rebase(base=result.base, tip=result.tip, onto=onto, trailers={})
    assert isinstance(rebased, Rebased)
    slot = ground.gateway.open_slot(rebased.candidate)
    assert (slot / "old.bin").read_bytes().startswith(POINTER)
    assert ground.gateway.slot_changes(slot, rebased.candidate) == ()
    shutil.rmtree(ground.gateway.root / "ws")
    again = gateway_for(ground.repo, settings_for(ground.repo))
    again.tidy_workspaces([])
    assert (again.open_workspace(TASK, 2, 8).tree / "old.bin").read_bytes().startswith(POINTER)


@pytest.mark.parametrize("kind", ["worktree", "clone"])
def test_lfs_may_be_installed_while_agents_are_at_work(repo: Repo, home: Path, kind: str) -> None:
    """The filters of `git lfs install` are known programs, and new ones are no trap. The hooks that it puts into the
    shared git dir are for a person to see."""
    ground = Ground(repo, replace(settings_for(repo), workspaces=WorkspaceSettings(kind=kind)))
    repo.git("lfs", "install", "--skip-repo")
    repo.commit("large", {".gitattributes": "*.bin filter=lfs -text\n", "old.bin": b"old\0" * 1000})
    second = ground.gateway.open_workspace(TaskRef("main", "T-2"), 1, 8)
    assert (second.tree / "old.bin").read_bytes() == b"old\0" * 1000
    ground.agent.write("work.py", "1\n")
    outcome = ground.collect()
    if kind == "clone":
        assert isinstance(outcome, Result)
    else:
        assert isinstance(outcome, PersonNeeded)
        assert {name.partition("/")[0] for name in outcome.paths} == {"hooks", "config lfs.repositoryformatversion"}


def test_lfs_that_is_changed_or_taken_away_is_noticed(user: Repo) -> None:
    ground = Ground(user)
    is_local = user.run("config", "--local", "filter.lfs.clean", check=False).returncode == 0
    scope = "--local" if is_local else "--global"
    user.git("config", scope, "filter.lfs.clean", "cat")
    user.git("config", scope, "--unset", "filter.lfs.smudge")
    noticed = ground.refusal().paths
    assert [name.rpartition("config ")[2] for name in noticed] == ["filter.lfs.clean", "filter.lfs.smudge"]


@pytest.fixture
def origin(user: Repo, tmp_path: Path) -> Repo:
    origin = Repo.create(tmp_path / "origin.git", bare=True)
    user.git("remote", "add", "origin", str(origin.path))
    return origin


def test_contents_are_at_the_remote_with_what_points_to_them(user: Repo, origin: Repo) -> None:
    content, tip = b"old\0" * 1000, user.tip("main")
    assert isinstance(Remote(user.git_dir, "origin", "main").push(tip), Happened)
    assert origin.tip("main") == tip
    assert [file.read_bytes() for file in (origin.path / "lfs").rglob("*") if file.is_file()] == [content]


def test_what_has_no_content_here_is_not_pushed(user: Repo, origin: Repo) -> None:
    shutil.rmtree(user.git_dir / "lfs" / "objects")
    found = Remote(user.git_dir, "origin", "main").push(user.tip("main"))
    assert isinstance(found, DidNotHappen)
    assert "contents of Git LFS could not be uploaded: " in found.reason
    assert "old.bin" in found.reason
    assert origin.git("for-each-ref") == ""


def test_without_git_lfs_nothing_is_pushed(
    user: Repo, origin: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tip, git = user.tip("main"), shutil.which("git")
    assert git is not None
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").symlink_to(git)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    found = Remote(user.git_dir, "origin", "main").push(tip)
    assert isinstance(found, DidNotHappen)
    assert "git-lfs (https://git-lfs.com) is not installed here" in found.reason
    monkeypatch.undo()
    assert origin.git("for-each-ref") == ""
