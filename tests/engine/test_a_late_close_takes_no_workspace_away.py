"""A run that is over comes late with its workspace: on real git, the next run's folder stays as it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from recall.gitops.gateway import GitGateway
from recall.gitops.locate import locate
from recall.system import SystemClock, SystemRng
from tests.engine.world import world_settings
from tests.support.builders import ref
from tests.support.hermetic_git import Repo


def test_closing_twice_leaves_the_next_run_its_folder(tmp_path: Path, repo: Repo) -> None:
    settings = replace(world_settings(repo.path), verify="true")
    git = GitGateway(locate(repo.path), settings, SystemClock(), SystemRng())
    git.prepare()
    first = git.open_workspace(ref("T-1"), 1, 1)
    (first.tree / "first.txt").write_text("one\n")
    git.close_workspace(first, 1, landed=False)
    second = git.open_workspace(ref("T-2"), 1, 2)
    assert second.folder == first.folder
    (second.tree / "second.txt").write_text("two\n")
    assert "not in use by run 1" in git.close_workspace(first, 1, landed=False)
    assert (second.tree / "second.txt").read_text() == "two\n"
    assert Repo(second.tree).git("symbolic-ref", "HEAD") == f"refs/heads/{second.branch}"
    assert repo.file("first.txt", "refs/recall/parked/1") == b"one\n"
    assert not repo.has("refs/recall/parked/2")
