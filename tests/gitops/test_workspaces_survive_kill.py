"""Kill -9 at any point of opening or closing a workspace: the next start loses no work and goes on."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import recall.gitops
from tests.gitops import workspace_once
from tests.gitops.test_workspaces_are_reused_and_work_is_kept import T1, agent, make_pool, parked_file
from tests.support.hermetic_git import Repo

pytestmark = pytest.mark.faults

ROOT = Path(__file__).parents[2]
KINDS = ("worktree", "clone")
SCENES = ("fresh", "reused", "stray branch", "unlanded", "landed", "removed by hand")


#: Reached only by a run that goes on in another one's workspace; the fault tests come by there.
HANDING_OVER = {"workspace.base_pinned_again", "workspace.handed_over"}


def failpoints() -> list[str]:
    names = ("workspaces.py", "parking.py", "linked_worktrees.py", "shared_clones.py")
    sources = (Path(recall.gitops.__path__[0]) / name for name in names)
    found = {name for file in sources for name in re.findall(r'failpoint\("([\w.]+)"\)', file.read_text())}
    return sorted(found - HANDING_OVER)


def run_once(repo: Repo, kind: str, what: str, number: int, run_id: int, failpoint: str) -> int:
    words = [what, str(repo.git_dir), str(repo.path / ".recall"), str(number), str(run_id), kind]
    return subprocess.run(
        [sys.executable, "-m", workspace_once.__name__, *words],
        cwd=ROOT, env=os.environ | {"RECALL_FAILPOINT": failpoint}, capture_output=True, check=False,
    ).returncode  # fmt: skip


def strike(repo: Repo, kind: str, scene: str, failpoint: str) -> bool:
    """Play a scene up to the failpoint; tells whether it was reached."""
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
            return run_once(repo, kind, "open", 2, 12, failpoint) == -9
        if scene == "removed by hand":
            shutil.rmtree(workspace.folder)
            return run_once(repo, kind, "tidy", 0, 0, failpoint) == -9
        return run_once(repo, kind, scene, 1, 11, failpoint) == -9
    return run_once(repo, kind, "open", 1, 11, failpoint) == -9


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


@pytest.mark.parametrize("failpoint", failpoints())
def test_a_kill_loses_no_work_and_leaves_no_stray(tmp_path: Path, home: Path, failpoint: str) -> None:
    reached: list[str] = []
    for kind, scene in itertools.product(KINDS, SCENES):
        repo = Repo.create(tmp_path / f"{kind}-{scene}".replace(" ", "-"))
        repo.commit("start", {"code.py": "print(1)\n"})
        if strike(repo, kind, scene, failpoint):
            reached.append(scene)
            check(repo, kind, scene)
    assert reached, "no scene comes by here"
