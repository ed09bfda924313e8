"""A verification slot holds the commit under test and nothing that could make a broken tree look green."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from recall.config.settings import MergeSettings, WorkspaceSettings
from recall.domain.errors import ConfigError
from recall.gitops.gateway import GitGateway
from recall.gitops.slots import check_keep
from tests.gitops.ground import Ground, gateway_for, settings_for
from tests.support.hermetic_git import Repo


@pytest.fixture
def gateway(repo: Repo) -> GitGateway:
    return gateway_for(repo)


def _files(tree: Path) -> dict[str, bytes]:
    found = (path for path in tree.rglob("*") if path.is_file() and ".git" not in path.relative_to(tree).parts)
    return {path.relative_to(tree).as_posix(): path.read_bytes() for path in found}


def test_a_slot_holds_the_commits_files(repo: Repo, gateway: GitGateway) -> None:
    first = repo.commit("one", {"a": "1", "d/e": "2"})
    second = repo.commit("two", {"a": "one more", "d/e": None, "f": "3"})
    slot = gateway.open_slot(first)
    assert slot == repo.path / ".recall/verify/0"
    assert _files(slot) == {"README.md": b"hello\n", "TASKS.md": b"# Tasks\n", "a": b"1", "d/e": b"2"}
    assert gateway.slot_changes(slot, first) == ()
    assert gateway.open_slot(second) == slot
    assert _files(slot) == {"README.md": b"hello\n", "TASKS.md": b"# Tasks\n", "a": b"one more", "f": b"3"}


def test_unchanged_files_keep_their_times(repo: Repo, gateway: GitGateway) -> None:
    first = repo.commit("one", {"a": "1", "b": "1"})
    second = repo.commit("two", {"b": "2"})
    slot = gateway.open_slot(first)
    os.utime(slot / "a", (1_000_000_000, 1_000_000_000))
    assert gateway.slot_changes(slot, first) == ()
    gateway.open_slot(second)
    os.utime(slot / "a", (1_000_000_000, 1_000_000_000))
    gateway.open_slot(first)  # after a verification that nobody looked at
    assert (slot / "a").stat().st_mtime == 1_000_000_000


def test_leftovers_of_the_last_verification_are_gone(repo: Repo, gateway: GitGateway) -> None:
    commit = repo.commit("one", {".gitignore": "*.pyc\nbuild/\n"})
    slot = gateway.open_slot(commit)
    (slot / "build/deep").mkdir(parents=True)
    (slot / "build/deep/x").write_text("x")
    (slot / "x.pyc").write_text("x")
    Repo.create(slot / "nested").commit("n", {"n": "n"})
    (slot / "locked").mkdir()
    (slot / "locked/file").write_text("x")
    (slot / "locked").chmod(0o500)
    (slot / "README.md").unlink()
    (slot / "README.md").mkdir()
    gateway.open_slot(commit)
    assert set(_files(slot)) == {".gitignore", "README.md", "TASKS.md"}
    assert not (slot / "nested").exists()
    assert not (slot / "locked").exists()


def test_what_is_kept_is_kept(repo: Repo) -> None:
    settings = replace(settings_for(repo), workspaces=WorkspaceSettings(keep=("node_modules",)))
    gateway = gateway_for(repo, settings)
    slot = gateway.open_slot(repo.tip())
    (slot / "node_modules").mkdir()
    (slot / "node_modules/x").write_text("x")
    (slot / "other").write_text("x")
    gateway.open_slot(repo.tip())
    assert (slot / "node_modules/x").exists()
    assert not (slot / "other").exists()


@pytest.mark.parametrize("pattern", ["__pycache__", "**/__pycache__/", "*", "src/__pycache__", "*.pyc", "__py*"])
def test_keeping_compiled_python_is_refused(pattern: str) -> None:
    with pytest.raises(ConfigError, match="spares compiled Python"):
        check_keep([pattern])


# -- what the verification did to tracked files ----------------------------------------------------------------
def test_a_change_of_a_tracked_file_is_seen(repo: Repo, gateway: GitGateway) -> None:
    commit = repo.commit("one", {"a": "1", "b": "1", "c": "1", "d": "1"})
    slot = gateway.open_slot(commit)
    (slot / "a").write_text("now longer")
    (slot / "b").unlink()
    (slot / "c").chmod(0o755)
    (slot / "d").unlink()
    (slot / "d").symlink_to("a")
    (slot / "untracked").write_text("x")
    assert set(gateway.slot_changes(slot, commit)) == {"a", "b", "c", "d"}


def test_a_change_that_keeps_size_and_time_is_seen_and_undone(repo: Repo, gateway: GitGateway) -> None:
    commit = repo.commit("one", {"a": "1111"})
    slot = gateway.open_slot(commit)
    before = (slot / "a").stat()
    (slot / "a").write_text("2222")
    os.utime(slot / "a", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert gateway.slot_changes(slot, commit) == ("a",)
    gateway.open_slot(commit)
    assert (slot / "a").read_text() == "1111"


def test_a_verification_that_nobody_looked_at_leaves_nothing_behind(repo: Repo, gateway: GitGateway) -> None:
    """A red verification is not looked at, nor one that was killed."""
    commit = repo.commit("one", {"a": "1111"})
    slot = gateway.open_slot(commit)
    gateway.slot_changes(slot, commit)
    gateway.open_slot(commit)
    before = (slot / "a").stat()
    (slot / "a").write_text("2222")
    os.utime(slot / "a", ns=(before.st_atime_ns, before.st_mtime_ns))
    gateway.open_slot(commit)
    assert (slot / "a").read_text() == "1111"


def test_line_ends_that_were_never_normalised_are_no_change(repo: Repo, gateway: GitGateway) -> None:
    repo.write("crlf.txt", b"a\r\nb\r\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "crlf")
    commit = repo.commit("attributes later", {".gitattributes": "*.txt text\n"})
    blob = repo.git("hash-object", "-w", "--stdin", "--no-filters", stdin=b"a\r\nb\r\n")
    repo.git("update-index", "--cacheinfo", f"100644,{blob},crlf.txt")
    repo.git("commit", "-q", "-m", "not normalised")
    commit = repo.tip()
    assert repo.file("crlf.txt") == b"a\r\nb\r\n"
    slot = gateway.open_slot(commit)
    assert gateway.slot_changes(slot, commit) == ()
    (slot / "crlf.txt").write_bytes(b"a\r\nc\r\n")
    assert gateway.slot_changes(slot, commit) == ("crlf.txt",)


def test_two_trees_of_one_size_never_get_each_others_verdict(repo: Repo, gateway: GitGateway) -> None:
    """Python believes compiled modules by time and size; 40 changes within seconds must not fool it."""
    commits = {
        "good": repo.commit("good", {"m.py": "ANSWER = 'good'\n"}),
        "evil": repo.commit("evil", {"m.py": "ANSWER = 'evil'\n"}),
    }
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    wrong = 0
    for turn in range(40):
        name = ("good", "evil")[turn % 2]
        slot = gateway.open_slot(commits[name])
        said = subprocess.run(
            [sys.executable, "-S", "-c", "import m; print(m.ANSWER)"],
            cwd=slot,
            env=env,
            capture_output=True,
            check=True,
        )
        wrong += said.stdout.decode().strip() != name
        if turn % 3:
            assert gateway.slot_changes(slot, commits[name]) == ()
    assert wrong == 0


# -- the throw-away .git -----------------------------------------------------------------------------------------
def test_tools_that_ask_git_get_an_answer(repo: Repo, gateway: GitGateway) -> None:
    repo.git("tag", "v1.0")
    repo.git("tag", "-a", "-m", "x", "v1.1")
    commit = repo.commit("one", {"a": "1"})
    slot = Repo(gateway.open_slot(commit))
    assert slot.tip() == commit
    assert slot.status() == []
    assert slot.git("describe", "--tags", "--always").startswith("v1.1-1-g")
    assert slot.subjects() == ["start", "one"]
    assert slot.git("ls-files").splitlines() == ["README.md", "TASKS.md", "a"]


def test_what_tests_do_to_it_is_of_no_account(repo: Repo, gateway: GitGateway, home: Path) -> None:
    first = repo.commit("one", {"a": "1"})
    second = repo.commit("two", {"a": "2"})
    slot = Repo(gateway.open_slot(first))
    trap = home / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {home}/pwned\n")
    trap.chmod(0o755)
    slot.git("config", "core.fsmonitor", str(trap))
    slot.git("update-ref", "HEAD", second)
    (slot.path / ".git/hooks").mkdir()
    (slot.path / ".git/hooks/post-checkout").symlink_to(trap)
    assert gateway.slot_changes(slot.path, first) == ()
    gateway.open_slot(second)
    assert (slot.path / "a").read_text() == "2"
    assert not (home / "pwned").exists()
    assert slot.tip() == second
    (slot.path / ".git").rename(slot.path / "gone")
    (slot.path / ".git").symlink_to(repo.git_dir)
    gateway.open_slot(first)
    assert repo.tip() == second


# -- .worktreeinclude --------------------------------------------------------------------------------------------
def test_included_files_are_copied_and_no_others(repo: Repo, gateway: GitGateway) -> None:
    repo.write(".worktreeinclude", ".env\nconf/*.local\nplain\n")
    repo.write(".env", "KEY=1")
    repo.write("conf/x.local", "l")
    repo.write("ignored.log", "no")
    repo.write("plain", "not ignored by git")
    repo.write(".gitignore", ".env\n*.local\n*.log\n")
    repo.git("add", ".gitignore")
    repo.git("commit", "-q", "-m", "ignore")
    slot = gateway.open_slot(repo.tip())
    assert set(_files(slot)) == {".env", ".gitignore", "README.md", "TASKS.md", "conf/x.local"}
    assert gateway.slot_changes(slot, repo.tip()) == ()


def test_included_files_do_not_go_through_a_link(repo: Repo, gateway: GitGateway, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    repo.write(".gitignore", "conf/x.local\n")
    (repo.path / "conf").symlink_to(outside)
    commit = repo.commit("a link")
    (repo.path / "conf").unlink()
    repo.write("conf/x.local", "secret")
    repo.write(".worktreeinclude", "conf/x.local\n")
    gateway.open_slot(commit)
    assert list(outside.iterdir()) == []


# -- several at once ---------------------------------------------------------------------------------------------
def test_slots_that_are_open_are_not_given_out_again(repo: Repo) -> None:
    gateway = gateway_for(repo, replace(settings_for(repo), merge=MergeSettings(window=2)))
    first, second = gateway.open_slot(repo.tip()), gateway.open_slot(repo.tip())
    assert first != second
    gateway.slot_changes(second, repo.tip())
    assert gateway.open_slot(repo.tip()) == second


def test_agents_get_the_included_files_too_and_none_of_them_lands(repo: Repo, home: Path) -> None:
    repo.commit("include", {".worktreeinclude": ".env\n", ".gitignore": ".env\n"})
    repo.write(".env", "KEY=1\n")
    ground = Ground(repo)
    assert (ground.workspace.tree / ".env").read_text() == "KEY=1\n"
    assert ground.agent.status() == []
    ground.agent.write(".env", "KEY=changed\n")
    ground.agent.write("work.py", "1\n")
    assert ground.result().leftovers == ("work.py",)
    assert (repo.path / ".env").read_text() == "KEY=1\n"
