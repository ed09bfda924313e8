"""A clone as a workspace: no ordinary git command in it reaches the user's repository, and no work in it is lost."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from recall.config.settings import Settings, WorkspaceSettings
from recall.domain.task import TaskRef
from recall.domain.work import Landed, PersonNeeded, Rebased
from recall.gitops.gateway import GitGateway
from tests.gitops.ground import TASK, Ground, gateway_for, settings_for
from tests.support.hermetic_git import Repo


def clone_settings(repo: Repo) -> Settings:
    return replace(settings_for(repo), workspaces=WorkspaceSettings(kind="clone"))


@pytest.fixture
def ground(repo: Repo) -> Ground:
    repo.git("tag", "-a", "-m", "first", "v1")
    repo.branch("feature")
    return Ground(repo, clone_settings(repo))


def land(gateway: GitGateway, repo: Repo, base: str, tip: str) -> Landed:
    onto = repo.tip("main")
    rebased = gateway.rebase(base=base, tip=tip, onto=onto, trailers={})
    assert isinstance(rebased, Rebased)
    landed = gateway.land(merge_id=1, old=onto, new=rebased.candidate, reflog="test")
    assert isinstance(landed, Landed)
    return landed


def everything_of(repo: Repo) -> dict[Path, bytes]:
    """The user's git dir, byte for byte, but for what is Recall's."""
    files = (path for path in repo.git_dir.rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in files if not path.is_relative_to(repo.git_dir / "recall")}


# -- what a clone is ---------------------------------------------------------------------------------------------
def test_it_stands_on_its_branch_and_knows_main_and_the_tags(ground: Ground) -> None:
    clone = ground.agent
    assert clone.git("symbolic-ref", "HEAD") == "refs/heads/recall/main/T-1/1"
    assert clone.tip("main") == clone.tip() == ground.repo.tip("main")
    assert clone.git("describe") == "v1"
    assert clone.git("branch", "--format=%(refname:short)").split() == ["main", "recall/main/T-1/1"]
    assert clone.git("remote") == ""
    assert clone.status() == []
    assert ground.repo.git("branch", "--list", "recall/*") == ""
    assert ground.repo.tip("refs/recall/base/7") == ground.workspace.base
    assert ground.repo.status() == []


@pytest.mark.parametrize(
    "command",
    [
        "git push",
        "git push origin HEAD",
        "git fetch --all",
        "git pull",
        "git config user.name Somebody && git config core.hooksPath /tmp",
        "git branch -D main; git branch feature; git tag -d v1; git tag mine",
        "git update-ref refs/heads/main HEAD",
        "git commit -q --allow-empty -m x && git branch -f main && git reset -q --hard HEAD~1",
        "echo x > README.md && git stash -q",
        "git gc -q --prune=now && git repack -adq && git prune && git pack-refs --all",
        "git worktree add -q ../other HEAD && git worktree prune",
        "git reflog expire --expire=now --all",
        "git replace HEAD HEAD~0; git notes add -m x",
        "git clean -ffdx",
        "rm -rf .git && git init -q",
    ],
)
def test_no_ordinary_command_changes_the_users_repository(ground: Ground, command: str) -> None:
    before = everything_of(ground.repo)
    subprocess.run(["sh", "-c", command], cwd=ground.workspace.tree, capture_output=True, check=False, timeout=30)
    assert everything_of(ground.repo) == before
    ground.repo.git("fsck", "--strict")


def test_the_users_own_settings_count_and_programs_do_not(repo: Repo) -> None:
    repo.git("config", "user.name", "Local Name")
    repo.git("config", "core.autocrlf", "input")
    repo.git("config", "core.fsmonitor", "/bin/false")
    repo.git("config", "remote.origin.url", "/nowhere")
    (repo.git_dir / "info" / "exclude").write_text("*.mine\n")
    clone = Ground(repo, clone_settings(repo)).agent
    assert clone.git("config", "user.name") == "Local Name"
    assert clone.git("config", "core.autocrlf") == "input"
    assert clone.git("config", "lfs.storage") == str(repo.git_dir / "lfs")
    assert "fsmonitor" not in clone.git("config", "--local", "--list")
    assert "remote." not in clone.git("config", "--local", "--list")
    clone.write("notes.mine", "x")
    assert clone.status() == []


def test_a_shallow_repository_gives_shallow_clones(repo: Repo, tmp_path: Path) -> None:
    repo.commit("more", {"x": "x"})
    shallow = repo.clone(tmp_path / "shallow", "--depth", "1")
    ground = Ground(shallow, clone_settings(shallow))
    assert ground.agent.subjects() == ["more"]
    ground.agent.commit("work", {"y": "y"})
    assert ground.result().commits == 1


def test_sha256_repositories_have_sha256_clones(tmp_path: Path, home: Path) -> None:
    user = Repo(tmp_path / "wide")
    user.path.mkdir()
    user.git("init", "-q", "-b", "main", "--object-format=sha256")
    user.commit("start", {"a": "a"})
    ground = Ground(user, clone_settings(user))
    tip = ground.agent.commit("work", {"b": "b"})
    assert len(tip) == 64
    assert ground.result().tip == tip


def test_main_may_have_any_name(tmp_path: Path, home: Path) -> None:
    repo = Repo.create(tmp_path / "trunk", main="release/trunk")
    repo.commit("start", {"a": "a"})
    settings = replace(clone_settings(repo), main="release/trunk")
    ground = Ground(repo, settings)
    assert ground.agent.tip("release/trunk") == repo.tip("release/trunk")
    ground.agent.commit("work", {"b": "b"})
    assert ground.result().commits == 1


# -- the way of its work -----------------------------------------------------------------------------------------
def test_work_lands_from_a_clone_and_leaves_nothing(ground: Ground) -> None:
    ground.agent.commit("work", {"work.py": "1\n"})
    ground.agent.write("left.py", "2\n")
    result = ground.result()
    land(ground.gateway, ground.repo, result.base, result.tip)
    said = ground.gateway.close_workspace(ground.workspace, 7, landed=True)
    assert "went back to the pool" in said and "kept" not in said
    assert ground.repo.file("left.py", "main") == b"2\n"
    assert ground.repo.git("for-each-ref", "refs/recall", "refs/heads/recall") == ""
    again = ground.gateway.open_workspace(TASK, 2, 8)
    assert again.slot == ground.workspace.slot
    assert Repo(again.tree).subjects() == [*ground.repo.subjects("main")]


def test_collecting_again_after_a_restart_gives_the_same(ground: Ground) -> None:
    ground.agent.commit("work", {"work.py": "1\n"})
    first = ground.result()
    second = gateway_for(ground.repo, clone_settings(ground.repo)).collect(ground.workspace, 7, "Do the thing")
    assert first == second


def test_unlanded_work_is_parked_in_the_users_repository(ground: Ground) -> None:
    tip = ground.agent.commit("half", {"half.py": "1\n"})
    ground.agent.write("loose.py", "2\n")
    said = ground.gateway.close_workspace(ground.workspace, 7, landed=False)
    assert "refs/recall/parked/7" in said
    ground.gateway.open_workspace(TASK, 2, 8)  # nothing of the clone is left
    ground.repo.git("merge-base", "--is-ancestor", tip, "refs/recall/parked/7")
    assert ground.repo.file("loose.py", "refs/recall/parked/7") == b"2\n"
    ground.repo.git("gc", "-q", "--prune=now")
    ground.repo.git("fsck", "--strict", "--no-dangling")


@pytest.mark.parametrize("landed", [True, False])
def test_further_branches_tags_and_stashes_are_kept(ground: Ground, landed: bool) -> None:
    clone = ground.agent
    clone.switch("idea", create=True)
    idea = clone.commit("idea", {"idea.py": "1\n"})
    clone.switch("recall/main/T-1/1")
    tagged = clone.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "tagged")
    clone.git("tag", "-a", "-m", "mine", "mine", tagged)
    clone.write("README.md", "stashed\n")
    clone.git("stash", "-q")
    stashed = clone.tip("refs/stash")
    clone.git("pack-refs", "--all")
    clone.commit("work", {"work.py": "1\n"})
    result = ground.result()
    if landed:
        land(ground.gateway, ground.repo, result.base, result.tip)
    said = ground.gateway.close_workspace(ground.workspace, 7, landed=landed)
    assert "refs/recall/parked/7" in said
    for commit in (idea, tagged, stashed):
        ground.repo.git("merge-base", "--is-ancestor", commit, "refs/recall/parked/7")


def test_a_landed_run_with_nothing_else_in_its_clone_parks_nothing(ground: Ground) -> None:
    ground.agent.commit("one", {"a": "a"})
    ground.agent.branch("earlier")
    ground.agent.git("tag", "here")
    ground.agent.commit("two", {"b": "b"})
    result = ground.result()
    land(ground.gateway, ground.repo, result.base, result.tip)
    assert "kept" not in ground.gateway.close_workspace(ground.workspace, 7, landed=True)


def test_a_commit_with_a_git_entry_never_enters_the_users_repository(ground: Ground) -> None:
    clone = ground.agent
    blob = clone.git("hash-object", "-w", "--stdin", stdin=b"[core]\n")
    inner = clone.git("mktree", stdin=f"100644 blob {blob}\tconfig\n".encode())
    tree = clone.git("mktree", stdin=f"040000 tree {inner}\t.git\n".encode())
    trap = clone.git("commit-tree", tree, "-p", "HEAD", "-m", "trap")
    clone.git("update-ref", "HEAD", trap)
    assert ".git" in ground.refusal().reason
    said = ground.gateway.close_workspace(ground.workspace, 7, landed=False)
    assert "left as it is" in said and "could not be kept" in said
    assert not ground.repo.has(trap)
    assert clone.has(trap)
    assert ground.gateway.tidy_workspaces([]) == []


@pytest.mark.parametrize("loss", ["rm -rf .git/objects/??", "rm .git/HEAD", "echo junk > .git/HEAD", "rm -rf .git"])
def test_a_damaged_clone_stops_no_start_and_loses_no_file(ground: Ground, loss: str) -> None:
    ground.agent.commit("work", {"work.py": "1\n"})
    ground.agent.write("loose.py", "2\n")
    subprocess.run(["sh", "-c", loss], cwd=ground.workspace.tree, check=True)
    assert isinstance(ground.collect(), PersonNeeded)
    gateway_for(ground.repo, clone_settings(ground.repo)).tidy_workspaces([])
    left = ground.workspace.tree / "loose.py"
    assert left.exists() or ground.repo.file("loose.py", "refs/recall/parked/7") == b"2\n"
    again = ground.gateway.open_workspace(TaskRef("main", "T-2"), 1, 8)
    assert Repo(again.tree).status() == []


def test_a_clone_removed_by_hand_is_told_and_forgotten(ground: Ground) -> None:
    subprocess.run(["rm", "-rf", str(ground.workspace.folder)], check=True)
    (said,) = gateway_for(ground.repo, clone_settings(ground.repo)).tidy_workspaces([])
    assert "removed by hand" in said
    assert ground.repo.git("for-each-ref", "refs/recall") == ""
    assert ground.gateway.open_workspace(TASK, 2, 8).tree.is_dir()


# -- nothing of an agent's runs ----------------------------------------------------------------------------------
def test_nothing_planted_in_a_clone_runs_at_its_end_or_in_its_next_use(ground: Ground, home: Path) -> None:
    trap = f'sh -c "touch {home}/pwned; cat"'
    clone = ground.agent
    clone.commit("attributes", {".gitattributes": "* filter=x diff=x merge=x\n"})
    for key in ("filter.x.clean", "filter.x.smudge", "core.fsmonitor", "diff.x.textconv", "merge.x.driver"):
        clone.git("config", key, trap)
    hooks = clone.git_dir / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("post-checkout", "reference-transaction", "post-index-change", "pre-commit"):
        (hooks / hook).write_text(f"#!/bin/sh\ntouch {home}/pwned\n")
        (hooks / hook).chmod(0o755)
    clone.write("left.py", "2\n")
    (home / "pwned").unlink(missing_ok=True)
    result = ground.result()
    land(ground.gateway, ground.repo, result.base, result.tip)
    ground.gateway.close_workspace(ground.workspace, 7, landed=True)
    again = ground.gateway.open_workspace(TASK, 2, 8)
    assert again.slot == ground.workspace.slot
    assert not (again.tree / ".git" / "hooks").exists()
    assert Repo(again.tree).run("config", "filter.x.clean", check=False).returncode == 1
    assert not (home / "pwned").exists()


def test_a_link_in_place_of_the_git_dir_is_not_followed(ground: Ground, tmp_path: Path) -> None:
    trap = Repo.create(tmp_path / "trap")
    trap.commit("precious", {"precious": "x"})
    subprocess.run(["rm", "-rf", str(ground.workspace.tree / ".git")], check=True)
    (ground.workspace.tree / ".git").symlink_to(trap.git_dir)
    assert isinstance(ground.collect(), PersonNeeded)
    ground.gateway.close_workspace(ground.workspace, 7, landed=False)
    ground.gateway.open_workspace(TASK, 2, 8)
    assert trap.subjects() == ["precious"]
