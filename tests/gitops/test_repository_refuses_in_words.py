"""States of a repository in which no task may be claimed are told before any is, with what to do."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from recall.config.settings import StoreSettings
from recall.domain.errors import ConfigError, EnvironmentFailure, RecallError
from recall.gitops import repository as module
from recall.gitops.locate import locate
from recall.gitops.repository import Repository
from tests.gitops.ground import gateway_for, settings_for
from tests.support.hermetic_git import Repo

CASES = {
    case["id"]: case for case in json.loads((Path(__file__).parent.parent / "cases/repo-states.json").read_text())
}


def opened(repo: Repo, main: str = "main") -> Repository:
    location = locate(repo.path)
    return Repository(location, main, location.state_dir)


def no_commit(tmp: Path) -> Repo:
    return Repo.create(tmp / "empty")


def no_such_main(tmp: Path) -> Repo:
    repo = Repo.create(tmp / "trunk", main="trunk")
    repo.commit("x", {"x": "x"})
    return repo


def branch_called_recall(tmp: Path) -> Repo:
    repo = Repo.create(tmp / "named")
    repo.commit("x", {"x": "x"})
    repo.branch("recall")
    return repo


def partial_clone(tmp: Path) -> Repo:
    source = Repo.create(tmp / "source")
    source.commit("x", {"x": "x"})
    source.git("config", "uploadpack.allowFilter", "true")
    clone = tmp / "partial"
    source.git("clone", "-q", "--filter=blob:none", f"file://{source.path}", str(clone))
    return Repo(clone)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (no_commit, "no commit yet"),
        (no_such_main, "found: trunk"),
        (branch_called_recall, "git branch -m recall"),
        (partial_clone, "full clone"),
    ],
)
def test_a_clear_message_comes_first(tmp_path: Path, home: Path, make: Callable[[Path], Repo], words: str) -> None:
    repo = make(tmp_path)
    with pytest.raises(ConfigError, match=words):
        opened(repo).check()
    with pytest.raises(ConfigError, match=words):
        gateway_for(repo)
    assert not (repo.path / ".recall").exists()


def test_the_cases_from_the_wild_are_covered() -> None:
    """RP-001 and RP-009 are the first and third of the states above."""
    assert CASES["RP-001"]["input"]["setup"] == "git init -b main only"
    assert CASES["RP-009"]["input"]["setup"] == "git branch recall"


@pytest.mark.parametrize(
    ("said", "fine"),
    [("git version 2.37.1", False), ("git version 2.38.0", True), ("git version 3.0", True), ("", False)],
)
def test_an_old_git_is_refused(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, fine: bool
) -> None:
    real = repo.git("--exec-path") + "/git"
    fake = tmp_path / "bin/git"
    fake.parent.mkdir()
    fake.write_text(
        f'#!/bin/sh\nfor last; do :; done\n[ "$last" = version ] && echo "{said}" && exit 0\nexec {real} "$@"\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(fake.parent), prepend=os.pathsep)
    if fine:
        opened(repo).check()
    else:
        with pytest.raises(EnvironmentFailure, match=r"need git 2\.38"):
            opened(repo).check()


def test_a_network_file_system_is_refused_with_the_way_out(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    here = module.file_system_type(repo.path)
    assert here not in module.NETWORK_FILE_SYSTEMS
    monkeypatch.setitem(module.NETWORK_FILE_SYSTEMS, here, "NFS")
    with pytest.raises(ConfigError, match=r"store\.state_dir"):
        opened(repo).check()


def test_the_file_system_type_is_the_kernels(tmp_path: Path) -> None:
    assert module.file_system_type(Path("/proc")) == 0x9FA0


def test_main_that_vanishes_later_is_told(repo: Repo) -> None:
    repository = opened(repo)
    repo.switch("other", create=True)
    repo.git("branch", "-D", "main")
    with pytest.raises(EnvironmentFailure, match="'main' is gone"):
        repository.main_tip()


def test_a_tag_or_remote_called_like_main_is_not_main(repo: Repo) -> None:
    tip = repo.commit("new", {"x": "x"})
    repo.git("tag", "main", f"{tip}~1")
    assert opened(repo).main_tip() == tip


@pytest.mark.parametrize("odd", ["--all", "x..y", "HEAD^", "-"])
def test_odd_names_are_names(repo: Repo, odd: str) -> None:
    with pytest.raises(RecallError):
        opened(repo, odd).main_tip()


def test_an_ancestor_is_contained_and_a_stranger_is_not(repo: Repo) -> None:
    first, second = repo.tip(), repo.commit("x", {"x": "x"})
    repository = opened(repo)
    assert repository.contains(second, first)
    assert repository.contains(first, first)
    assert not repository.contains(first, second)
    assert not repository.contains(first, "0" * 39 + "1")


# -- where things lie ---------------------------------------------------------------------------------------------
def test_a_start_in_a_linked_worktree_finds_the_same_places(repo: Repo, tmp_path: Path) -> None:
    linked = repo.worktree(tmp_path / "linked", "other")
    here, there = gateway_for(repo), gateway_for(repo, settings_for(linked), linked.path)
    assert here.root == there.root == repo.path / ".recall"
    assert here.repository.state_dir == there.repository.state_dir
    assert linked.status() == repo.status() == []


def test_a_bare_repository_gets_a_folder_beside_it(repo: Repo, tmp_path: Path) -> None:
    repo.clone(tmp_path / "bare.git", "--bare")
    bare = Repo(tmp_path / "bare.git")
    gateway = gateway_for(bare)
    assert gateway.root == tmp_path / "bare.recall"
    assert gateway.file_on_main("README.md") == b"hello\n"
    assert gateway.file_on_main("missing") is None
    slot = gateway.open_slot(bare.tip("main"))
    assert (slot / "README.md").read_text() == "hello\n"


def test_the_ignore_file_is_rewritten_at_every_start(repo: Repo) -> None:
    gateway_for(repo)
    (repo.path / ".recall/.gitignore").write_text("")
    gateway_for(repo)
    assert (repo.path / ".recall/.gitignore").read_text() == "*\n"
    assert repo.status() == []


def test_the_state_folder_can_lie_elsewhere(repo: Repo, tmp_path: Path) -> None:
    settings = replace(settings_for(repo), store=StoreSettings(state_dir=str(tmp_path / "state")))
    gateway_for(repo, settings)
    assert (tmp_path / "state/integration.git/HEAD").exists()
    assert not (repo.git_dir / "recall").exists()
