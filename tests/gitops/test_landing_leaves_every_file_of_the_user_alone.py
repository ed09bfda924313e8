"""Main moves wherever it is checked out, or nothing moves and the message names the files."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest

from recall.domain.work import Landed, MainMoved, WaitingForCheckout
from tests.gitops.landing_scene import (
    NOT_UTF8,
    ODD_NAMES,
    Scene,
    assert_landed,
    assert_waits,
    files,
    kept_scene,
    make_scene,
)
from tests.support.hermetic_git import Repo
from tests.support.kept import Kept


@pytest.fixture
def scene(kept: Kept, home: Path) -> Scene:
    return kept_scene(kept)


# -- main is checked out and may move ------------------------------------------------------------------------
def test_a_clean_checkout_comes_along(scene: Scene) -> None:
    assert_landed(scene, scene.land())
    assert scene.user.status() == []
    assert (scene.user.path / NOT_UTF8).read_bytes() == b"raw\n"
    for name in ODD_NAMES:
        assert (scene.user.path / name).read_text() == "odd\n"
    assert (scene.user.path / "script.sh").stat().st_mode & stat.S_IXUSR


@pytest.mark.parametrize("staged", [False, True])
def test_edits_in_other_files_stay(scene: Scene, staged: bool) -> None:
    scene.user.write("other.txt", "edited\n")
    scene.user.write("untracked.txt", "mine\n")
    if staged:
        scene.user.git("add", "other.txt")
    status = scene.user.status()
    assert_landed(scene, scene.land())
    assert scene.user.status() == status
    assert files(scene.user.path)["other.txt"] == b"edited\n"
    assert files(scene.user.path)["added.txt"] == b"new\n"
    assert "recall run-42 fence-3" in scene.user.git("reflog", "main")


def test_a_staged_edit_that_is_the_incoming_one_is_no_obstacle(scene: Scene) -> None:
    scene.user.write("changed.txt", "one\ntwo\nthree\n")
    scene.user.git("add", "changed.txt")
    assert_landed(scene, scene.land())
    assert scene.user.status() == []


def test_files_that_only_look_touched_are_no_obstacle(scene: Scene) -> None:
    (scene.user.path / "changed.txt").touch()
    (scene.user.path / "other.txt").touch()
    assert_landed(scene, scene.land())


def test_mark_of_assume_unchanged_without_an_edit_is_no_obstacle(scene: Scene) -> None:
    scene.user.git("update-index", "--assume-unchanged", "changed.txt")
    assert_landed(scene, scene.land())
    assert files(scene.user.path)["changed.txt"] == b"one\ntwo\nthree\n"


def test_a_sparse_checkout_stays_sparse(scene: Scene) -> None:
    scene.user.git("sparse-checkout", "set", "--no-cone", "/*.txt")
    assert_landed(scene, scene.land())
    assert not (scene.user.path / "becomes-a-folder").exists()
    assert scene.user.status() == []


def test_untracked_files_in_a_folder_that_stays_are_kept(scene: Scene) -> None:
    scene.user.write("deep/er/mine.txt", "mine\n")
    scene.user.write("deep/noise.log", "ignored\n")
    assert_landed(scene, scene.land())
    assert files(scene.user.path)["deep/er/mine.txt"] == b"mine\n"
    assert files(scene.user.path)["deep/noise.log"] == b"ignored\n"


# -- the checkout is in the way ------------------------------------------------------------------------------
@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("content", ["mine\n", "one\ntwo\n", ""])
def test_an_edit_in_a_changed_file_waits(scene: Scene, staged: bool, content: str) -> None:
    scene.user.write("gone.txt", content)
    scene.user.write("other.txt", "edited\n")
    if staged:
        scene.user.git("add", "gone.txt")
    assert_waits(scene, "gone.txt")


def test_an_unstaged_edit_that_is_the_incoming_one_waits(scene: Scene) -> None:
    scene.user.write("changed.txt", "one\ntwo\nthree\n")
    assert_waits(scene, "changed.txt")


def test_a_file_deleted_by_hand_that_changes_waits(scene: Scene) -> None:
    (scene.user.path / "changed.txt").unlink()
    assert_waits(scene, "changed.txt")


@pytest.mark.parametrize(
    "name", ["added.txt", "deep/er/added.txt", "with space.txt", "日本語.txt", NOT_UTF8, "build.log"]
)
@pytest.mark.parametrize("content", ["mine\n", "new\n"])
def test_an_untracked_or_ignored_file_in_the_way_waits(scene: Scene, name: str, content: str) -> None:
    scene.user.write(name, content)
    assert_waits(scene, name.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def test_a_name_with_a_line_feed_is_shown_on_one_line(scene: Scene) -> None:
    scene.user.write("line\nfeed.txt", "mine\n")
    assert_waits(scene, "line feed.txt")


@pytest.mark.parametrize("name", ["deep", "deep/er"])
def test_a_file_where_a_folder_must_go_waits(scene: Scene, name: str) -> None:
    scene.user.write(name, "mine\n")
    assert_waits(scene, name)


def test_a_link_where_a_folder_must_go_waits(scene: Scene, tmp_path: Path) -> None:
    (scene.user.path / "deep").symlink_to(tmp_path)
    assert_waits(scene, "deep")


@pytest.mark.parametrize("name", ["added.txt/mine.txt", "folder/mine.txt", "folder/sub/noise.log"])
def test_files_in_a_folder_that_becomes_a_file_wait(scene: Scene, name: str) -> None:
    scene.user.write(name, "mine\n")
    assert_waits(scene, name)


@pytest.mark.parametrize("mark", ["--assume-unchanged", "--skip-worktree"])
def test_an_edit_that_status_hides_waits(scene: Scene, mark: str) -> None:
    scene.user.git("update-index", mark, "changed.txt")
    scene.user.write("changed.txt", "hidden\n")
    assert_waits(scene, "changed.txt")


def test_all_files_in_the_way_are_named(scene: Scene) -> None:
    scene.user.write("changed.txt", "a\n")
    scene.user.write("gone.txt", "b\n")
    assert_waits(scene, "changed.txt", "gone.txt")


def test_a_waiting_landing_goes_on_when_the_file_is_put_away(scene: Scene) -> None:
    scene.user.write("changed.txt", "a\n")
    assert_waits(scene, "changed.txt")
    scene.user.git("checkout", "changed.txt")
    assert_landed(scene, scene.land())


# -- operations in progress ----------------------------------------------------------------------------------
def conflicting_branch(user: Repo) -> None:
    user.switch("clash", create=True)
    user.commit("theirs", {"other.txt": "theirs\n"})
    user.switch("main")


@pytest.mark.parametrize("command", ["merge", "cherry-pick", "rebase", "revert"])
def test_an_operation_in_progress_on_main_waits(tmp_path: Path, repo: Repo, command: str) -> None:
    repo.commit("before", {"other.txt": "before\n"})
    repo.commit("one", {"other.txt": "one\n"})
    conflicting_branch(repo)
    repo.commit("two", {"other.txt": "two\n"})
    scene = make_scene(tmp_path, repo)
    target = "HEAD~2" if command == "revert" else "clash"
    assert scene.user.run(command, target, check=False).returncode != 0
    outcome = assert_waits(scene)
    assert command in outcome.reason or "operation on main" in outcome.reason


def test_another_branch_being_rebased_leaves_main_free(scene: Scene) -> None:
    scene.user.switch("one", create=True)
    scene.user.commit("one", {"other.txt": "one\n"})
    scene.user.git("branch", "two", "main")
    scene.user.switch("two")
    scene.user.commit("two", {"other.txt": "two\n"})
    scene.user.run("rebase", "one", check=False)
    before = files(scene.user.path), scene.user.status()
    assert_landed(scene, scene.land())
    assert (files(scene.user.path), scene.user.status()) == before


def test_a_bisect_that_comes_back_to_main_waits(scene: Scene) -> None:
    scene.user.git("bisect", "start", "main", "main~1")
    assert "bisect" in assert_waits(scene).reason


def test_a_bisect_that_left_main_waits_too(tmp_path: Path, repo: Repo) -> None:
    repo.commit("one", {"other.txt": "one\n"})
    repo.commit("two", {"other.txt": "two\n"})
    scene = make_scene(tmp_path, repo)
    scene.user.git("bisect", "start", "main", "main~3")
    assert scene.user.run("symbolic-ref", "-q", "HEAD", check=False).returncode != 0
    assert "main is in progress" in assert_waits(scene).reason


def test_a_stash_that_met_a_conflict_waits(scene: Scene) -> None:
    scene.user.write("other.txt", "stashed\n")
    scene.user.git("stash", "-q")
    scene.user.write("other.txt", "committed\n")
    scene.user.git("add", "other.txt")
    scene.user.run("stash", "apply", check=False)
    scene.user.git("read-tree", "HEAD")
    blob = scene.user.git("rev-parse", "HEAD:other.txt")
    entries = "".join(f"100644 {blob} {stage}\tother.txt\n" for stage in (1, 2, 3))
    scene.user.git("update-index", "--index-info", stdin=f"0 {'0' * 40}\tother.txt\n{entries}".encode())
    assert_waits(scene, "other.txt")


# -- main is somewhere else ----------------------------------------------------------------------------------
@pytest.mark.parametrize("where", [["checkout", "-q", "-b", "feature"], ["checkout", "-q", "--detach"]])
def test_main_moves_alone_when_nobody_has_it(scene: Scene, where: list[str]) -> None:
    scene.user.git(*where)
    scene.user.write("changed.txt", "my edit\n")
    before = files(scene.user.path), scene.user.status(), scene.user.tip()
    assert_landed(scene, scene.land())
    assert (files(scene.user.path), scene.user.status(), scene.user.tip()) == before
    assert "recall run-42 fence-3" in scene.user.git("reflog", "main")


def test_main_checked_out_in_another_worktree_comes_along_there(scene: Scene, tmp_path: Path) -> None:
    scene.user.switch("feature", create=True)
    scene.user.git("worktree", "add", "-q", str(tmp_path / "m"), "main")
    linked = Repo(tmp_path / "m")
    before = files(scene.user.path)
    assert_landed(scene, scene.land())
    assert linked.status() == [] and files(linked.path)["added.txt"] == b"new\n"
    assert files(scene.user.path) == before


def test_a_dirty_other_worktree_keeps_its_edit(scene: Scene, tmp_path: Path) -> None:
    scene.user.switch("feature", create=True)
    scene.user.git("worktree", "add", "-q", str(tmp_path / "m"), "main")
    linked = Repo(tmp_path / "m")
    linked.write("other.txt", "edited\n")
    assert_landed(scene, scene.land())
    assert files(linked.path)["other.txt"] == b"edited\n"
    assert linked.status() == [" M other.txt"]


def test_a_start_in_a_linked_worktree_finds_main_in_the_first_one(scene: Scene, tmp_path: Path) -> None:
    linked = scene.user.worktree(tmp_path / "linked", "feature")
    assert_landed(scene, Scene(linked, scene.integration, scene.old, scene.new).land())
    assert scene.user.status() == []


def test_main_checked_out_twice_waits(scene: Scene, tmp_path: Path) -> None:
    scene.user.git("worktree", "add", "-q", "--force", str(tmp_path / "m"), "main")
    assert str(tmp_path / "m") in assert_waits(scene).reason


def test_a_worktree_whose_folder_is_gone_does_not_hold_main(scene: Scene, tmp_path: Path) -> None:
    scene.user.switch("feature", create=True)
    scene.user.git("worktree", "add", "-q", str(tmp_path / "m"), "main")
    shutil.rmtree(tmp_path / "m")
    assert_landed(scene, scene.land())


def test_a_locked_worktree_on_a_disk_that_is_away_waits(scene: Scene, tmp_path: Path) -> None:
    scene.user.switch("feature", create=True)
    scene.user.git("worktree", "add", "-q", "--lock", str(tmp_path / "m"), "main")
    (tmp_path / "m").rename(tmp_path / "away")
    assert str(tmp_path / "m") in assert_waits(scene).reason


def test_a_bare_repository_moves(scene: Scene, tmp_path: Path) -> None:
    bare = scene.user.clone(tmp_path / "bare.git", "--bare")
    assert_landed(
        Scene(bare, scene.integration, scene.old, scene.new),
        Scene(bare, scene.integration, scene.old, scene.new).land(),
    )


def test_a_repository_with_a_separate_git_dir_comes_along(scene: Scene, tmp_path: Path) -> None:
    scene.user.git(
        "clone", "-q", "--separate-git-dir", str(tmp_path / "sep.git"), str(scene.user.path), str(tmp_path / "sep")
    )
    tree = tmp_path / "sep"
    apart = Scene(Repo(tree), scene.integration, scene.old, scene.new, main_tree=tree)
    assert_landed(apart, apart.land())
    assert apart.user.status() == []


def test_a_checkout_that_git_cannot_find_waits(scene: Scene, tmp_path: Path) -> None:
    scene.user.git(
        "clone", "-q", "--separate-git-dir", str(tmp_path / "sep.git"), str(scene.user.path), str(tmp_path / "sep")
    )
    assert_waits(Scene(Repo(tmp_path / "sep"), scene.integration, scene.old, scene.new))


def test_a_shallow_clone_comes_along(scene: Scene, tmp_path: Path) -> None:
    shallow = Scene(scene.user.clone(tmp_path / "shallow", "--depth", "1"), scene.integration, scene.old, scene.new)
    outcome = shallow.land()
    assert isinstance(outcome, Landed)
    assert shallow.user.status() == [] and shallow.main() == scene.new


def test_a_submodule_checkout_comes_along(scene: Scene, tmp_path: Path) -> None:
    above = Repo.create(tmp_path / "above")
    above.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(scene.user.path), "sub")
    inside = Scene(Repo(tmp_path / "above" / "sub"), scene.integration, scene.old, scene.new)
    assert_landed(inside, inside.land())
    assert inside.user.status() == []


# -- main moved ----------------------------------------------------------------------------------------------
def test_a_main_that_went_on_is_reported(scene: Scene) -> None:
    tip = scene.user.commit("meanwhile", {"other.txt": "2\n"})
    assert scene.land() == MainMoved(tip, rewritten=False)
    assert scene.main() == tip


def test_a_main_that_was_rewritten_is_reported(scene: Scene) -> None:
    scene.user.git("commit", "-q", "--amend", "-m", "other words")
    assert scene.land() == MainMoved(scene.main(), rewritten=True)


def test_a_main_that_is_gone_is_reported(scene: Scene) -> None:
    scene.user.git("branch", "-m", "main", "trunk")
    assert scene.land() == MainMoved("", rewritten=True)


def test_a_commit_that_main_has_already_has_landed(scene: Scene) -> None:
    assert_landed(scene, scene.land())
    later = scene.user.commit("later", {"other.txt": "2\n"})
    assert isinstance(scene.land(), Landed)
    assert scene.main() == later


# -- locks ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock", "refs/heads/main.lock"])
def test_a_lock_that_stays_waits_and_is_named(scene: Scene, name: str) -> None:
    lock = scene.user.git_dir / name
    lock.touch()
    before = files(scene.user.path)
    outcome = scene.land()
    assert isinstance(outcome, WaitingForCheckout) and outcome.paths == (str(lock),)
    assert files(scene.user.path) == before
    assert lock.exists()
    lock.unlink()
    assert_landed(scene, scene.land())


# -- configuration of the user's -----------------------------------------------------------------------------
HOSTILE = {
    "merge.autoStash": "true",
    "rebase.autoStash": "true",
    "commit.gpgSign": "true",
    "gpg.program": "/bin/false",
    "push.gpgSign": "true",
    "push.default": "nothing",
    "merge.ff": "false",
    "merge.verifySignatures": "true",
    "branch.main.mergeOptions": "--squash --no-commit",
    "receive.denyCurrentBranch": "refuse",
    "status.showUntrackedFiles": "no",
    "status.branch": "true",
    "diff.external": "/bin/false",
    "diff.noprefix": "true",
    "core.quotePath": "true",
    "push.followTags": "true",
    "submodule.recurse": "true",
}


@pytest.mark.parametrize("dirty", [False, True])
def test_no_configuration_of_the_user_changes_a_landing(scene: Scene, tmp_path: Path, dirty: bool) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in (
        "pre-push",
        "pre-receive",
        "update",
        "post-merge",
        "post-checkout",
        "reference-transaction",
        "push-to-checkout",
    ):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran-{name}\nexit 1\n")
        (hooks / name).chmod(0o755)
    for key, value in (HOSTILE | {"core.hooksPath": str(hooks)}).items():
        scene.user.git("config", key, value)
    if dirty:
        scene.user.write("other.txt", "edited\n")
    assert_landed(scene, scene.land())
    assert files(scene.user.path)["other.txt"] == (b"edited\n" if dirty else b"mine\n")
    assert not list(tmp_path.glob("ran-*"))


def test_autostash_never_touches_an_edit_in_a_changed_file(scene: Scene) -> None:
    scene.user.git("config", "merge.autoStash", "true")
    scene.user.write("changed.txt", "my edit\n")
    assert_waits(scene, "changed.txt")
    assert scene.user.git("stash", "list") == ""


def test_line_ends_are_converted_as_the_user_wants(scene: Scene) -> None:
    scene.user.git("config", "core.autocrlf", "true")
    scene.user.git("rm", "-q", "--cached", "-r", ".")
    scene.user.git("reset", "-q", "--hard")
    assert_landed(scene, scene.land())
    assert files(scene.user.path)["changed.txt"] == b"one\r\ntwo\r\nthree\r\n"
    assert scene.user.status() == []
