"""What a run left is taken over whole, whatever shape its agent left it in; what only a person can judge is not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from recall.config.settings import MergeSettings, TaskList, WorkspaceSettings
from recall.domain.task import TaskRef
from recall.domain.work import NothingNew, PersonNeeded, Rebased, Result
from recall.gitops.agent_files import read_bytes
from tests.gitops.ground import Ground, gateway_for, settings_for
from tests.support.hermetic_git import Repo
from tests.support.workshop import eventually


@pytest.fixture
def ground(repo: Repo) -> Ground:
    repo.commit("more", {"src/a.py": "a = 1\n", "recall.toml": 'verify = "true"\n'})
    return Ground(repo)


# -- what it put aside -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("how", [(), ("push", "-m", "later")])
def test_work_left_in_the_shared_stash_stops_that_run_alone(ground: Ground, how: tuple[str, ...]) -> None:
    other = ground.gateway.open_workspace(TaskRef("main", "T-2"), 1, 8)
    Repo(other.tree).commit("honest", {"src/c.py": "c = 1\n"})
    ground.agent.commit("work", {"src/b.py": "b = 2\n"})
    ground.agent.write("src/a.py", "a = 3\n")
    ground.agent.git("stash", *how)
    refused = ground.refusal()
    assert "stash" in refused.reason and "recall/main/T-1/1: " in refused.paths[0]
    assert isinstance(ground.gateway.collect(other, 8, "t"), Result)
    assert ground.repo.file("src/a.py", "refs/stash") == b"a = 3\n"


def test_a_stash_that_was_taken_back_or_is_the_users_stops_nobody(ground: Ground) -> None:
    ground.repo.write("README.md", "mine\n")
    ground.repo.git("stash")
    ground.agent.write("src/a.py", "a = 3\n")
    ground.agent.git("stash")
    ground.agent.git("stash", "pop")
    assert ground.result().leftovers == ("src/a.py",)


def test_an_entry_made_on_no_branch_stops_the_run_that_was_there_alone(ground: Ground) -> None:
    other = ground.gateway.open_workspace(TaskRef("main", "T-2"), 1, 8)
    Repo(other.tree).commit("honest", {"src/c.py": "c = 1\n"})
    ground.agent.git("checkout", "-q", "--detach")
    ground.agent.write("src/a.py", "a = 3\n")
    ground.agent.git("stash", "push", "-m", "hidden")
    ground.agent.git("checkout", "-q", "-")
    refused = ground.refusal()
    (named,) = refused.paths
    assert named.startswith("stash entry ") and "On (no branch): hidden" in named
    assert isinstance(ground.gateway.collect(other, 8, "t"), Result)
    assert ground.repo.file("src/a.py", "refs/stash") == b"a = 3\n"


@pytest.mark.parametrize("takes", ["drop", "pop", "clear"])
def test_an_entry_of_the_users_that_goes_stops_the_run_and_names_what_brings_it_back(repo: Repo, takes: str) -> None:
    repo.write("README.md", "mine\n")
    repo.git("stash", "push", "-m", "precious")
    kept = repo.tip("refs/stash")
    ground = Ground(repo)
    ground.agent.commit("work", {"src/b.py": "b = 2\n"})
    ground.agent.git("stash", takes)
    assert ground.refusal().paths == (f"stash entry {kept[:12]} (On main: precious)",)
    repo.git("stash", "store", "-m", "again", kept[:12])
    assert repo.file("README.md", "refs/stash") == b"mine\n"


def test_a_user_who_puts_work_aside_on_no_branch_stops_nobody(ground: Ground) -> None:
    ground.agent.commit("work", {"src/b.py": "b = 2\n"})
    ground.repo.git("checkout", "-q", "--detach")
    ground.repo.write("README.md", "mine\n")
    ground.repo.git("stash")
    ground.repo.git("checkout", "-q", "main")
    assert ground.result().commits == 1


# -- commits and leftovers -----------------------------------------------------------------------------------
def test_commits_come_over_as_they_are(ground: Ground) -> None:
    tip = ground.agent.commit("work", {"src/b.py": "b = 2\n"})
    result = ground.result()
    assert (result.base, result.tip, result.commits) == (ground.workspace.base, tip, 1)
    assert (result.leftovers, result.restored, result.notes) == ((), (), ())
    assert ground.see().tip("refs/recall/run/7") == tip


def test_leftovers_become_one_commit_on_top(ground: Ground) -> None:
    tip = ground.agent.commit("work", {"src/b.py": "b = 2\n"})
    ground.agent.write("new file", "n")
    ground.agent.write("src/a.py", "a = 3\n")
    (ground.agent.path / "README.md").unlink()
    result = ground.result()
    see = ground.see()
    assert sorted(result.leftovers) == ["README.md", "new file", "src/a.py"]
    assert see.tip(f"{result.tip}~1") == tip
    assert see.files(result.tip) == ["TASKS.md", "new file", "recall.toml", "src/a.py", "src/b.py"]
    assert see.file("src/a.py", result.tip) == b"a = 3\n"
    assert see.message(result.tip).startswith("Do the thing\n")


@pytest.mark.parametrize("kind", ["worktree", "clone"])
def test_an_edit_that_keeps_size_and_second_is_found(repo: Repo, kind: str) -> None:
    """An agent at work in the second in which its folder was filled; its work is looked at in a later one."""
    repo.commit("more", {"src/a.py": "a = 1\n"})
    gateway = gateway_for(repo, replace(settings_for(repo), workspaces=WorkspaceSettings(kind=kind)))
    for run_id in range(1, 30):
        workspace = gateway.open_workspace(TaskRef("main", f"T-{run_id}"), 1, run_id)
        file = workspace.tree / "src/a.py"
        filled = int(file.stat().st_mtime)
        file.write_text("a = 3\n")
        if int(file.stat().st_mtime) == filled:
            eventually(lambda second=filled: time.time() > second + 1)
            result = gateway.collect(workspace, run_id, "t")
            assert isinstance(result, Result)
            assert result.leftovers == ("src/a.py",)
            return
    pytest.fail("no folder was filled and edited within one second")


def test_the_agents_folder_and_branch_stay_as_they_are(ground: Ground) -> None:
    tip = ground.agent.commit("work", {"src/b.py": "b = 2\n"})
    ground.agent.write("left", "n")
    first = ground.result()
    assert (ground.agent.tip(), ground.agent.status()) == (tip, ["?? left"])
    assert ground.result() == first


def test_ignored_files_and_the_mailbox_stay_behind(ground: Ground) -> None:
    ground.agent.commit("ignore", {".gitignore": "*.log\n"})
    ground.agent.write("x.log", "x")
    ground.agent.write(".recall-run/report.json", "{}")
    (ground.agent.path / ".recall-run/.gitignore").unlink(missing_ok=True)
    assert ground.result().leftovers == ()


def test_a_mailbox_that_was_committed_is_taken_out(ground: Ground) -> None:
    ground.agent.write(".recall-run/report.json", "{}")
    ground.agent.git("add", "-f", ".recall-run/report.json")
    ground.agent.commit("oops", {"src/b.py": "b"})
    result = ground.result()
    assert ".recall-run/report.json" not in ground.see().files(result.tip)


def test_nothing_at_all_is_nothing_new(ground: Ground) -> None:
    assert isinstance(ground.collect(), NothingNew)


def test_work_that_was_undone_is_nothing_new(ground: Ground) -> None:
    ground.agent.commit("there", {"x": "x"})
    ground.agent.commit("and back", {"x": None})
    assert isinstance(ground.collect(), NothingNew)


def test_odd_names_modes_links_and_line_ends_arrive_unchanged(ground: Ground) -> None:
    agent = ground.agent
    agent.write("crlf.txt", b"a\r\nb\r\n")
    agent.write('-x "ä"\n\t', b"odd")
    (agent.path / "README.md").chmod(0o755)
    (agent.path / "link").symlink_to("/etc/passwd")
    raw = os.fsdecode(b"bad\xff")
    (agent.path / raw).write_bytes(b"bytes")
    result = ground.result()
    see = ground.see()
    assert see.file("crlf.txt", result.tip) == b"a\r\nb\r\n"
    assert set(see.files(result.tip)) >= {'-x "ä"\n\t', raw, "link"}
    assert see.git("ls-tree", result.tip, "README.md").startswith("100755")
    assert see.file("link", result.tip) == b"/etc/passwd"


def test_an_edit_that_keeps_size_and_time_is_found(ground: Ground) -> None:
    file = ground.agent.path / "src/a.py"
    before = file.stat()
    file.write_text("a = 2\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert ground.result().leftovers == ("src/a.py",)


# -- where the commits are -----------------------------------------------------------------------------------
def test_commits_on_another_branch_are_used_and_told(ground: Ground) -> None:
    ground.agent.switch("mine", create=True)
    tip = ground.agent.commit("y", {"y": "x"})
    result = ground.result()
    assert result.tip == tip
    assert "mine" in result.notes[0]


def test_commits_on_a_detached_head_are_used_and_told(ground: Ground) -> None:
    ground.agent.git("checkout", "-q", "--detach")
    tip = ground.agent.commit("y", {"y": "x"})
    result = ground.result()
    assert result.tip == tip
    assert "detached" in result.notes[0]


def test_a_head_that_went_back_does_not_hide_the_branch(ground: Ground) -> None:
    tip = ground.agent.commit("y", {"y": "x"})
    ground.agent.git("checkout", "-q", "--detach", ground.workspace.base)
    result = ground.result()
    assert result.tip == tip
    ground.agent.write("left", "x")
    assert "left" in ground.refusal().paths


def test_two_lines_of_work_need_a_person(ground: Ground) -> None:
    ground.agent.commit("here", {"y": "x"})
    ground.agent.git("checkout", "-q", "-b", "mine", ground.workspace.base)
    ground.agent.commit("there", {"z": "x"})
    assert "mine" in ground.refusal().reason


def test_commits_that_do_not_build_on_the_base_need_a_person(ground: Ground) -> None:
    ground.agent.git("reset", "-q", "--hard", "HEAD~1")
    ground.agent.commit("other past", {"z": "x"})
    assert "do not build on" in ground.refusal().reason


def test_refs_are_found_packed_and_loose(ground: Ground) -> None:
    tip = ground.agent.commit("y", {"y": "x"})
    ground.repo.git("pack-refs", "--all", "--prune")
    assert ground.result().tip == tip


def test_a_worktree_folder_that_is_gone_still_gives_its_commits(ground: Ground) -> None:
    tip = ground.agent.commit("y", {"y": "x"})
    shutil.rmtree(ground.workspace.tree)
    result = ground.collect_regardless()
    assert isinstance(result, Result)
    assert result.tip == tip
    assert "gone" in result.notes[0]


# -- what only a person can decide ---------------------------------------------------------------------------
def unfinished_rebase(ground: Ground) -> None:
    ground.agent.commit("mine", {"README.md": "mine\n"})
    ground.repo.commit("theirs", {"README.md": "theirs\n"})
    ground.agent.run("rebase", "main", check=False)


def unfinished_merge(ground: Ground) -> None:
    ground.agent.commit("mine", {"README.md": "mine\n"})
    ground.repo.commit("theirs", {"README.md": "theirs\n"})
    ground.agent.run("merge", "main", check=False)


def unfinished_pick(ground: Ground) -> None:
    ground.agent.commit("mine", {"README.md": "mine\n"})
    theirs = ground.repo.commit("theirs", {"README.md": "theirs\n"})
    ground.agent.run("cherry-pick", theirs, check=False)


def bisecting(ground: Ground) -> None:
    ground.agent.commit("mine", {"x": "x"})
    ground.agent.git("bisect", "start")


def unresolved_stash(ground: Ground) -> None:
    ground.agent.write("README.md", "stashed\n")
    ground.agent.git("stash", "-q")
    ground.agent.commit("mine", {"README.md": "mine\n"})
    ground.agent.run("stash", "pop", check=False)


def skip_worktree(ground: Ground) -> None:
    ground.agent.git("update-index", "--skip-worktree", "README.md")


def assume_unchanged(ground: Ground) -> None:
    ground.agent.git("update-index", "--assume-unchanged", "README.md")


def nested_repository(ground: Ground) -> None:
    Repo.create(ground.agent.path / "inner").commit("x", {"x": "x"})


def nested_empty_repository(ground: Ground) -> None:
    Repo.create(ground.agent.path / "inner")


def committed_gitlink(ground: Ground) -> None:
    Repo.create(ground.agent.path / "inner").commit("x", {"x": "x"})
    ground.agent.commit("embedded")


def secret(ground: Ground) -> None:
    ground.agent.write("config/.env", "KEY=abc")


def private_key(ground: Ground) -> None:
    ground.agent.write("deploy.pem", "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n")


def huge_file(ground: Ground) -> None:
    with ground.agent.write("core.bin", "").open("wb") as file:
        file.truncate(200_000_000)


def huge_tracked_file(ground: Ground) -> None:
    ground.agent.write("README.md", os.urandom(11 * 1024 * 1024))


def tree_is_a_link(ground: Ground) -> None:
    ground.workspace.tree.rename(ground.workspace.folder / "elsewhere")
    ground.workspace.tree.symlink_to(ground.workspace.folder / "elsewhere")


def orphan_branch(ground: Ground) -> None:
    ground.agent.git("checkout", "-q", "--orphan", "fresh")


@pytest.mark.parametrize(
    ("leave", "words"),
    [
        (unfinished_rebase, "rebase"),
        (unfinished_merge, "merge"),
        (unfinished_pick, "cherry-pick"),
        (bisecting, "bisect"),
        (unresolved_stash, "unresolved"),
        (skip_worktree, "skip-worktree"),
        (assume_unchanged, "assume-unchanged"),
        (nested_repository, "repositories"),
        (nested_empty_repository, "repositories"),
        (committed_gitlink, "repositories"),
        (secret, "secrets"),
        (private_key, "secrets"),
        (huge_file, "max_leftover_bytes"),
        (huge_tracked_file, "max_leftover_bytes"),
        (tree_is_a_link, "link"),
        (orphan_branch, "names no commit"),
    ],
)
def test_a_person_is_asked_and_nothing_is_lost(ground: Ground, leave: Callable[[Ground], None], words: str) -> None:
    ground.agent.commit("before", {"kept": "x"})
    leave(ground)
    before = ground.agent.run("status", "--porcelain", check=False).stdout
    refused = ground.refusal()
    assert words in refused.reason
    assert ground.agent.run("status", "--porcelain", check=False).stdout == before
    assert not ground.see().has("refs/recall/run/7")


def test_the_refusal_names_the_files(ground: Ground) -> None:
    secret(ground)
    assert ground.refusal().paths == ("config/.env (by its name)",)


def capped(repo: Repo, max_bytes: int) -> Ground:
    return Ground(repo, replace(settings_for(repo), merge=MergeSettings(max_leftover_bytes=max_bytes)))


def test_the_cap_is_a_setting(repo: Repo) -> None:
    ground = capped(repo, 10)
    ground.agent.write("small", "x" * 11)
    refused = ground.refusal()
    assert refused.paths[0].startswith("small")
    assert "left uncommitted" in refused.reason


@pytest.mark.parametrize("later", [{}, {"big": None}, {"big": "small now\n"}])
def test_the_cap_holds_for_commits_too_and_for_each_version_in_them(
    repo: Repo, later: dict[str, str | bytes | None]
) -> None:
    ground = capped(repo, 1000)
    ground.agent.commit("big", {"big": "x" * 1001})
    if later:
        ground.agent.commit("later", later)
    refused = ground.refusal()
    assert refused.paths[0].startswith("big ")
    assert "are new in its commits" in refused.reason
    assert ground.see().run("rev-parse", "--verify", "-q", "refs/recall/run/7", check=False).returncode == 1


def test_what_the_repository_has_already_is_not_new(repo: Repo) -> None:
    """A file that moves, one that main has, and main merged into the run's branch."""
    repo.commit("big", {"big": "x" * 1001})
    ground = capped(repo, 1000)
    ground.agent.git("mv", "big", "moved")
    ground.agent.commit("move it")
    repo.commit("another", {"another": "y" * 1001})
    ground.agent.git("merge", "-q", "--no-edit", "main")
    ground.agent.commit("small", {"small": "z"})
    assert ground.result().commits == 3


@pytest.mark.parametrize(
    ("path", "content", "told"),
    [
        ("config/.env", "KEY=abc", "config/.env (by its name)"),
        ("deploy.pem", "# mine\n-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n", "deploy.pem:2 (a private key)"),
        ("x/id_rsa", "", "x/id_rsa (by its name)"),
    ],
)
@pytest.mark.parametrize("removed", [True, False])
def test_secrets_in_a_commit_need_a_person_who_is_told_where_they_are(
    ground: Ground, path: str, content: str, told: str, removed: bool
) -> None:
    ground.agent.commit("oops", {path: content, "fine.py": "x"})
    if removed:
        ground.agent.commit("hide it", {path: None})
    refused = ground.refusal()
    assert "secrets" in refused.reason
    assert refused.paths == (told,)


TOKEN = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_a_file_that_was_there_before_may_change_whatever_its_name_and_what_it_held(repo: Repo) -> None:
    repo.commit("old habits", {".env": "KEY=1", "deploy.py": f"token = '{TOKEN}'\n"})
    ground = Ground(repo)
    ground.agent.commit("change", {".env": "KEY=2", "deploy.py": f"import sys\n\ntoken = '{TOKEN}'\n"})
    assert ground.result().commits == 1


@pytest.mark.parametrize("committed", [True, False])
def test_a_token_that_comes_into_an_old_file_is_told_by_its_line_and_not_shown(repo: Repo, committed: bool) -> None:
    repo.commit("start", {"deploy.py": "import sys\n"})
    ground = Ground(repo)
    ground.agent.write("deploy.py", f"import sys\n\ntoken = '{TOKEN}'\n")
    if committed:
        ground.agent.commit("deploy")
    refused = ground.refusal()
    assert refused.paths == ("deploy.py:3 (a GitHub token)",)
    assert TOKEN not in refused.reason


@pytest.mark.parametrize("committed", [True, False])
def test_a_large_binary_file_is_singled_out_below_the_cap_of_all(repo: Repo, committed: bool) -> None:
    ground = Ground(repo, replace(settings_for(repo), merge=MergeSettings(max_binary_bytes=1000)))
    ground.agent.write("big.txt", "x" * 5000)
    ground.agent.write("small.bin", b"\0" * 1000)
    ground.agent.write("large.bin", b"\0" * 1001)
    if committed:
        ground.agent.commit("all of it")
        ground.agent.commit("smaller now", {"large.bin": b"\0"})  # the large one stays in history
    refused = ground.refusal()
    assert refused.paths == ("large.bin (0.0 MiB)",)
    assert "merge.max_binary_bytes" in refused.reason


# -- what tools leave ------------------------------------------------------------------------------------------
TOOLS = (
    "node_modules/a/index.js", "web/node_modules/b.js", ".venv/bin/python", "src/__pycache__/a.cpython-311.pyc",
    "old.pyc", ".DS_Store", "web/.DS_Store", "target/debug/app", ".src.swp", "notes~", ".#lock", "#auto#",
)  # fmt: skip


def test_what_tools_make_stays_behind_without_a_gitignore(ground: Ground) -> None:
    for path in TOOLS:
        ground.agent.write(path, "x")
    ground.agent.write("work.py", "x")
    ground.agent.write("src/retarget/x.py", "x")
    assert ground.result().leftovers == ("src/retarget/x.py", "work.py")


def test_what_was_committed_or_tracked_before_is_work_whatever_its_name(repo: Repo) -> None:
    """A folder in which the repository has files is the project's own."""
    repo.commit("ours", {"maven [x]/target/kept.txt": "x", "node_modules/own/a.js": "x"})
    ground = Ground(repo)
    ground.agent.commit("on purpose", {"target/tool.py": "x"})
    for path in (
        "maven [x]/target/new.txt", "maven [x]/target/kept.txt", "node_modules/own/b.js", "target/left.py",
        "elsewhere/target/app", "node_modules/own/node_modules/c.js", "target/__pycache__/tool.pyc",
    ):  # fmt: skip
        ground.agent.write(path, "y")
    result = ground.result()
    wanted = {"maven [x]/target/new.txt", "maven [x]/target/kept.txt", "node_modules/own/b.js", "target/left.py"}
    assert set(result.leftovers) == wanted
    assert "target/tool.py" in ground.see().files(result.tip)


def test_the_repositorys_own_rules_and_the_users_count_for_more(repo: Repo, home: Path) -> None:
    (home / ".config/git").mkdir(parents=True)
    (home / "dotfiles").write_text("*.mine\n")
    (home / ".config/git/ignore").symlink_to(home / "dotfiles")
    repo.commit("rules", {".gitignore": "!target/\n"})
    ground = Ground(repo)
    for path in ("target/app", "x.mine", ".DS_Store"):
        ground.agent.write(path, "x")
    assert ground.result().leftovers == ("target/app",)


def test_which_files_of_tools_stay_behind_is_a_setting(repo: Repo) -> None:
    ground = Ground(repo, replace(settings_for(repo), merge=MergeSettings(ignore=("*.tmp", "/made/"))))
    for path in ("a.tmp", "made/x", "src/made/x", "target/app"):
        ground.agent.write(path, "x")
    assert ground.result().leftovers == ("src/made/x", "target/app")


def test_a_huge_file_is_refused_before_it_is_copied(ground: Ground) -> None:
    ground.agent.write("core.bin", b"0" * (11 * 1024 * 1024))
    oid = ground.agent.git("hash-object", "--no-filters", "core.bin")
    assert ground.refusal().paths[0].startswith("core.bin")
    assert not ground.see().has(oid)


def test_example_files_are_no_secrets(ground: Ground) -> None:
    ground.agent.write(".env.example", "KEY=")
    assert ground.result().leftovers == (".env.example",)


@pytest.mark.parametrize("name", [".git", ".GIT", "git~1", ".g\u200cit", "..", "a/b"])
def test_a_tree_with_a_git_entry_is_refused(ground: Ground, name: str) -> None:
    """Also under the names by which other file systems know it, and other entries that leave their folder."""
    blob = ground.agent.git("hash-object", "-w", "--stdin", stdin=b"[core]\n")
    inner = ground.agent.git("mktree", stdin=f"100644 blob {blob}\tconfig\n".encode())
    raw = b"40000 " + name.encode() + b"\0" + bytes.fromhex(inner)
    tree = ground.agent.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=raw)
    commit = ground.agent.git("commit-tree", tree, "-p", "HEAD", "-m", "trap")
    ground.agent.git("update-ref", "HEAD", commit)
    refused = ground.gateway.integration.carry(commit, [ground.workspace.base])
    assert refused is not None
    assert "fsck error" in refused.reason
    assert not isinstance(ground.collect(), Result)
    assert not ground.see().run("rev-parse", "-q", "--verify", "refs/recall/run/7", check=False).stdout


# -- protected files -----------------------------------------------------------------------------------------
def test_a_deleted_task_file_comes_back(ground: Ground) -> None:
    ground.agent.git("rm", "-q", "TASKS.md")
    ground.agent.commit("x", {"src/b.py": "b"})
    result = ground.result()
    assert result.restored == ("TASKS.md",)
    assert ground.see().file("TASKS.md", result.tip) == b"# Tasks\n"


def test_protected_files_are_taken_out_of_every_commit(ground: Ground) -> None:
    first = ground.agent.commit("one", {"src/b.py": "b"}, author="Ada <ada@example.invalid>")
    ground.agent.commit(
        "two", {"recall.toml": 'verify = "evil"\n', "src/c.py": "c"}, author="Bo <bo@example.invalid>"
    )
    ground.agent.commit("three", {"recall.toml": 'verify = "true"\n', "src/d.py": "d"})
    result = ground.result()
    see = ground.see()
    assert result.restored == ("recall.toml",)
    assert see.subjects(f"{result.base}..{result.tip}") == ["one", "two", "three"]
    assert see.tip(f"{result.tip}~2") == first
    for back in range(3):
        assert see.file("recall.toml", f"{result.tip}~{back}") == b'verify = "true"\n'
    assert see.git("log", "-1", "--format=%an %ad", f"{result.tip}~1") == ground.agent.git(
        "log", "-1", "--format=%an %ad", "HEAD~1"
    )


def test_a_protected_file_turned_into_a_folder_is_a_file_again(ground: Ground) -> None:
    ground.agent.git("rm", "-q", "TASKS.md")
    ground.agent.commit("x", {"TASKS.md/evil": "x", "y": "y"})
    result = ground.result()
    assert "TASKS.md/evil" in result.restored
    assert ground.see().files(result.tip) == ["README.md", "TASKS.md", "recall.toml", "src/a.py", "y"]


def test_a_protected_file_whose_folder_became_a_link_is_a_file_again(repo: Repo) -> None:
    repo.commit("web", {"web/TASKS.md": "# Web\n"})
    ground = Ground(repo, replace(settings_for(repo), tasks=(TaskList("web", "web/TASKS.md"),)))
    shutil.rmtree(ground.agent.path / "web")
    (ground.agent.path / "web").symlink_to("/etc")
    ground.agent.commit("x", {"y": "y"})
    result = ground.result()
    assert ground.see().file("web/TASKS.md", result.tip) == b"# Web\n"


def test_a_new_protected_file_is_not_let_in(repo: Repo) -> None:
    ground = Ground(repo)  # main has no recall.toml
    ground.agent.commit("x", {"recall.toml": "evil", "y": "y"})
    result = ground.result()
    assert ground.see().files(result.tip) == ["README.md", "TASKS.md", "y"]


def test_workflows_and_what_the_settings_name_stay_as_they_are(repo: Repo) -> None:
    repo.commit(
        "start", {".github/workflows/ci.yml": "on: push\n", "deploy/prod.yml": "a: 1\n", "deploy/dev.yml": "1"}
    )
    named = MergeSettings(protected=(*MergeSettings().protected, "deploy/prod.yml"))
    ground = Ground(repo, replace(settings_for(repo), merge=named))
    ground.agent.commit("one", {".github/workflows/ci.yml": "evil", ".github/workflows/new\x1b[2J.yml": "evil"})
    ground.agent.commit("two", {"deploy/prod.yml": "evil", "deploy/dev.yml": "2"})
    ground.agent.write(".github/CODEOWNERS", "me")
    result = ground.result()
    see = ground.see()
    assert [path for path in result.restored if "\x1b" in path] == []
    assert {".github/CODEOWNERS", ".github/workflows/ci.yml", "deploy/prod.yml"} < set(result.restored)
    for commit in see.git("rev-list", f"{result.base}..{result.tip}").split():
        assert see.file(".github/workflows/ci.yml", commit) == b"on: push\n"
        assert see.file("deploy/prod.yml", commit) == b"a: 1\n"
        assert [path for path in see.files(commit) if path.startswith(".github/")] == [".github/workflows/ci.yml"]
    assert see.file("deploy/dev.yml", result.tip) == b"2"


def test_workflows_are_open_to_agents_where_the_settings_say_so(repo: Repo) -> None:
    ground = Ground(repo, replace(settings_for(repo), merge=MergeSettings(protected=())))
    ground.agent.commit("one", {".github/workflows/ci.yml": "on: push\n"})
    assert ground.see().file(".github/workflows/ci.yml", ground.result().tip) == b"on: push\n"


def test_only_protected_changes_are_nothing_new(ground: Ground) -> None:
    ground.agent.commit("x", {"TASKS.md": "# Mine\n"})
    outcome = ground.collect()
    assert isinstance(outcome, NothingNew)
    assert "TASKS.md" in outcome.reason


def test_uncommitted_protected_changes_are_taken_out_too(ground: Ground) -> None:
    ground.agent.write("TASKS.md", "# Mine\n")
    ground.agent.write("y", "y")
    result = ground.result()
    assert ground.see().file("TASKS.md", result.tip) == b"# Tasks\n"


@pytest.mark.parametrize("strategy", [[], ["-s", "ours"]])
@pytest.mark.parametrize("touched", [True, False])
def test_mains_own_change_of_a_task_file_survives_a_merge_by_the_agent(
    ground: Ground, strategy: list[str], touched: bool
) -> None:
    ground.agent.commit("mine", {"y": "y"})
    if touched:
        ground.agent.commit("and", {"TASKS.md": "# Mine\n"})
        ground.agent.commit("back", {"TASKS.md": "# Tasks\n"})
    ground.repo.commit("by the user", {"TASKS.md": "# Tasks\n\n- [ ] T-2 more\n"})
    ground.agent.git("merge", "-q", "--no-edit", *strategy, "main")
    result = ground.result()
    outcome = ground.gateway.rebase(base=result.base, tip=result.tip, onto=ground.repo.tip("main"), trailers={})
    assert isinstance(outcome, Rebased)
    assert b"T-2" in ground.see().file("TASKS.md", outcome.candidate)
    assert ground.see().file("y", outcome.candidate) == b"y"


@pytest.mark.parametrize("where", [{0}, {1}, {2}, {0, 1, 2}])
@pytest.mark.parametrize("merges_main", [False, True])
def test_task_files_edited_anywhere_in_the_series_never_conflict_and_never_land(
    ground: Ground, where: set[int], merges_main: bool
) -> None:
    repo, agent = ground.repo, ground.agent
    for number in range(3):
        mine = {"TASKS.md": f"# Tasks\n\nmine {number}\n", "recall.toml": f"# mine {number}\n"}
        agent.commit(f"step {number}", {f"step{number}": "x", **(mine if number in where else {})})
        repo.commit(
            f"main {number}", {"TASKS.md": f"# Tasks\n\nmain {number}\n", "recall.toml": f"# main {number}\n"}
        )
        if merges_main and number == 1:
            agent.git("merge", "-q", "--no-edit", "-X", "ours", "main")
    agent.write("TASKS.md", "uncommitted\n")
    agent.write("left", "x")
    result = ground.result()
    assert set(result.restored) == {"TASKS.md", "recall.toml"}
    tip = repo.tip("main")
    outcome = ground.gateway.rebase(base=result.base, tip=result.tip, onto=tip, trailers={"A": "b"})
    assert isinstance(outcome, Rebased), outcome
    see = ground.see()
    landed = set(see.git("log", "--format=", "--name-only", f"{tip}..{outcome.candidate}").split())
    assert landed == {"step0", "step1", "step2", "left"}
    assert set(see.files(outcome.candidate)) >= {"step0", "step1", "step2", "left"}
    assert see.file("TASKS.md", outcome.candidate) == b"# Tasks\n\nmain 2\n"
    assert see.file("recall.toml", outcome.candidate) == b"# main 2\n"


# -- a result outlives its source ----------------------------------------------------------------------------
def test_a_result_survives_branch_deletion_reset_and_gc(ground: Ground) -> None:
    repo = ground.repo
    repo.commit("base of the run", {"z": "z"})
    workspace = ground.gateway.open_workspace(TaskRef("main", "T-2"), 1, 8)
    agent = Repo(workspace.tree)
    agent.commit("work", {"y": "y"})
    result = ground.gateway.collect(workspace, 8, "t")
    assert isinstance(result, Result)
    ground.gateway.close_workspace(workspace, 8, landed=False)
    repo.git("reset", "-q", "--hard", "HEAD~1")
    ground.gateway.open_workspace(TaskRef("main", "T-3"), 1, 9)  # the folder is used again, on another commit
    for ref in repo.git("for-each-ref", "--format=%(refname)", "refs/heads/recall", "refs/recall/parked").split():
        repo.git("update-ref", "-d", ref)
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "-q", "--prune=now")
    outcome = ground.gateway.rebase(base=result.base, tip=result.tip, onto=repo.tip("main"), trailers={"A": "b"})
    assert isinstance(outcome, Rebased)
    assert set(ground.see().files(outcome.candidate)) >= {"y"}
    assert "z" not in ground.see().files(outcome.candidate)
    ground.see().git("fsck", "--strict", "--no-dangling")


def test_a_clone_gives_its_work_too(repo: Repo, home: Path) -> None:
    settings = replace(settings_for(repo), workspaces=WorkspaceSettings(kind="clone"))
    ground = Ground(repo, settings)
    clone = ground.agent
    clone.commit("c", {"committed": "c"})
    clone.git("config", "core.fsmonitor", str(_script(home / "p.sh", home / "pwned")))
    clone.git("config", "filter.x.clean", str(_script(home / "q.sh", home / "pwned")))
    clone.write("left", "l")
    clone.write(".gitattributes", "* filter=x\n")
    result = ground.result()
    shutil.rmtree(ground.workspace.folder)
    assert ground.see().files(result.tip) == [".gitattributes", "README.md", "TASKS.md", "committed", "left"]
    ground.see().git("fsck", "--strict", "--no-dangling")
    assert not (home / "pwned").exists()


# -- branches handed in --------------------------------------------------------------------------------------
def test_a_branch_of_the_user_is_adopted_without_its_protected_changes(repo: Repo) -> None:
    ground = Ground(repo)
    repo.switch("feature", create=True)
    repo.commit("one", {"x": "x", "TASKS.md": "# Mine\n"})
    repo.switch("main")
    repo.commit("meanwhile", {"m": "m"})
    result = ground.gateway.adopt_branch("feature", 9)
    assert isinstance(result, Result)
    assert (result.commits, result.restored) == (1, ("TASKS.md",))
    assert repo.tip("feature") != result.tip
    assert ground.see().tip("refs/recall/run/9") == result.tip


def test_a_branch_that_is_missing_or_merged_is_told(repo: Repo) -> None:
    ground = Ground(repo)
    assert isinstance(ground.gateway.adopt_branch("nowhere", 9), PersonNeeded)
    repo.branch("old")
    assert isinstance(ground.gateway.adopt_branch("old", 9), NothingNew)


# -- traps ---------------------------------------------------------------------------------------------------
def _script(path: Path, touch: Path) -> Path:
    path.write_text(f"#!/bin/sh\ntouch {touch}\ncat\n")
    path.chmod(0o755)
    return path


def test_nothing_that_an_agent_planted_runs(ground: Ground, home: Path) -> None:
    """The gateway refuses to go on when the shared configuration changed; the collector alone must be safe too."""
    agent, pwned = ground.agent, home / "pwned"
    trap = str(_script(home / "p.sh", pwned))
    keys = (
        "core.fsmonitor core.editor core.pager sequence.editor core.sshCommand gpg.program diff.external "
        "credential.helper filter.x.clean filter.x.smudge filter.x.process merge.x.driver core.alternateRefsCommand"
    )
    agent.commit("attributes", {".gitattributes": "* filter=x merge=x diff=x\n", "src/a.py": "a = 5\n"})
    for key in keys.split():
        agent.git("config", key, trap)
    agent.git("config", "commit.gpgsign", "true")
    for hook in ("pre-commit", "post-commit", "reference-transaction", "post-checkout", "post-index-change"):
        _script(ground.repo.git_dir / "hooks" / hook, pwned)
    agent.write("left", "x")
    ground.repo.run(
        "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "commit.gpgsign=false",
        "commit", "-q", "--allow-empty", "-m", "main moves",
    )  # fmt: skip
    pwned.unlink(missing_ok=True)
    assert "config core.fsmonitor" in ground.refusal().paths
    result = ground.collect_regardless()
    assert isinstance(result, Result)
    outcome = ground.gateway.rebase(
        base=result.base, tip=result.tip, onto=ground.repo.tip("main"), trailers={"A": "b"}
    )
    assert isinstance(outcome, Rebased)
    ground.gateway.open_slot(outcome.candidate)
    assert not pwned.exists()


def test_a_replaced_git_file_is_never_followed(ground: Ground, home: Path, tmp_path: Path) -> None:
    trap = Repo.create(tmp_path / "trap")
    trap.commit("trap", {"trap": "x"})
    trap.git("config", "core.fsmonitor", str(_script(home / "p.sh", home / "pwned")))
    tip = ground.agent.commit("work", {"y": "y"})
    (ground.workspace.tree / ".git").write_text(f"gitdir: {trap.git_dir}\n")
    result = ground.collect_regardless()
    assert getattr(result, "tip", None) == tip
    assert not (home / "pwned").exists()


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "missing", "huge"])
def test_odd_files_in_a_git_dir_read_as_nothing(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "HEAD"
    if kind == "link":
        (tmp_path / "target").write_text("secret")
        place.symlink_to("target")
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    elif kind == "huge":
        place.write_bytes(b"x" * 101)
    assert read_bytes(place, 100) == b""


def test_replacement_objects_are_not_believed(ground: Ground) -> None:
    tip = ground.agent.commit("work", {"y": "true"})
    fake = ground.agent.git("hash-object", "-w", "--stdin", stdin=b"planted")
    ground.agent.git("replace", ground.agent.git("rev-parse", "HEAD:y"), fake)
    result = ground.result()
    assert result.tip == tip
    assert ground.see().file("y", result.tip) == b"true"


# -- cases from the wild -------------------------------------------------------------------------------------
CASES = {
    case["id"]: case for case in json.loads((Path(__file__).parent.parent / "cases/agent-behaviour.json").read_text())
}
MEANT = {
    "AG-019": "used",
    "AG-029": "unharmed",
    "AG-033": "asked",
    "AG-039": "unchanged",
}


@pytest.mark.parametrize("case", MEANT)
def test_agent_behaviour(ground: Ground, case: str) -> None:
    script = CASES[case]["input"]["fake_agent_sh"].replace("exit 0", "true")
    subprocess.run(["sh", "-ec", script], cwd=ground.workspace.tree, check=True, capture_output=True)
    outcome = ground.collect()
    if MEANT[case] == "asked":
        assert isinstance(outcome, PersonNeeded)
        return
    if MEANT[case] == "unharmed":
        assert isinstance(outcome, NothingNew)
        return
    result = ground.result()
    if MEANT[case] == "used":
        assert ground.see().file("y", result.tip) == b"x\n"
    else:
        assert ground.see().file("crlf.txt", result.tip) == b"a\r\nb\r\n"
        assert ground.see().git("ls-tree", result.tip, "README.md").startswith("100755")
