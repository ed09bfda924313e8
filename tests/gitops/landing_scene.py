"""A user's repository with a commit ready to land that adds, changes, deletes and swaps files and folders."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from recall.domain.work import Landed, LandingOutcome, WaitingForCheckout
from recall.gitops.landing import Lander
from recall.system import SystemRng
from tests.support.hermetic_git import Repo
from tests.support.kept import Kept

ODD_NAMES = ("with space.txt", 'quo"te.txt', "line\nfeed.txt", "日本語.txt", "Case.txt", "case.txt", "tab\there.txt")
NOT_UTF8 = os.fsdecode(b"not-utf8-\xff.txt")


@dataclass(frozen=True)
class Scene:
    """`user` has main at `old` checked out; only `integration` holds `new`."""

    user: Repo
    integration: Path
    old: str
    new: str
    main_tree: Path | None = None

    def lander(self) -> Lander:
        common = Path(self.user.git("rev-parse", "--path-format=absolute", "--git-common-dir"))
        return Lander(
            common,
            self.integration,
            "main",
            SystemRng(),
            main_tree=self.main_tree,
            pause=lambda _: None,
            patience=5.0,
        )

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
        for name in (*names, *(folder for folder in folders if Path(where, folder).is_symlink())):
            path = Path(where, name)
            content = b"-> " + os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
            found[str(path.relative_to(tree))] = content
    return found


def make_scene(place: Path, repo: Repo) -> Scene:
    old = repo.commit(
        "base",
        {
            "changed.txt": "one\ntwo\n",
            "gone.txt": "bye\n",
            "other.txt": "mine\n",
            "folder/becomes-a-file": "x\n",
            "becomes-a-folder": "y\n",
            "script.sh": "echo\n",
            ".gitignore": "*.log\n",
        },
    )
    bare = place / "integration.git"
    repo.git("clone", "-q", "--bare", "--shared", str(repo.path), str(bare))
    repo.git("clone", "-q", "--shared", str(repo.path), str(place / "elsewhere"))
    agent = Repo(place / "elsewhere")
    _change(agent)
    new = agent.commit("work")
    agent.git("push", "-q", str(bare), "HEAD:refs/recall/candidate")
    return Scene(repo, bare, old, new)


def kept_scene(kept: Kept) -> Scene:
    """The scene, made once and put back."""

    def make(place: Path) -> None:
        repo = Repo.create(place / "repo")
        repo.commit("start", {"README.md": "hello\n", "TASKS.md": "# Tasks\n"})
        make_scene(place, repo)

    place = kept("landing", make)
    user, bare = Repo(place / "repo"), place / "integration.git"
    user.git("update-index", "-q", "--refresh")  # the files are new ones, with the same contents
    return Scene(user, bare, user.tip("main"), Repo(bare).tip("refs/recall/candidate"))


def _change(agent: Repo) -> None:
    tree = agent.path
    for path in ("folder/becomes-a-file", "becomes-a-folder", "gone.txt"):
        (tree / path).unlink()
    (tree / "folder").rmdir()
    wanted = {
        "changed.txt": "one\ntwo\nthree\n",
        "added.txt": "new\n",
        "deep/er/added.txt": "new\n",
        "build.log": "log\n",
    }
    wanted |= {"folder": "a file now\n", "becomes-a-folder/inside": "z\n"} | dict.fromkeys(ODD_NAMES, "odd\n")
    for path, content in wanted.items():
        agent.write(path, content)
    (tree / NOT_UTF8).write_bytes(b"raw\n")
    (tree / "link").symlink_to("changed.txt")
    (tree / "script.sh").chmod(0o755)
    agent.git("add", "-f", "build.log")


def assert_landed(scene: Scene, outcome: LandingOutcome) -> None:
    """Main is there, nothing of the landing is left, and the repository is whole."""
    assert isinstance(outcome, Landed), outcome
    assert scene.main() == scene.new
    assert scene.user.git("for-each-ref", "refs/recall/landing") == ""
    assert scene.user.run("fsck", "--strict", "--no-dangling").returncode == 0


def assert_waits(scene: Scene, *names: str) -> WaitingForCheckout:
    """Nothing moves, no file changes, and the message names exactly these files."""
    before = _looks(scene.user)
    outcome = scene.land()
    assert isinstance(outcome, WaitingForCheckout), outcome
    assert outcome.paths == names
    assert outcome.reason
    assert scene.main() == scene.old
    assert _looks(scene.user) == before
    return outcome


def _looks(user: Repo) -> tuple[dict[str, bytes], list[str], bytes]:
    return files(user.path), user.status(), (user.git_dir / "HEAD").read_bytes()
