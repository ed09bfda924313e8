"""Kill -9 at any point of a landing: the next start brings main forward and loses no edit of the user's."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import recall.gitops
from recall.domain.work import Landed
from tests.faults import landing_once
from tests.gitops.landing_scene import Scene, files, make_scene
from tests.support import forked
from tests.support.hermetic_git import Repo, make_home
from tests.support.tools import need

pytestmark = pytest.mark.faults

ROOT = Path(__file__).parents[2]
STATES = ("clean", "dirty", "unwatched")
RECOVERY = {f"landing.{name}" for name in ("locks_removed", "files_finished", "index_caught_up", "files_completed")}
CAUGHT_UP = {"landing.caught_up"}


def failpoints() -> set[str]:
    sources = Path(recall.gitops.__path__[0]).glob("*.py")
    return {name for file in sources for name in re.findall(r'failpoint\("(landing\.\w+)"\)', file.read_text())}


@dataclass(frozen=True)
class Template:
    """A scene that is copied for each kill, and what a checkout must hold in the end."""

    scene: Scene
    landed: dict[str, bytes]

    def copy(self, place: Path, state: str) -> Scene:
        shutil.copytree(self.scene.user.path, place, symlinks=True)
        user = Repo(place)
        if state == "unwatched":
            user.switch("feature", create=True)
        if state != "clean":
            user.write("other.txt", "edited\n")
        return Scene(user, self.scene.integration, self.scene.old, self.scene.new)

    def check(self, scene: Scene, state: str) -> None:
        """After a recovery: main has the commit, every file is right, the repository is whole."""
        outcome = scene.lander().recover(7, scene.old, scene.new)
        assert isinstance(outcome, Landed), outcome
        assert scene.main() == scene.new
        assert scene.user.status() == ([] if state == "clean" else [" M other.txt"])
        expected = self.landed if state != "unwatched" else files(self.scene.user.path)
        assert files(scene.user.path) == expected | ({} if state == "clean" else {"other.txt": b"edited\n"})
        assert not list(scene.user.git_dir.glob("**/*.lock"))
        assert scene.user.run("fsck", "--strict", "--no-dangling").returncode == 0


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    place = tmp_path_factory.mktemp("template")
    make_home(place / "home")
    repo = Repo.create(place / "repo")
    repo.commit("start", {"README.md": "hello\n", "TASKS.md": "# Tasks\n"})
    scene = make_scene(place, repo)
    return Template(scene, files(place / "elsewhere"))


def run_lander(scene: Scene, what: str, **env: str) -> subprocess.CompletedProcess[str]:
    words = [what, str(scene.user.git_dir), str(scene.integration), scene.old, scene.new]
    return forked.run(f"{landing_once.__name__}:main", *words, cwd=ROOT, env=os.environ | env)


def leave_half_done(scene: Scene) -> None:
    """What a kill in the middle of a move leaves: new files, a torn one, a missing one, and locks."""
    user = scene.user
    user.write("changed.txt", "one\ntwo\nthr")
    user.write("added.txt", "new\n")
    user.write("deep/er/added.txt", "")
    (user.path / "gone.txt").unlink()
    (user.path / "script.sh").unlink()
    for lock in ("index.lock", "HEAD.lock", "ORIG_HEAD.lock", "refs/heads/main.lock"):
        (user.git_dir / lock).touch()


# -- our own process is killed -------------------------------------------------------------------------------
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", sorted(failpoints() - RECOVERY - CAUGHT_UP))
def test_a_kill_between_two_steps_is_rolled_forward(
    tmp_path: Path, template: Template, state: str, name: str
) -> None:
    scene = template.copy(tmp_path / "user", state)
    ended = run_lander(scene, "land", RECALL_FAILPOINT=name)
    passed_by = {"landing.merged": ("clean", "unwatched"), "landing.ref_moved": ("clean", "dirty")}.get(name, ())
    assert ended.returncode == (0 if state in passed_by else -9), ended.stderr
    template.check(scene, state)


@pytest.mark.parametrize("state", ["clean", "dirty"])
@pytest.mark.parametrize("name", sorted(RECOVERY))
def test_a_kill_during_the_recovery_is_recovered_from(
    tmp_path: Path, template: Template, state: str, name: str
) -> None:
    scene = template.copy(tmp_path / "user", state)
    leave_half_done(scene)
    assert run_lander(scene, "recover", RECALL_FAILPOINT=name).returncode == -9
    template.check(scene, state)


def test_a_kill_while_a_late_checkout_catches_up_is_recovered_from(tmp_path: Path, template: Template) -> None:
    scene = template.copy(tmp_path / "user", "dirty")
    scene.user.git("fetch", "-q", str(scene.integration), scene.new)
    scene.user.git("update-ref", "refs/heads/main", scene.new)
    assert run_lander(scene, "recover", RECALL_FAILPOINT="landing.caught_up").returncode == -9
    template.check(scene, "dirty")


def test_locks_left_when_main_had_moved_already_are_removed(tmp_path: Path, template: Template) -> None:
    scene = template.copy(tmp_path / "user", "dirty")
    assert run_lander(scene, "land").stdout == "Landed\n"
    for lock in ("index.lock", "HEAD.lock"):
        (scene.user.git_dir / lock).touch()
    template.check(scene, "dirty")


def test_an_edit_made_after_the_kill_is_never_overwritten(tmp_path: Path, template: Template) -> None:
    scene = template.copy(tmp_path / "user", "dirty")
    leave_half_done(scene)
    scene.user.write("changed.txt", "mine now\n")
    assert run_lander(scene, "recover").stdout == "WaitingForCheckout\n"
    assert files(scene.user.path)["changed.txt"] == b"mine now\n"
    scene.user.git("checkout", "HEAD", "--", "changed.txt")
    template.check(scene, "dirty")


def test_a_lock_of_a_git_that_still_works_is_left_alone(tmp_path: Path, template: Template) -> None:
    scene = template.copy(tmp_path / "user", "clean")
    lock = scene.user.git_dir / "index.lock"
    lock.touch()
    with subprocess.Popen(["git", "cat-file", "--batch"], cwd=scene.user.path, stdin=subprocess.PIPE) as at_work:
        lander = scene.lander()
        outcome = lander.recover(7, scene.old, scene.new)
        assert type(outcome).__name__ == "WaitingForCheckout"
        assert lock.exists()
        assert at_work.stdin is not None
        at_work.stdin.close()
    template.check(scene, "clean")


# -- a git child is killed -----------------------------------------------------------------------------------
CALLS = (
    "openat",
    "write",
    "rename",
    "unlink",
    "link",
    "mkdir",
    "rmdir",
    "symlink",
    "chmod",
    "ftruncate",
    "fsync",
    "close",
)
POINTS = int(os.environ.get("RECALL_CRASHPOINTS", "14"))
WORD = {"clean": "send-pack", "dirty": "merge", "unwatched": "update-ref"}


def wrap_git(folder: Path, word: str, options: str, after: str) -> str:
    """Put a `git` into `folder` that runs calls with `word` under strace; gives the PATH to use."""
    folder.mkdir()
    real = shutil.which("git")
    (folder / "git").write_text(
        f'#!/bin/sh\nexport PATH="{os.environ["PATH"]}"\n'
        f'case " $* " in *" {word} "*) [ -e "{folder}/done" ] || {{ : > "{folder}/done"\n'
        f'strace -f {options} "{real}" "$@"; code=$?; {after}; exit $code; }};; esac\nexec "{real}" "$@"\n'
    )
    (folder / "git").chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def crash_points(scene: Scene, place: Path, state: str) -> list[tuple[str, int]]:
    """Every (system call, how many-th of its process) of a landing that changes something on disk."""
    path = wrap_git(place / "bin", WORD[state], f"-ff -o {place}/trace -e trace={','.join(CALLS)}", ":")
    assert run_lander(scene, "land", PATH=path).stdout == "Landed\n"
    found: dict[tuple[str, int], None] = {}
    for trace in sorted(place.glob("trace.*")):
        found.update(dict.fromkeys(_changing(trace.read_text(errors="replace").splitlines())))
    return sorted(found)


def _changing(lines: list[str]) -> Iterator[tuple[str, int]]:
    counts = dict.fromkeys(CALLS, 0)
    changing = re.compile(
        r"openat\(.*O_(CREAT|TRUNC|WRONLY|RDWR)|(write|close|fsync)\((?![012][,)])|(rename|unlink|link|mkdir|rmdir|symlink|chmod|ftruncate)\("
    )
    for line in lines:
        name = line.partition("(")[0]
        if name in counts:
            counts[name] += 1
            if changing.match(line):
                yield name, counts[name]


def spread(points: list[tuple[str, int]], count: int) -> list[tuple[str, int]]:
    if len(points) <= count:
        return points
    return [points[number * len(points) // count] for number in range(count)]


@pytest.fixture
def strace() -> None:
    need("strace")


@pytest.mark.timeout(1800)
@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("state", STATES)
def test_a_kill_at_a_system_call_of_git_is_rolled_forward(tmp_path: Path, template: Template, state: str) -> None:
    """Every second time the lander dies together with git, else it sees a child die and goes on."""
    (tmp_path / "record").mkdir()
    points = crash_points(template.copy(tmp_path / "recorded", state), tmp_path / "record", state)
    chosen = spread(points, POINTS)
    print(f"{len(chosen)} of {len(points)} crash points, {state}")
    for number, (call, nth) in enumerate(chosen):
        place = tmp_path / f"{call}-{nth}"
        place.mkdir()
        scene = template.copy(place / "user", state)
        inject = f"-o /dev/null -e trace={call} -e inject={call}:signal=KILL:when={nth}"
        path = wrap_git(place / "bin", WORD[state], inject, "kill -9 $PPID" if number % 2 else ":")
        run_lander(scene, "land", PATH=path)
        template.check(scene, state)
        shutil.rmtree(place)
