"""A pipe where git reads a file makes git wait for ever. Wherever an agent or a test suite puts one, what others did
lands meanwhile, its own end is told, and its folder can be used again."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from recall.config.settings import WorkspaceSettings
from recall.domain.task import TaskRef
from recall.domain.work import Landed, PersonNeeded, Result
from tests.gitops.ground import TASK, gateway_for, settings_for
from tests.support.hermetic_git import Repo

IN_TREES = (".gitignore", ".gitattributes", "docs/.gitignore", "docs/deep/.gitattributes", ".git", "notes.txt")
IN_GIT_DIRS = (
    "HEAD", "index", "gitdir", "commondir", "locked", "config", "config.worktree", "packed-refs", "logs/HEAD",
    "MERGE_HEAD", "BISECT_START", "rebase-merge/head-name", "refs/heads/recall/main/T-1/1", "refs/stash",
    "objects/info/alternates",
)  # fmt: skip
SHARED = (
    "refs/heads/recall/main/T-1/1", "refs/heads/theirs", "refs/stash", "logs/HEAD", "logs/refs/heads/main",
    "info/exclude", "info/attributes", "hooks/pre-commit", "config", "config.worktree", "shallow", "MERGE_HEAD",
)  # fmt: skip
#: Each agent plants one; those that work side by side need one repository only.
PLACES: list[tuple[str, str, tuple[str, ...]]] = [
    *((kind, "tree", IN_TREES) for kind in ("worktree", "clone")),
    *((kind, "git dir", IN_GIT_DIRS) for kind in ("worktree", "clone")),
    *(("worktree", "shared", (name,)) for name in SHARED),
]


def plant(place: Path, *, link_to: Path | None = None) -> None:
    if place.is_dir():
        shutil.rmtree(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    if link_to is None:
        os.mkfifo(place)
    else:
        place.symlink_to(link_to)


@pytest.fixture
def user(repo: Repo) -> Repo:
    repo.commit("docs", {"docs/deep/page.md": "a page\n", ".gitignore": "*.log\n"})
    return repo


@pytest.mark.parametrize(("kind", "where", "names"), PLACES)
def test_wherever_an_agent_puts_it(user: Repo, kind: str, where: str, names: tuple[str, ...]) -> None:
    settings = replace(settings_for(user), workspaces=WorkspaceSettings(kind=kind))
    gateway = gateway_for(user, settings)
    honest = gateway.open_workspace(TaskRef("main", "T-2"), 1, 99)
    planters = {run_id: gateway.open_workspace(TASK, run_id, run_id) for run_id in range(1, len(names) + 1)}
    Repo(honest.tree).commit("honest", {"honest.txt": "1\n"})
    result = gateway.collect(honest, 99, "t")
    assert isinstance(result, Result)
    for planter, name in zip(planters.values(), names, strict=True):
        Repo(planter.tree).commit("planter", {"planter.txt": "1\n"})
        own = Path(Repo(planter.tree).git("rev-parse", "--path-format=absolute", "--git-dir"))
        plant({"tree": planter.tree, "git dir": own, "shared": user.git_dir}[where] / name)

    landed = gateway.land(merge_id=1, old=result.base, new=result.tip, reflog="test")
    assert isinstance(landed, Landed) or (where, names) == ("shared", ("MERGE_HEAD",)), landed
    gateway.close_workspace(honest, 99, landed=True)
    for run_id, planter in planters.items():
        gateway.collect(planter, run_id, "t")
        gateway.close_workspace(planter, run_id, landed=False)
    again = gateway_for(user, settings)
    again.tidy_workspaces([])
    for run_id in range(100, 101 + len(names)):
        tree = again.open_workspace(TaskRef("main", "T-3"), run_id, run_id).tree
        assert (tree / "docs/deep/page.md").read_text() == "a page\n"


@pytest.mark.parametrize("kind", ["worktree", "clone"])
@pytest.mark.parametrize("name", [".gitignore", ".gitattributes", "docs/new/.gitignore"])
def test_a_person_is_told_where_it_lies_and_the_work_is_kept(user: Repo, kind: str, name: str) -> None:
    gateway = gateway_for(user, replace(settings_for(user), workspaces=WorkspaceSettings(kind=kind)))
    workspace = gateway.open_workspace(TASK, 1, 7)
    (workspace.tree / "loose.txt").write_text("work\n")
    plant(workspace.tree / name)
    outcome = gateway.collect(workspace, 7, "t")
    assert isinstance(outcome, PersonNeeded)
    assert "pipes" in outcome.reason and outcome.paths == (name,)
    assert "refs/recall/parked/7" in gateway.close_workspace(workspace, 7, landed=False)
    assert user.file("loose.txt", "refs/recall/parked/7") == b"work\n"


@pytest.mark.parametrize("kind", ["worktree", "clone"])
@pytest.mark.parametrize("inside", ["nested/.git/HEAD", "nested/.git"])
def test_in_a_repository_inside(user: Repo, tmp_path: Path, kind: str, inside: str) -> None:
    """Git looks into whatever repository lies in a folder, or is named by a `.git` file there."""
    gateway = gateway_for(user, replace(settings_for(user), workspaces=WorkspaceSettings(kind=kind)))
    workspace = gateway.open_workspace(TASK, 1, 7)
    elsewhere = tmp_path / "elsewhere"
    subprocess.run(["git", "init", "-q", "--bare", str(elsewhere)], check=True)
    nested = workspace.tree / "nested"
    nested.mkdir()
    if inside.endswith("HEAD"):
        elsewhere.rename(nested / ".git")
        plant(nested / ".git/HEAD")
    else:
        plant(elsewhere / "HEAD")
        (nested / ".git").write_text(f"gitdir: {elsewhere}\n")
    assert isinstance(gateway.collect(workspace, 7, "t"), PersonNeeded)
    gateway.close_workspace(workspace, 7, landed=False)
    gateway.open_workspace(TaskRef("main", "T-2"), 1, 8)


@pytest.mark.parametrize("target", ["pipe", "/dev/zero"])
def test_a_link_to_it(user: Repo, tmp_path: Path, target: str) -> None:
    gateway = gateway_for(user)
    workspace = gateway.open_workspace(TASK, 1, 7)
    os.mkfifo(tmp_path / "pipe")
    plant(find_admin(user) / "HEAD", link_to=tmp_path / target)
    assert gateway.landing_hindrance(merge_id=1, old=user.tip("main"), new="0" * 40) is None
    gateway.open_workspace(TaskRef("main", "T-2"), 1, 8)
    assert isinstance(gateway.collect(workspace, 7, "t"), PersonNeeded)


def find_admin(user: Repo) -> Path:
    (admin,) = (user.git_dir / "worktrees").iterdir()
    return admin


def test_an_empty_device_that_a_person_linked_to_stays(user: Repo) -> None:
    exclude = user.git_dir / "info" / "exclude"
    exclude.unlink(missing_ok=True)
    exclude.symlink_to("/dev/null")
    gateway_for(user).open_workspace(TASK, 1, 7)
    assert exclude.is_symlink()


@pytest.mark.parametrize("name", [".gitignore", ".gitattributes", "docs/.gitattributes"])
def test_wherever_a_test_suite_puts_it(user: Repo, name: str) -> None:
    gateway = gateway_for(user)
    commit = user.tip("main")
    slot = gateway.open_slot(commit)
    plant(slot / name)
    changed = gateway.slot_changes(slot, commit)
    assert changed == ((".gitignore",) if name == ".gitignore" else ())
    killed = gateway.open_slot(commit)
    plant(killed / name)
    again = gateway_for(user).open_slot(commit)
    assert (again / ".gitignore").read_text() == "*.log\n"
    assert not (again / "docs/.gitattributes").exists()
