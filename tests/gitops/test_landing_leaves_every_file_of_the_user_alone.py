"""Main moves wherever it is checked out, or nothing moves and the message names the files."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from recall.domain.work import Landed, LandingOutcome, MainMoved, WaitingForCheckout
from recall.gitops.landing import Lander
from recall.system import SystemRng
from tests.support.hermetic_git import Repo

ODD_NAMES = ("with space.txt", 'quo"te.txt', "line\nfeed.txt", "日本語.txt", "Case.txt", "case.txt", "tab\there.txt")


@dataclass
class Scene:
    """A user's repository, and the dispatcher's own one, which alone holds the commit to land."""

    user: Repo
    integration: Path
    old: str
    new: str
    extra: dict[str, str] = field(default_factory=dict[str, str])

    def lander(self) -> Lander:
        return Lander(self.user.git_dir, self.integration, "main", SystemRng(), pause=lambda _: None)

    def land(self) -> LandingOutcome:
        return self.lander().land(7, self.old, self.new, "recall run-42 fence-3")

    def main(self) -> str:
        return self.user.tip("refs/heads/main")


def files(tree: Path) -> dict[str, bytes]:
    """Every file of a work tree, byte for byte (links as their targets)."""
    found: dict[str, bytes] = {}
    for where, folders, names in os.walk(tree):
        if ".git" in folders:
            folders.remove(".git")
        for name in names:
            path = Path(where, name)
            found[str(path.relative_to(tree))] = (
                b"-> " + os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
            )
    return found


@pytest.fixture
def scene(tmp_path: Path, repo: Repo) -> Scene:
    old = repo.commit(
        "base",
        {
            "changed.txt": "one\ntwo\n",
            "gone.txt": "bye\n",
            "other.txt": "mine\n",
            "folder/becomes-a-file": "x\n",
            "becomes-a-folder": "y\n",
            ".gitignore": "*.log\n",
        },
    )
    return make_scene(tmp_path, repo, old)


def make_scene(tmp_path: Path, repo: Repo, old: str) -> Scene:
    bare = tmp_path / "integration.git"
    repo.git("clone", "-q", "--bare", "--shared", str(repo.path), str(bare))
    work = tmp_path / "elsewhere"
    repo.git("clone", "-q", "--shared", str(repo.path), str(work))
    agent = Repo(work)
    for path in ("folder/becomes-a-file", "becomes-a-folder", "gone.txt"):
        (work / path).unlink()
    (work / "folder").rmdir()
    wanted = {
        "changed.txt": "one\ntwo\nthree\n",
        "added.txt": "new\n",
        "deep/er/added.txt": "new\n",
        "build.log": "log\n",
    }
    wanted |= {"folder": "a file now\n", "becomes-a-folder/inside": "z\n"} | dict.fromkeys(ODD_NAMES, "odd\n")
    for path, content in wanted.items():
        agent.write(path, content)
    agent.git("add", "-f", "build.log")
    (work / os.fsdecode(b"not-utf8-\xff.txt")).write_bytes(b"raw\n")
    (work / "link").symlink_to("changed.txt")
    new = agent.commit("work")
    agent.git("push", "-q", str(bare), "HEAD:refs/recall/candidate")
    return Scene(repo, bare, old, new)


def assert_landed(scene: Scene, outcome: LandingOutcome) -> None:
    assert isinstance(outcome, Landed), outcome
    assert scene.main() == scene.new
    assert not scene.user.git("for-each-ref", "refs/recall/landing")


def test_a_clean_checkout_comes_along(scene: Scene) -> None:
    assert_landed(scene, scene.land())
    assert scene.user.status() == []
    assert (scene.user.path / os.fsdecode(b"not-utf8-\xff.txt")).read_bytes() == b"raw\n"
    for name in ODD_NAMES:
        assert (scene.user.path / name).read_text() == "odd\n"
    assert scene.user.run("fsck", "--strict").returncode == 0
