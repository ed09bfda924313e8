"""Kill -9 at any point of opening or closing a workspace: the next start loses no work and goes on."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from recall.gitops import linked_worktrees, parking, shared_clones, workspaces
from tests.gitops import workspace_once
from tests.gitops.test_workspaces_are_reused_and_work_is_kept import T1, agent, make_pool, parked_file
from tests.support import forked
from tests.support.hermetic_git import Repo

pytestmark = pytest.mark.faults

ROOT = Path(__file__).parents[2]
MODULES = (workspaces, parking, linked_worktrees, shared_clones)
_OPENED = {f"workspace.{name}" for name in ("slot_taken", "base_pinned", "work_tree_made", "checked_out", "cleaned")}
_CLONED = _OPENED | {"clone.git_dir_removed", "clone.git_dir_made"}
_LEFT = {"workspace.work_kept", "workspace.base_unpinned"}
_PARKED = {"parking.committed", "parking.carried"}

#: The failpoints that the last step of each scene comes by.
PASSED: dict[tuple[str, str], set[str]] = {
    ("worktree", "fresh"): _OPENED,
    ("worktree", "reused"): _OPENED,
    ("worktree", "stray branch"): _OPENED | {"workspace.stray_kept"},
    ("worktree", "unlanded"): _LEFT | _PARKED | {"workspace.detached"},
    ("worktree", "landed"): _LEFT | {"workspace.detached"},
    ("worktree", "removed by hand"): _PARKED | {"workspace.registration_removed"},
    ("clone", "fresh"): _CLONED,
    ("clone", "reused"): _CLONED,
    ("clone", "stray branch"): _CLONED | {"workspace.stray_kept"},
    ("clone", "unlanded"): _LEFT | _PARKED | {"clone.git_dir_let_go"},
    ("clone", "landed"): _LEFT | {"clone.git_dir_let_go"},
}


#: Reached only by a run that goes on in another one's workspace; the fault tests come by there.
HANDING_OVER = {"workspace.base_pinned_again", "workspace.handed_over"}


def failpoints() -> set[str]:
    sources = (Path(str(module.__file__)).read_text() for module in MODULES)
    return {name for text in sources for name in re.findall(r'failpoint\("([\w.]+)"\)', text)} - HANDING_OVER


def killed_at(failpoint: str, *words: str) -> None:
    env = os.environ | {"RECALL_FAILPOINT": failpoint}
    ended = forked.run(f"{workspace_once.__name__}:main", *words, cwd=ROOT, env=env)
    assert ended.returncode == -9, f"{failpoint} was not reached: {ended.stderr!r}"


def prepare(repo: Repo, kind: str, scene: str) -> list[str]:
    """Bring a scene to its last step; gives the words of `workspace_once` for that."""

    def words(what: str, number: int, run_id: int) -> list[str]:
        return [what, str(repo.git_dir), str(repo.path / ".recall"), str(number), str(run_id), kind]

    pool = make_pool(repo, kind=kind)
    if scene == "stray branch":
        repo.switch("recall/main/T-1/1", create=True)
        repo.commit("precious", {"precious.py": "1\n"})
        repo.switch("main")
    if scene not in ("fresh", "stray branch"):
        workspace = pool.open(T1, 1, 11)
        agent(workspace).commit("work", {"work.py": "1\n"})
        workspace.tree.joinpath("loose.py").write_text("2\n")
        repo.git_dir.joinpath("recall", "base").write_text(workspace.base)
        if scene == "reused":
            pool.close(workspace, 11, landed=False)
            return words("open", 2, 12)
        if scene == "removed by hand":
            shutil.rmtree(workspace.folder)
            return words("tidy", 0, 0)
        return words(scene, 1, 11)
    return words("open", 1, 11)


def check(repo: Repo, kind: str, scene: str) -> None:
    """A start tidies up; then nothing is lost and a new run gets a workspace."""
    pool = make_pool(repo, kind=kind)
    pool.tidy([])
    if scene == "stray branch":
        assert "precious" in repo.git("log", "--all", "--format=%s")
    if scene in ("reused", "unlanded"):
        assert parked_file(repo, "refs/recall/parked/11", "loose.py") == b"2\n"
    if scene in ("reused", "unlanded") or (scene, kind) == ("removed by hand", "worktree"):
        assert repo.file("work.py", "refs/recall/parked/11") == b"1\n"
        assert kind == "clone" or repo.file("work.py", "recall/main/T-1/1") == b"1\n"
    again = pool.open(T1, 5, 15)
    assert agent(again).status() == []
    assert agent(again).tip() == repo.tip("main")
    assert agent(again).git("symbolic-ref", "HEAD") == "refs/heads/recall/main/T-1/5"
    assert len(repo.git("worktree", "list").splitlines()) == (2 if kind == "worktree" else 1)
    assert "prunable" not in repo.git("worktree", "list", "--porcelain")


@pytest.fixture
def passed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The failpoints that this process comes by."""
    names: list[str] = []
    for module in MODULES:
        monkeypatch.setattr(module, "failpoint", names.append)
    return names


def test_every_failpoint_is_passed_in_some_scene() -> None:
    assert set[str]().union(*PASSED.values()) == failpoints()


@pytest.mark.parametrize(("kind", "scene"), PASSED)
def test_a_kill_loses_no_work_and_leaves_no_stray(
    tmp_path: Path, home: Path, passed: list[str], kind: str, scene: str
) -> None:
    def repository(name: str) -> Repo:
        repo = Repo.create(tmp_path / name)
        repo.commit("start", {"code.py": "print(1)\n"})
        return repo

    last_step = prepare(repository("undisturbed"), kind, scene)
    passed.clear()
    workspace_once.do(*last_step)
    assert set(passed) == PASSED[kind, scene]
    for failpoint in sorted(PASSED[kind, scene]):
        repo = repository(failpoint)
        killed_at(failpoint, *prepare(repo, kind, scene))
        check(repo, kind, scene)
