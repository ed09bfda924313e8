"""Whatever stands in environment or configuration, a git call does what it was asked and starts nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from git.exc import GitCommandError

from recall.domain.errors import EnvironmentFailure
from recall.gitops.command import environment, pipe_git, run_git
from recall.gitops.wrapper import HardenedRepo
from tests.support.hermetic_git import Repo


def test_no_variable_leads_git_elsewhere(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = Repo.create(tmp_path / "other")
    other.commit("elsewhere", {"x": "x"})
    for name in subprocess.run(
        ["git", "rev-parse", "--local-env-vars"], capture_output=True, check=True
    ).stdout.split():
        monkeypatch.setenv(name.decode(), str(other.git_dir))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.name")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "Planted")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    assert run_git(["rev-parse", "HEAD"], cwd=repo.path).text == repo.tip()
    assert run_git(["config", "user.name"], cwd=repo.path).text == "Test Person"
    assert not [name for name in environment() if name.startswith("GIT_") and name.endswith(("DIR", "COUNT", "TREE"))]


def test_words_are_english_whatever_the_users_language(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("LANGUAGE", "de")
    done = run_git(["rev-parse", "--verify", "nowhere"], cwd=repo.path, check=False)
    assert done.error == "fatal: Needed a single revision"
    words = {name: value for name, value in environment().items() if name.startswith(("LC_", "LANG"))}
    assert words == {"LC_ALL": "C"}  # said apart: a machine without German would answer in English anyway


@pytest.mark.parametrize(
    "key",
    [
        "core.fsmonitor", "core.editor", "core.pager", "sequence.editor", "core.sshCommand", "gpg.program",
        "credential.helper", "core.askPass", "core.alternateRefsCommand",
    ],
)  # fmt: skip
def test_a_program_named_in_the_configuration_does_not_run(repo: Repo, home: Path, key: str) -> None:
    trap = _trap(home)
    repo.git("config", key, str(trap))
    repo.git("config", "commit.gpgSign", "true")
    repo.git("config", "log.showSignature", "true")
    repo.write("README.md", "edited\n")
    for args in (
        ["status"],
        ["add", "-A"],
        ["commit", "-m", "x"],
        ["log", "-p", "--no-ext-diff"],
        ["commit", "--amend"],
    ):
        run_git(args, cwd=repo.path)
    assert not (home / "pwned").exists()


@pytest.mark.parametrize("path", ["", "elsewhere"])
def test_hooks_do_not_run(repo: Repo, home: Path, path: str) -> None:
    trap = _trap(home)
    hooks = repo.git_dir / "hooks" if not path else home / path
    hooks.mkdir(exist_ok=True)
    for hook in (
        "pre-commit",
        "prepare-commit-msg",
        "commit-msg",
        "post-commit",
        "reference-transaction",
        "post-checkout",
    ):
        (hooks / hook).symlink_to(trap)
    if path:
        repo.git("config", "core.hooksPath", str(hooks))
    (home / "pwned").unlink(missing_ok=True)
    repo.write("x", "x")
    for args in (
        ["add", "-A"],
        ["commit", "-m", "x"],
        ["checkout", "-q", "-b", "b"],
        ["update-ref", "refs/x/y", "HEAD"],
    ):
        run_git(args, cwd=repo.path)
    assert not (home / "pwned").exists()


def _trap(home: Path) -> Path:
    trap = home / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {home}/pwned\n")
    trap.chmod(0o755)
    return trap


def test_a_planted_git_file_is_not_looked_at(repo: Repo, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / ".git").write_text("gitdir: /nowhere\n")
    (tree / "README.md").write_text("hello\n")
    index = tmp_path / "index"
    run_git(["read-tree", "HEAD"], git_dir=repo.git_dir, work_tree=tree, index=index)
    assert run_git(["ls-files", "-d"], git_dir=repo.git_dir, work_tree=tree, index=index).text == "TASKS.md"


def test_a_commit_with_signing_on_and_no_key_neither_hangs_nor_fails(repo: Repo) -> None:
    repo.git("config", "commit.gpgsign", "true")
    repo.git("config", "gpg.program", "/bin/false")
    run_git(["commit", "-q", "--allow-empty", "-m", "unsigned by choice"], cwd=repo.path, timeout=10)
    assert repo.subjects()[-1] == "unsigned by choice"


def test_paths_come_back_as_the_bytes_they_are(repo: Repo) -> None:
    name = os.fsdecode(b"b\xffd \n")
    (repo.path / name).write_text("x")
    assert run_git(["ls-files", "-o", "-z"], cwd=repo.path).text == f"{name}\0"


# -- failures -----------------------------------------------------------------------------------------------------
def test_a_failure_says_what_where_and_why(repo: Repo) -> None:
    with pytest.raises(EnvironmentFailure, match=r"git rev-parse --verify nowhere failed in .*repo.*single revision"):
        run_git(["rev-parse", "--verify", "nowhere"], cwd=repo.path)


def test_a_missing_git_or_folder_says_so(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EnvironmentFailure, match="could not be started"):
        run_git(["status"], cwd=tmp_path / "nowhere")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "environ", dict(os.environ))
    with pytest.raises(EnvironmentFailure, match="could not be started"):
        run_git(["status"], cwd=repo.path)


def test_a_call_that_takes_too_long_is_ended_with_everything_below_it(repo: Repo, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    script = f"!echo $$ > {note}; sleep 300 & wait"
    started = time.monotonic()
    with pytest.raises(EnvironmentFailure, match="did not end within 1 s"):
        run_git(["slow"], cwd=repo.path, config=[f"alias.slow={script}"], timeout=1)
    assert time.monotonic() - started < 20
    group = os.getpgid(0)
    pid = int(note.read_text())
    deadline = time.monotonic() + 10
    while _alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _alive(pid)
    assert os.getpgid(0) == group


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIG_DFL)
        return b"Z" not in Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False


# -- two at once --------------------------------------------------------------------------------------------------
def test_a_pipe_carries_any_amount(repo: Repo, tmp_path: Path) -> None:
    repo.commit("big", {"big": os.urandom(3_000_000)})
    target = Repo.create(tmp_path / "target", bare=True)
    source, sink = pipe_git(
        ["pack-objects", "--revs", "--stdout", "-q"],
        ["index-pack", "--stdin", "--strict"],
        git_dir=target.path,
        source_git_dir=repo.git_dir,
        stdin=f"{repo.tip()}\n".encode(),
    )
    assert (source.status, sink.status) == (0, 0)
    assert target.file("big", repo.tip()) == repo.file("big")


def test_each_side_of_a_pipe_reports_its_own_failure(repo: Repo, tmp_path: Path) -> None:
    source, sink = pipe_git(
        ["pack-objects", "--revs", "--stdout", "-q"],
        ["index-pack", "--stdin"],
        git_dir=repo.git_dir,
        stdin=b"nowhere\n",
    )
    assert not source.ok
    assert "nowhere" in source.error
    assert not sink.ok


# -- GitPython ----------------------------------------------------------------------------------------------------
def test_gitpython_goes_through_the_same_door(repo: Repo, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.git("config", "core.fsmonitor", str(_trap(home)))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.name")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "Planted")
    with HardenedRepo(repo.path) as opened:
        assert opened.git.config("user.name") == "Test Person"
        assert opened.git.status("--porcelain") == ""
        assert opened.git.rev_parse("HEAD") == repo.tip()
        assert [head.name for head in opened.heads] == ["main"]
        with pytest.raises(GitCommandError):
            opened.git.rev_parse("--verify", "nowhere")
    assert not (home / "pwned").exists()


_OPEN = """
import sys
from recall.gitops.wrapper import HardenedRepo
with HardenedRepo(sys.argv[1]) as opened:
    print(*[head.name for head in opened.heads], opened.git.rev_parse("HEAD"), opened.common_dir)
"""


def test_gitpython_opens_the_repository_that_it_is_given(repo: Repo, tmp_path: Path) -> None:
    elsewhere = Repo.create(tmp_path / "elsewhere", main="wrong")
    elsewhere.commit("x", {"x": "x"})
    names = [*repo.git("rev-parse", "--local-env-vars").split(), "GIT_NAMESPACE"]
    done = subprocess.run(
        [sys.executable, "-c", _OPEN, str(repo.git_dir)],
        env=os.environ | dict.fromkeys(names, str(elsewhere.git_dir)),
        cwd=elsewhere.path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["main", repo.tip(), str(repo.git_dir)]
