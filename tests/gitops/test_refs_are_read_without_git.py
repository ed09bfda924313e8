"""A ref read from its file is what git says it is; what cannot be told from the file is left to git."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall.gitops.refs import read_ref
from tests.support.hermetic_git import Repo

MAIN = "refs/heads/main"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.create(tmp_path / "repo")


def test_loose_packed_and_moved_again(repo: Repo) -> None:
    git_dir = repo.path / ".git"
    first = repo.commit("one", {"a": "1"})
    assert read_ref(git_dir, MAIN) == first
    repo.git("branch", "other/main")
    repo.git("pack-refs", "--all")
    assert not (git_dir / MAIN).exists()
    assert read_ref(git_dir, MAIN) == first
    second = repo.commit("two", {"a": "2"})
    assert read_ref(git_dir, MAIN) == second
    assert read_ref(git_dir, "refs/heads/other/main") == first


def test_a_ref_that_is_not_there_is_empty(repo: Repo) -> None:
    repo.commit("one", {"a": "1"})
    assert read_ref(repo.path / ".git", "refs/heads/none") == ""
    repo.git("pack-refs", "--all")
    assert read_ref(repo.path / ".git", "refs/heads/mai") == ""
    assert read_ref(repo.path / ".git", "refs/heads/main/below") == ""


def test_symbolic_damaged_and_foreign_refs_are_for_git(repo: Repo) -> None:
    git_dir = repo.path / ".git"
    repo.commit("one", {"a": "1"})
    repo.git("symbolic-ref", "refs/heads/alias", MAIN)
    (git_dir / "refs/heads/torn").write_text("1234\n")
    (git_dir / "refs/heads/link").symlink_to(git_dir / MAIN)
    (git_dir / "refs/heads/folder").mkdir()
    for name in ("alias", "torn", "link", "folder"):
        assert read_ref(git_dir, f"refs/heads/{name}") is None


@pytest.mark.parametrize(
    "words", ["HEAD", "refs/heads/main~1", "refs/heads/main@{1}", "refs/heads/../../HEAD", "main^"]
)
def test_what_is_no_full_ref_name_is_for_git(repo: Repo, words: str) -> None:
    repo.commit("one", {"a": "1"})
    assert read_ref(repo.path / ".git", words) is None


def test_a_repository_with_another_ref_storage_is_for_git(repo: Repo) -> None:
    (repo.path / ".git" / "reftable").mkdir()
    assert read_ref(repo.path / ".git", MAIN) is None
