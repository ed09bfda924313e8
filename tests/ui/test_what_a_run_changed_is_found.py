"""The work of a run: on its branch, on main, or kept aside; whatever git has of it is found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from recall.domain.merge import MergeEntry, MergeState
from recall.domain.run import Run, RunState
from recall.gitops.locate import locate
from recall.ui.diffs import RunWork, work_of_run
from tests.support.hermetic_git import Repo


@pytest.fixture
def repo(repo: Repo) -> Repo:
    repo.commit("start", {"README.md": "hello\n", "old.py": "a\nb\nc\n"})
    return repo


def run(repo: Repo, base: str | None) -> Run:
    return Run(7, "main", "T-1", "ant", "o", 1, 1, RunState.SETTLED, branch="recall/main/T-1/1", base=base)


def look(repo: Repo, base: str | None, entry: MergeEntry | None = None) -> RunWork:
    return work_of_run(locate(repo.path), run(repo, base), entry)


def on_branch(repo: Repo, files: dict[str, str]) -> str:
    base = repo.git("rev-parse", "HEAD")
    repo.git("switch", "-q", "-c", "recall/main/T-1/1")
    repo.commit("work", files)
    repo.git("switch", "-q", "main")
    return base


def test_on_its_branch(repo: Repo) -> None:
    work = look(repo, on_branch(repo, {"a b.py": "x\ny\n", "README.md": "hello\nworld\n"}))
    assert [(file.path, file.added, file.removed) for file in work.files] == [("README.md", 1, 0), ("a b.py", 2, 0)]
    assert "+world" in work.diff
    assert "on branch" in work.source


def test_renames_and_binary_files_are_told_as_such(repo: Repo) -> None:
    base = repo.git("rev-parse", "HEAD")
    repo.git("switch", "-q", "-c", "recall/main/T-1/1")
    repo.git("mv", "old.py", "new.py")
    (repo.path / "image.bin").write_bytes(b"\0\1\2")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "work")
    repo.git("switch", "-q", "main")
    work = look(repo, base)
    assert [(file.path, file.added) for file in work.files] == [("image.bin", None), ("old.py -> new.py", 0)]


def test_what_landed_is_read_from_main(repo: Repo) -> None:
    base = on_branch(repo, {"a.py": "x\n"})
    repo.commit("other", {"other.py": "o\n"})
    onto = repo.git("rev-parse", "HEAD")
    repo.git("cherry-pick", "recall/main/T-1/1")
    landed = repo.git("rev-parse", "HEAD")
    repo.git("branch", "-D", "recall/main/T-1/1")
    entry = MergeEntry(
        1, "main", "T-1", 7, 1, MergeState.LANDED, "", landed, base, onto=onto, candidate=landed,
    )  # fmt: skip
    work = look(repo, base, entry)
    assert [file.path for file in work.files] == ["a.py"]
    assert work.source == f"landed as {landed[:12]}"
    assert work.branch == ""


def test_kept_work_names_its_ref_and_what_was_left_uncommitted(repo: Repo) -> None:
    base = on_branch(repo, {"a.py": "x\n"})
    repo.git("switch", "-q", "recall/main/T-1/1")
    repo.commit("Parked: 7", {"scratch.txt": "s\n"})
    repo.git("update-ref", "refs/recall/parked/7", "HEAD")
    repo.git("switch", "-q", "main")
    repo.git("branch", "-D", "recall/main/T-1/1")
    work = look(repo, base)
    assert work.parked == ("refs/recall/parked/7",)
    assert work.leftovers == ("scratch.txt",)
    assert {file.path for file in work.files} == {"a.py", "scratch.txt"}


@pytest.mark.parametrize("base", [None, "HEAD"])
def test_nothing_is_said_in_words(repo: Repo, base: str | None) -> None:
    work = look(repo, repo.git("rev-parse", base) if base else None)
    assert work.files == ()
    assert work.diff == ""
    assert work.source in ("it never had a workspace", "its branch is gone, and nothing of it had to be kept")


def test_a_branch_without_commits_says_so(repo: Repo) -> None:
    repo.git("branch", "recall/main/T-1/1")
    assert "nothing was committed" in look(repo, repo.git("rev-parse", "HEAD")).source


def test_nothing_that_a_repository_names_is_run(repo: Repo, tmp_path: Path) -> None:
    base = on_branch(repo, {".gitattributes": "*.x diff=evil\n", "a.x": "1\n"})
    trap = tmp_path / "trap"
    repo.git("config", "diff.evil.command", f"touch {trap}")
    repo.git("config", "diff.evil.textconv", f"touch {trap};cat")
    repo.git("config", "diff.external", f"touch {trap}")
    assert "+1" in look(repo, base).diff
    assert not trap.exists()


def test_a_branch_by_a_name_that_git_cannot_have_is_gone(repo: Repo) -> None:
    named = replace(run(repo, repo.git("rev-parse", "HEAD")), branch="recall/a\0b")
    assert work_of_run(locate(repo.path), named, None).source.startswith("its branch is gone")
