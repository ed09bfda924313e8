"""The user's own git works in the same checkout while a landing is under way."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recall.domain.work import Landed, WaitingForCheckout
from recall.gitops.landing import Lander
from recall.system import SystemRng
from tests.gitops.landing_scene import Scene, assert_landed, files, kept_scene
from tests.support.kept import Kept

Interpose = Callable[[str, str, str], None]


@pytest.fixture
def scene(kept: Kept, home: Path) -> Scene:
    return kept_scene(kept)


@pytest.fixture
def interpose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Interpose]:
    """Have a shell command run exactly once, before or after the first git call that has `word` in its
    arguments: what the user does in the least convenient instant."""

    def install(when: str, word: str, command: str) -> None:
        real = shutil.which("git")
        done, folder = tmp_path / "interposed", tmp_path / "bin"
        folder.mkdir()
        at_work = f"(unset GIT_DIR GIT_WORK_TREE; {command}) >/dev/null 2>&1"
        once = f'[ -e "{done}" ] || {{ : > "{done}"; {at_work} || exit 99; }}'
        lines = ["#!/bin/sh", f'export PATH="{os.environ["PATH"]}"', f'case " $* " in *" {word} "*) ']
        lines += (
            [once, f'exec "{real}" "$@";;'] if when == "before" else [f'"{real}" "$@"; code=$?', once, "exit $code;;"]
        )
        lines += ["esac", f'exec "{real}" "$@"']
        (folder / "git").write_text("\n".join(lines) + "\n")
        (folder / "git").chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    yield install
    assert (tmp_path / "interposed").exists(), "the moment never came"


def test_a_switch_just_before_a_merge_moves_no_other_branch(scene: Scene, interpose: Interpose) -> None:
    scene.user.write("other.txt", "edited\n")
    interpose("before", "merge", f"cd {scene.user.path} && git switch -q -c feature")
    assert_landed(scene, scene.land())
    assert scene.user.tip("feature") == scene.old
    assert scene.user.git("symbolic-ref", "HEAD") == "refs/heads/feature"
    assert scene.user.status() == [" M other.txt"]


def test_a_detached_head_just_before_a_merge_is_given_back(scene: Scene, interpose: Interpose) -> None:
    scene.user.write("other.txt", "edited\n")
    interpose("before", "merge", f"cd {scene.user.path} && git switch -q --detach")
    assert_landed(scene, scene.land())
    assert scene.user.tip("HEAD") == scene.old
    assert scene.user.status() == [" M other.txt"]


def test_a_switch_just_before_a_push_moves_main_only(scene: Scene, interpose: Interpose) -> None:
    interpose("before", "send-pack", f"cd {scene.user.path} && git switch -q -c feature")
    assert_landed(scene, scene.land())
    assert scene.user.tip("feature") == scene.old
    assert scene.user.status() == []


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_switch_to_main_while_it_moves_ends_with_the_new_files(
    scene: Scene, interpose: Interpose, when: str
) -> None:
    scene.user.switch("feature", create=True)
    interpose(when, "update-ref -m", f"cd {scene.user.path} && git switch -q main && echo edited > other.txt")
    assert_landed(scene, scene.land())
    assert scene.user.git("symbolic-ref", "HEAD") == "refs/heads/main"
    assert scene.user.status() == [" M other.txt"]
    assert files(scene.user.path)["added.txt"] == b"new\n"


def test_a_switch_to_main_with_a_file_in_the_way_gives_main_back(scene: Scene, interpose: Interpose) -> None:
    scene.user.switch("feature", create=True)
    interpose("before", "update-ref -m", f"cd {scene.user.path} && git switch -q main && echo mine > build.log")
    outcome = scene.land()
    assert isinstance(outcome, WaitingForCheckout) and outcome.paths == ("build.log",)
    assert scene.main() == scene.old
    assert scene.user.status() == []
    assert files(scene.user.path)["build.log"] == b"mine\n"


def test_a_commit_of_the_users_in_the_last_instant_wins(scene: Scene, interpose: Interpose) -> None:
    interpose("before", "send-pack", f"cd {scene.user.path} && echo 2 > other.txt && git commit -q -a -m mine")
    outcome = scene.land()
    assert scene.main() != scene.new
    assert scene.user.subjects()[-1] == "mine"
    assert getattr(outcome, "tip", "") == scene.main()


def test_an_edit_in_the_last_instant_stays(scene: Scene, interpose: Interpose) -> None:
    interpose("before", "send-pack", f"cd {scene.user.path} && echo mine > changed.txt")
    outcome = scene.land()
    assert isinstance(outcome, WaitingForCheckout) and outcome.paths == ("changed.txt",)
    assert scene.main() == scene.old
    assert files(scene.user.path)["changed.txt"] == b"mine\n"


def test_an_ignored_file_made_in_the_last_instant_stays(scene: Scene, interpose: Interpose) -> None:
    scene.user.write("other.txt", "edited\n")
    interpose("before", "merge", f"cd {scene.user.path} && echo mine > build.log")
    outcome = scene.land()
    assert isinstance(outcome, WaitingForCheckout) and outcome.paths == ("build.log",)
    assert files(scene.user.path)["build.log"] == b"mine\n"


def test_what_is_in_the_way_is_seen_without_moving_anything(scene: Scene) -> None:
    def hindrance() -> WaitingForCheckout | None:
        return scene.lander().hindrance(7, scene.old, scene.new)

    scene.user.write("changed.txt", "mine\n")
    waiting = scene.land()
    assert isinstance(waiting, WaitingForCheckout)
    assert hindrance() == waiting
    scene.user.git("checkout", "changed.txt")
    lock = scene.user.git_dir / "index.lock"
    lock.touch()
    seen = hindrance()
    assert seen is not None and seen.paths == (str(lock),)
    lock.unlink()
    assert hindrance() is None
    assert scene.main() == scene.old
    assert_landed(scene, scene.land())
    assert hindrance() is None


def test_an_index_lock_held_for_a_moment_only_delays(scene: Scene, interpose: Interpose) -> None:
    lock = scene.user.git_dir / "index.lock"
    lock.touch()
    interpose("before", "worktree list", f"rm {lock}")
    assert_landed(scene, scene.land())


def test_an_editor_that_polls_status_only_delays(scene: Scene) -> None:
    ended = threading.Event()

    def poll() -> None:
        while not ended.is_set():
            (scene.user.path / "other.txt").touch()
            subprocess.run(["git", "status"], cwd=scene.user.path, capture_output=True, check=False)

    editor = threading.Thread(target=poll)
    editor.start()
    try:
        lander = Lander(scene.user.git_dir, scene.integration, "main", SystemRng())
        outcome = lander.land(7, scene.old, scene.new, "recall")
    finally:
        ended.set()
        editor.join(30)
    assert isinstance(outcome, Landed), outcome
    assert scene.user.status() == []


@pytest.mark.parametrize("dirty", [False, True])
def test_a_git_that_is_killed_under_us_is_followed_by_another(
    scene: Scene, interpose: Interpose, dirty: bool
) -> None:
    """What the kernel does when memory runs out: one child dies, the dispatcher lives."""
    if dirty:
        scene.user.write("other.txt", "edited\n")
    word = "merge" if dirty else "send-pack"
    torn = (
        f"cd {scene.user.path} && : > .git/index.lock && printf 'one\\ntw' > changed.txt && rm gone.txt && kill -9 $$"
    )
    interpose("before", word, torn)
    assert_landed(scene, scene.land())
    assert scene.user.status() == ([" M other.txt"] if dirty else [])
