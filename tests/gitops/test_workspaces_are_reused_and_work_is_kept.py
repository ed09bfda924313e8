"""Every run gets main's tip on a fresh branch; folders come from a pool; what has not landed is never lost."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import struct
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from recall.config.settings import WorkspaceSettings
from recall.domain.errors import EnvironmentFailure, Exhausted
from recall.domain.task import TaskRef
from recall.domain.work import Workspace
from recall.gitops.workspaces import WorkspacePool
from tests.gitops.ground import gateway_for, settings_for
from tests.support.hermetic_git import Repo

T1 = TaskRef("main", "T-1")
T2 = TaskRef("main", "T-2")


WORKTREE = pytest.mark.parametrize("kind", ["worktree"])


def make_pool(
    repo: Repo, root: Path | None = None, keep: tuple[str, ...] = (), kind: str = "worktree"
) -> WorkspacePool:
    state = repo.git_dir / "recall"
    integration = state / "integration.git"
    if not integration.exists():
        repo.git("init", "-q", "--bare", str(integration))
        (integration / "objects/info/alternates").write_text(f"{repo.git_dir / 'objects'}\n")
    return WorkspacePool(repo.git_dir, integration, state, root or repo.path / ".recall", "main", keep, kind)


@pytest.fixture(params=["worktree", "clone"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def pool(repo: Repo, kind: str) -> WorkspacePool:
    repo.commit("code", {"code.py": "print(1)\n", ".gitignore": "*.log\nbuild/\n"})
    return make_pool(repo, kind=kind)


def agent(workspace: Workspace) -> Repo:
    return Repo(workspace.tree)


def parked_file(repo: Repo, ref: str, path: str) -> bytes:
    return repo.file(path, ref)


def test_a_run_starts_at_mains_tip_on_a_branch_of_its_own(repo: Repo, pool: WorkspacePool) -> None:
    workspace = pool.open(T1, 1, 11)
    assert workspace.branch == "recall/main/T-1/1"
    assert workspace.base == repo.tip("main") == agent(workspace).tip()
    assert repo.tip("refs/recall/base/11") == workspace.base
    assert agent(workspace).git("symbolic-ref", "HEAD") == "refs/heads/recall/main/T-1/1"
    assert agent(workspace).status() == []
    assert repo.status() == []
    assert (workspace.tree / ".recall-run" / ".gitignore").read_text() == "*\n"
    assert "recall/" not in repo.git("config", "--local", "--list")


def test_the_folder_of_workspaces_is_its_owners_only(repo: Repo) -> None:
    (repo.path / ".recall").mkdir(mode=0o755)
    gateway_for(repo)
    assert stat.S_IMODE((repo.path / ".recall").stat().st_mode) == 0o700
    elsewhere = repo.path.parent / "elsewhere"
    elsewhere.mkdir(mode=0o755)
    gateway_for(repo, replace(settings_for(repo), workspaces=WorkspaceSettings(root=str(elsewhere))))
    assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o755, "what a person made is as that person wants it"


def test_nothing_is_written_through_a_link_that_was_left(repo: Repo, kind: str, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    for name in ("file", ".gitignore"):
        (mine / name).write_text("kept")
    pool = make_pool(repo, keep=(".recall-run",), kind=kind)
    first = pool.open(T1, 1, 11)
    shutil.rmtree(first.tree / ".recall-run")
    (first.tree / ".recall-run").symlink_to(mine)
    pool.close(first, 11, landed=True)
    root, records = repo.path / ".recall", repo.git_dir / "recall" / "workspaces"
    (root / ".gitignore").unlink()
    for planted in (root / ".gitignore", records / "s1.fresh", records / ".s1.json", records / "s1.index.fresh"):
        planted.symlink_to(mine / "file")
    again = pool.open(T1, 2, 12)
    assert again.slot == first.slot
    assert [(mine / name).read_text() for name in ("file", ".gitignore")] == ["kept", "kept"]
    assert (root / ".gitignore").read_text() == (again.tree / ".recall-run/.gitignore").read_text() == "*\n"


def test_a_landed_folder_goes_back_and_its_branch_is_gone(repo: Repo, pool: WorkspacePool) -> None:
    first = pool.open(T1, 1, 11)
    agent(first).commit("work", {"new.py": "x\n", "build.log": "noise\n"})
    (first.tree / "build").mkdir()
    (first.tree / "build/out").write_text("stale\n")
    pool.close(first, 11, landed=True)
    assert repo.git("for-each-ref", "refs/heads/recall", "refs/recall") == ""
    moved = repo.commit("meanwhile", {"code.py": "print(2)\n"})
    second = pool.open(T2, 1, 12)
    assert second.slot == first.slot
    assert agent(second).tip() == moved
    assert sorted(name.name for name in second.tree.iterdir()) == [
        ".git", ".gitignore", ".recall-run", "README.md", "TASKS.md", "code.py",
    ]  # fmt: skip


def test_kept_patterns_outlive_a_reuse(repo: Repo, pool: WorkspacePool, kind: str) -> None:
    first = pool.open(T1, 1, 11)
    (first.tree / "build").mkdir()
    (first.tree / "build/cache").write_text("warm\n")
    pool.close(first, 11, landed=True)
    second = make_pool(repo, keep=("build/",), kind=kind).open(T2, 1, 12)
    assert (second.tree / "build/cache").read_text() == "warm\n"


def test_two_runs_never_share_a_folder(pool: WorkspacePool) -> None:
    assert pool.open(T1, 1, 11).folder != pool.open(T2, 1, 12).folder


@pytest.mark.usefixtures("pool")
def test_twelve_runs_that_start_at_the_same_time_all_get_one(repo: Repo, kind: str) -> None:
    opened: list[Workspace] = []

    def start(run: int) -> None:
        opened.append(make_pool(repo, kind=kind).open(TaskRef("main", f"T-{run}"), 1, run))

    threads = [threading.Thread(target=start, args=(run,)) for run in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len({one.folder for one in opened}) == 12
    assert {agent(one).status() == [] for one in opened} == {True}
    assert len(repo.git("worktree", "list").splitlines()) == (13 if kind == "worktree" else 1)


def test_commits_and_files_of_a_run_that_did_not_land_are_kept(repo: Repo, pool: WorkspacePool, kind: str) -> None:
    workspace = pool.open(T1, 1, 11)
    tip = agent(workspace).commit("half", {"half.py": "1\n"})
    (workspace.tree / "loose.py").write_text("2\n")
    (workspace.tree / "code.py").write_text("print(3)\n")
    said = pool.close(workspace, 11, landed=False)
    assert "refs/recall/parked/11" in said
    assert kind == "clone" or repo.tip("recall/main/T-1/1") == tip
    (work,) = pool.parked()
    assert (work.run_id, work.ref, work.files) == (11, "refs/recall/parked/11", 3)
    assert parked_file(repo, work.ref, "loose.py") == b"2\n"
    assert parked_file(repo, work.ref, "code.py") == b"print(3)\n"
    assert repo.git("merge-base", "--is-ancestor", tip, work.ref) == ""
    second = pool.open(T1, 2, 12)
    assert second.slot == workspace.slot
    assert agent(second).status() == []


def test_a_run_without_any_work_leaves_nothing_behind(repo: Repo, pool: WorkspacePool) -> None:
    workspace = pool.open(T1, 1, 11)
    pool.close(workspace, 11, landed=False)
    assert pool.parked() == []
    assert repo.git("for-each-ref", "refs/recall", "refs/heads/recall") == ""


def test_closing_twice_changes_nothing(repo: Repo, pool: WorkspacePool) -> None:
    workspace = pool.open(T1, 1, 11)
    (workspace.tree / "loose.py").write_text("2\n")
    pool.close(workspace, 11, landed=False)
    before = repo.git("for-each-ref")
    pool.close(workspace, 11, landed=False)
    assert repo.git("for-each-ref") == before


def test_a_stray_branch_with_commits_is_kept_under_another_name(repo: Repo, pool: WorkspacePool) -> None:
    repo.switch("recall/main/T-1/1", create=True)
    stray = repo.commit("precious", {"precious.py": "1\n"})
    repo.switch("main")
    workspace = pool.open(T1, 1, 11)
    assert agent(workspace).tip() == repo.tip("main")
    (work,) = pool.parked()
    assert work.tip == stray


def test_a_rebase_left_half_done_is_kept_with_all_its_commits(repo: Repo, pool: WorkspacePool) -> None:
    workspace = pool.open(T1, 1, 11)
    mine = agent(workspace)
    first = mine.commit("clash", {"code.py": "mine\n"})
    second = mine.commit("after", {"after.py": "1\n"})
    theirs = repo.commit("other", {"code.py": "theirs\n"})
    mine.run("rebase", theirs, check=False)
    said = pool.close(workspace, 11, landed=False)
    assert "refs/recall/parked/11" in said
    for commit in (first, second):
        repo.git("merge-base", "--is-ancestor", commit, "refs/recall/parked/11")
    assert b"<<<<<<<" in parked_file(repo, "refs/recall/parked/11", "code.py")
    assert "rebase was in progress" in pool.parked()[0].why
    again = pool.open(T1, 2, 12)
    assert again.slot == workspace.slot
    assert agent(again).git("status").splitlines()[0] == "On branch recall/main/T-1/2"
    assert agent(again).status() == []


def test_work_on_a_detached_head_is_kept(repo: Repo, pool: WorkspacePool) -> None:
    workspace = pool.open(T1, 1, 11)
    agent(workspace).git("checkout", "-q", "--detach")
    tip = agent(workspace).commit("off", {"off.py": "1\n"})
    pool.close(workspace, 11, landed=False)
    repo.git("merge-base", "--is-ancestor", tip, "refs/recall/parked/11")


@WORKTREE
def test_a_locked_worktree_is_unlocked(repo: Repo, pool: WorkspacePool) -> None:
    workspace = pool.open(T1, 1, 11)
    agent(workspace).git("worktree", "lock", ".")
    pool.close(workspace, 11, landed=True)
    assert pool.open(T1, 2, 12).slot == workspace.slot
    assert "\nlocked" not in repo.git("worktree", "list", "--porcelain")


@WORKTREE
def test_a_folder_removed_by_hand_is_forgotten(repo: Repo, pool: WorkspacePool) -> None:
    workspace = pool.open(T1, 1, 11)
    tip = agent(workspace).commit("work", {"a.py": "1\n"})
    shutil.rmtree(workspace.folder)
    assert len(make_pool(repo).tidy([])) == 1
    assert repo.tip("refs/recall/parked/11^") == tip
    assert len(repo.git("worktree", "list").splitlines()) == 1
    assert pool.open(T1, 2, 12).tree.is_dir()


@WORKTREE
def test_a_registration_removed_by_the_agent_loses_no_file(repo: Repo, pool: WorkspacePool) -> None:
    workspace = pool.open(T1, 1, 11)
    (workspace.tree / "loose.py").write_text("2\n")
    shutil.rmtree(repo.git_dir / "worktrees" / "tree")
    pool.close(workspace, 11, landed=False)
    assert parked_file(repo, "refs/recall/parked/11", "loose.py") == b"2\n"
    assert pool.open(T1, 2, 12).tree.is_dir()


def test_a_clean_by_the_agent_does_no_harm(repo: Repo, pool: WorkspacePool) -> None:
    workspace = pool.open(T1, 1, 11)
    agent(workspace).git("clean", "-q", "-ffdx")
    assert "went back" in pool.close(workspace, 11, landed=True)


def test_a_repository_of_the_agents_own_is_never_deleted(repo: Repo, pool: WorkspacePool) -> None:
    workspace = pool.open(T1, 1, 11)
    nested = Repo.create(workspace.tree / "vendor" / "lib")
    nested.commit("inside", {"lib.py": "1\n"})
    said = pool.close(workspace, 11, landed=False)
    assert "vendor/lib" in said
    assert nested.file("lib.py") == b"1\n"
    assert [work.folder for work in pool.parked() if work.folder] == [workspace.folder]
    assert pool.open(T1, 2, 12).slot != workspace.slot


def test_tidy_leaves_what_is_in_use(repo: Repo, pool: WorkspacePool, kind: str) -> None:
    one, two = pool.open(T1, 1, 11), pool.open(T2, 1, 12)
    (one.tree / "loose.py").write_text("2\n")
    (two.tree / "loose.py").write_text("2\n")
    (sentence,) = make_pool(repo, kind=kind).tidy([one.slot])
    assert two.slot in sentence
    assert (one.tree / "loose.py").exists()
    assert parked_file(repo, "refs/recall/parked/12", "loose.py") == b"2\n"


def test_a_failure_half_way_can_be_tried_again(repo: Repo, pool: WorkspacePool, kind: str) -> None:
    first = pool.open(T1, 1, 11)
    (first.tree / "loose.py").write_text("2\n")
    again = make_pool(repo, kind=kind).open(T1, 1, 11)
    assert agent(again).status() == []
    assert parked_file(repo, "refs/recall/parked/11", "loose.py") == b"2\n"


def test_sparse_checkouts_of_the_user_do_not_spread(repo: Repo, pool: WorkspacePool) -> None:
    repo.commit("more", {"deep/a.py": "1\n", "other/b.py": "2\n"})
    repo.git("sparse-checkout", "set", "deep")
    workspace = pool.open(T1, 1, 11)
    assert (workspace.tree / "other/b.py").exists()
    assert agent(workspace).status() == []


def test_a_repository_without_commits_is_refused_in_words(tmp_path: Path, home: Path) -> None:
    with pytest.raises(EnvironmentFailure, match="no commit"):
        make_pool(Repo.create(tmp_path / "empty")).open(T1, 1, 11)


def test_a_bare_repository_works(tmp_path: Path, repo: Repo, kind: str) -> None:
    bare = repo.clone(tmp_path / "bare.git", "--bare")
    pool = make_pool(bare, tmp_path / "bare.recall", kind=kind)
    workspace = pool.open(T1, 1, 11)
    agent(workspace).commit("work", {"a.py": "1\n"})
    assert "went back" in pool.close(workspace, 11, landed=False)


def test_ids_that_git_refuses_in_names_get_a_branch(repo: Repo, pool: WorkspacePool) -> None:
    workspace = pool.open(TaskRef("web.lock", "1..2:é.lock"), 1, 11)
    assert workspace.branch.startswith("recall/") and agent(workspace).tip() == workspace.base


@WORKTREE
def test_planted_programs_never_run(repo: Repo, pool: WorkspacePool, home: Path) -> None:
    workspace = pool.open(T1, 1, 11)
    mine = agent(workspace)
    trap = f'sh -c "touch {home}/pwned; cat"'
    mine.git("config", "filter.x.clean", trap)
    mine.git("config", "filter.x.smudge", trap)
    mine.git("config", "core.fsmonitor", f"touch {home}/pwned")
    (repo.git_dir / "hooks").mkdir(exist_ok=True)
    for hook in ("post-checkout", "reference-transaction", "post-index-change"):
        (repo.git_dir / "hooks" / hook).write_text(f"#!/bin/sh\ntouch {home}/pwned\n")
        (repo.git_dir / "hooks" / hook).chmod(0o755)
    (repo.git_dir / "info").mkdir(exist_ok=True)
    (repo.git_dir / "info" / "attributes").write_text("* filter=x\n")
    (workspace.tree / ".gitattributes").write_text("* filter=x\n")
    (workspace.tree / "code.py").write_text("changed\n")
    found = pool.tampered(workspace)
    assert {"config filter.x.clean", "config core.fsmonitor", "hooks/post-checkout", "info/attributes"} <= set(found)
    said = pool.close(workspace, 11, landed=False)
    assert "filter.x.clean" in said and "left as it is" in said
    again = pool.open(T1, 2, 12)
    assert again.slot != workspace.slot
    assert not (home / "pwned").exists()
    assert parked_file(repo, "refs/recall/parked/11", "code.py") == b"changed\n"


@WORKTREE
@pytest.mark.parametrize(("landed", "why"), [(True, "kept beside what landed"), (False, "it did not land")])
def test_of_work_that_is_kept_because_of_a_planted_hook_it_is_said_whether_it_landed(
    repo: Repo, pool: WorkspacePool, landed: bool, why: str
) -> None:
    workspace = pool.open(T1, 1, 11)
    agent(workspace).commit("work", {"a.py": "1\n"})
    (repo.git_dir / "hooks" / "post-checkout").write_text("#!/bin/sh\n")
    assert "left as it is" in pool.close(workspace, 11, landed=landed)
    assert why in repo.git("log", "-1", "--format=%s%n%b", "refs/recall/parked/11")


def test_ordinary_git_work_is_no_tampering(repo: Repo, pool: WorkspacePool) -> None:
    workspace = pool.open(T1, 1, 11)
    mine = agent(workspace)
    mine.commit("work", {"a.py": "1\n"})
    mine.git("branch", "--set-upstream-to=main")
    mine.git("stash", "list")
    repo.commit("by the user", {"b.py": "1\n"})
    mine.git("merge", "-q", "--no-edit", "main")
    assert pool.tampered(workspace) == ()


@WORKTREE
def test_a_main_moved_by_the_agent_is_noticed(repo: Repo, pool: WorkspacePool) -> None:
    workspace = pool.open(T1, 1, 11)
    agent(workspace).commit("sneaky", {"a.py": "1\n"})
    agent(workspace).git("update-ref", "refs/heads/main", "HEAD")
    (found,) = pool.tampered(workspace)
    assert "refs/heads/main was moved" in found


@WORKTREE
def test_a_git_file_that_points_elsewhere_is_noticed(tmp_path: Path, pool: WorkspacePool) -> None:
    workspace = pool.open(T1, 1, 11)
    trap = Repo.create(tmp_path / "trap")
    trap.git("config", "core.fsmonitor", f"touch {tmp_path}/pwned")
    (workspace.tree / ".git").write_text(f"gitdir: {trap.git_dir}\n")
    (workspace.tree / "code.py").write_text("changed\n")
    assert pool.tampered(workspace) == ("worktree's .git",)
    pool.close(workspace, 11, landed=False)
    assert not (tmp_path / "pwned").exists()


@WORKTREE
def test_a_folder_that_cannot_be_reset_is_left_and_another_used(repo: Repo, pool: WorkspacePool) -> None:
    first = pool.open(T1, 1, 11)
    head = agent(first).git_dir / "HEAD"
    pool.close(first, 11, landed=True)
    head.unlink()
    head.mkdir()
    second = pool.open(T2, 1, 12)
    assert second.slot != first.slot
    assert "could not be reset" in pool.parked()[0].why


@pytest.mark.parametrize("landed", [True, False])
@pytest.mark.parametrize("place", ["tree", "folder"])
def test_what_lies_behind_a_link_in_the_folders_place_is_left_alone(
    repo: Repo, pool: WorkspacePool, tmp_path: Path, place: str, landed: bool
) -> None:
    """A linked worktree of the user's, say: filling it as a folder of ours would clean it out."""
    workspace = pool.open(T1, 1, 11)
    others = repo.worktree(tmp_path / "others" / "tree", "others")
    others.write("precious.txt", "not committed\n")
    link, target = (workspace.tree, others.path) if place == "tree" else (workspace.folder, others.path.parent)
    link.rename(tmp_path / "away")
    link.symlink_to(target)
    pool.close(workspace, 11, landed=landed)
    pool.tidy([])
    again = pool.open(T1, 2, 12)
    assert agent(again).status() == []
    assert (others.path / "precious.txt").read_text() == "not committed\n"
    assert others.git("symbolic-ref", "HEAD") == "refs/heads/others"
    assert "precious" not in repo.git("log", "--all", "--format=%H", "--name-only")


def test_a_full_disk_costs_no_folder(pool: WorkspacePool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = pool.open(T1, 1, 11)
    pool.close(first, 11, landed=True)
    git = tmp_path / "full" / "git"
    git.parent.mkdir()
    git.write_text(
        '#!/bin/sh\ncase " $* " in *" checkout "*) echo "error: No space left on device" >&2; exit 128;; esac\n'
        f'exec {shutil.which("git")} "$@"\n'
    )
    git.chmod(0o755)
    with monkeypatch.context() as here:
        here.setenv("PATH", str(git.parent), prepend=os.pathsep)
        with pytest.raises(Exhausted, match="No space left"):
            pool.open(T2, 1, 12)
    assert pool.open(T2, 2, 13).slot == first.slot
    assert pool.parked() == []


# -- what is left in a folder for the next run -------------------------------------------------------------------
@pytest.mark.parametrize("mark", ["--skip-worktree", "--assume-unchanged"])
def test_an_edit_that_the_agent_hid_from_git_is_gone_for_the_next_run(
    repo: Repo, pool: WorkspacePool, mark: str
) -> None:
    first = pool.open(T1, 1, 11)
    agent(first).git("update-index", mark, "code.py")
    (first.tree / "code.py").write_text("hidden\n")
    pool.close(first, 11, landed=True)
    second = pool.open(T2, 1, 12)
    assert second.slot == first.slot
    assert (second.tree / "code.py").read_text() == "print(1)\n"


def _forge_times(index: Path, name: bytes, state: os.stat_result) -> None:
    """Make an index say that a file is as git wrote it: its times stand 62 bytes before its name."""
    data = bytearray(index.read_bytes()[:-20])
    at = data.index(name + b"\0") - 62
    times = (state.st_ctime_ns, state.st_mtime_ns)
    data[at : at + 16] = b"".join(struct.pack(">II", *divmod(one, 10**9)) for one in times)
    index.write_bytes(bytes(data) + hashlib.sha1(data, usedforsecurity=False).digest())
    os.utime(index, (state.st_mtime + 10, state.st_mtime + 10))


def test_an_edit_that_a_forged_index_hides_is_gone_for_the_next_run(repo: Repo, pool: WorkspacePool) -> None:
    first = pool.open(T1, 1, 11)
    (first.tree / "code.py").write_text("print(2)\n")
    _forge_times(agent(first).git_dir / "index", b"code.py", (first.tree / "code.py").stat())
    assert agent(first).git("status", "--porcelain") == ""
    pool.close(first, 11, landed=True)
    assert (pool.open(T2, 1, 12).tree / "code.py").read_text() == "print(1)\n"


def test_unchanged_files_are_not_written_again(repo: Repo, pool: WorkspacePool) -> None:
    first = pool.open(T1, 1, 11)
    before = (first.tree / "code.py").stat()
    pool.close(first, 11, landed=True)
    again = (pool.open(T2, 1, 12).tree / "code.py").stat()
    assert (again.st_ino, again.st_ctime_ns) == (before.st_ino, before.st_ctime_ns)


def test_folders_without_write_permission_are_cleaned_away(repo: Repo, pool: WorkspacePool) -> None:
    """As the module cache of Go is."""
    first = pool.open(T1, 1, 11)
    cache = first.tree / "build" / "mod"
    cache.mkdir(parents=True)
    (cache / "a.go").write_text("x")
    cache.chmod(0o500)
    pool.close(first, 11, landed=True)
    second = pool.open(T2, 1, 12)
    assert second.slot == first.slot
    assert not cache.exists()


@pytest.mark.parametrize("name", ["logs/HEAD", "index", "ORIG_HEAD", "HEAD", "config.worktree"])
def test_a_pipe_in_the_git_dir_stops_nobody(repo: Repo, pool: WorkspacePool, name: str) -> None:
    workspace = pool.open(T1, 1, 11)
    (workspace.tree / "loose.py").write_text("2\n")
    place = agent(workspace).git_dir / name
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    pool.tampered(workspace)
    pool.close(workspace, 11, landed=False)
    assert parked_file(repo, "refs/recall/parked/11", "loose.py") == b"2\n"


@pytest.mark.parametrize(("old", "new"), [("worktree", "clone"), ("clone", "worktree")])
@WORKTREE
def test_the_kind_can_change_between_two_starts(repo: Repo, pool: WorkspacePool, old: str, new: str) -> None:
    before, after = make_pool(repo, kind=old), make_pool(repo, kind=new)
    free, used = before.open(T1, 1, 11), before.open(T2, 1, 12)
    agent(used).commit("work", {"work.py": "1\n"})
    before.close(free, 11, landed=True)
    again = after.open(T1, 2, 13)
    assert again.slot == free.slot
    assert (again.tree / ".git").is_dir() == (new == "clone")
    assert agent(again).status() == []
    git_dir = after.git_dir_of(used)
    assert git_dir is not None
    assert (git_dir.objects is None) == (old == "worktree")
    after.close(used, 12, landed=False)
    assert parked_file(repo, "refs/recall/parked/12", "work.py") == b"1\n"
    assert "prunable" not in repo.git("worktree", "list", "--porcelain")
