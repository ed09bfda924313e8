"""A run's commits on a new base: nobody's authorship lost, one commit only where it must be."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall.domain.work import Conflict, NothingNew, Rebased, RebaseOutcome
from recall.gitops.integration import IntegrationRepository
from recall.gitops.locate import locate
from recall.gitops.rebase import Rebaser
from recall.gitops.repository import Repository
from tests.gitops.ground import NOW, FixedClock
from tests.support.hermetic_git import Repo

TRAILERS = {"Recall-Task": "main/T-1", "Recall-Run": "7", "Recall-Agent": "claude"}


class Bench:
    """A repository whose branch `work` leaves main at `base`, and an integration repository beside it."""

    def __init__(self, repo: Repo) -> None:
        self.repo = repo
        self.base = repo.commit("base", {"f": "".join(f"line {n}\n" for n in range(40)), "g": "g\n"})
        repo.switch("work", create=True)
        repository = Repository(locate(repo.path), "main", repo.git_dir / "recall")
        self.integration = IntegrationRepository(repository)
        self.integration.prepare(NOW)

    def edit(self, line: int, text: str) -> str:
        lines = (self.repo.path / "f").read_text().splitlines()
        lines[line] = text
        return "\n".join(lines) + "\n"

    def rebase(self, onto: str = "main", *, squash: bool = False, base: str = "", tip: str = "work") -> RebaseOutcome:
        rebaser = Rebaser(self.integration, FixedClock(), squash=squash)
        return rebaser.rebase(base or self.base, self.repo.tip(tip), self.repo.tip(onto), TRAILERS)

    def see(self) -> Repo:
        """The integration repository, to look at what came out."""
        return Repo(self.integration.git_dir)


@pytest.fixture
def bench(repo: Repo) -> Bench:
    return Bench(repo)


def rebased(outcome: RebaseOutcome) -> Rebased:
    assert isinstance(outcome, Rebased), outcome
    return outcome


def test_each_commit_keeps_author_date_and_message(bench: Bench) -> None:
    repo = bench.repo
    first = repo.commit("one\n\nwhy", {"a": "a"}, author="Ada <ada@example.invalid>")
    repo.commit("two", {"b": "b"})
    repo.switch("main")
    repo.commit("elsewhere", {"g": "changed\n"})
    done = rebased(bench.rebase())
    assert (done.commits, done.joined, done.onto) == (2, "", repo.tip("main"))
    see = bench.see()
    assert see.subjects(f"{done.onto}..{done.candidate}") == ["one", "two"]
    assert see.files(done.candidate) == ["README.md", "TASKS.md", "a", "b", "f", "g"]
    shown = "%an <%ae> %ad"
    assert see.git("log", "-1", f"--format={shown}", f"{done.candidate}~1") == repo.git(
        "log", "-1", f"--format={shown}", first
    )
    assert see.git("log", "-1", "--format=%cn %ct", done.candidate) == f"Recall {NOW}"
    assert see.message(f"{done.candidate}~1") == (
        "one\n\nwhy\n\nRecall-Task: main/T-1\nRecall-Run: 7\nRecall-Agent: claude"
    )


def test_the_result_is_what_git_rebase_makes(bench: Bench) -> None:
    repo = bench.repo
    for number in (1, 5, 9):
        repo.commit(f"edit {number}", {"f": bench.edit(number, "mine"), f"new{number}": "x"})
    repo.git("mv", "g", "renamed")
    repo.commit("rename")
    repo.switch("main")
    repo.commit("theirs", {"f": bench.edit(30, "theirs")})
    repo.commit("more", {"g": "edited on main\n"})
    done = rebased(bench.rebase())
    repo.switch("work")
    repo.git("rebase", "-q", "main")
    want = repo.git("log", "--reverse", "--format=%T", "main..work").split()
    got = bench.see().git("log", "--reverse", "--format=%T", f"{done.onto}..{done.candidate}").split()
    assert got == want


def test_on_an_unmoved_main_only_trailers_and_committer_change(bench: Bench) -> None:
    bench.repo.commit("one", {"a": "a"})
    tree = bench.repo.tree()
    done = rebased(bench.rebase())
    assert bench.see().tree(done.candidate) == tree
    assert "Recall-Run: 7" in bench.see().message(done.candidate)


def test_what_main_has_already_is_left_out(bench: Bench) -> None:
    repo = bench.repo
    picked = repo.commit("same", {"a": "a"})
    repo.commit("own", {"b": "b"})
    repo.switch("main")
    repo.git("cherry-pick", picked)
    done = rebased(bench.rebase())
    assert bench.see().subjects(f"{done.onto}..{done.candidate}") == ["own"]


def test_empty_commits_are_dropped(bench: Bench) -> None:
    bench.repo.commit("nothing", allow_empty=True)
    bench.repo.commit("something", {"a": "a"})
    assert rebased(bench.rebase()).commits == 1


@pytest.mark.parametrize("landed", ["picked", "merged", "empty"])
def test_nothing_new_is_said_and_not_landed(bench: Bench, landed: str) -> None:
    repo = bench.repo
    if landed == "empty":
        repo.commit("nothing", allow_empty=True)
    else:
        tip = repo.commit("same", {"a": "a"})
        repo.switch("main")
        repo.commit("other", {"g": "x"})
        repo.git(*(["cherry-pick", tip] if landed == "picked" else ["merge", "-q", "--no-ff", "work"]))
    assert isinstance(bench.rebase(), NothingNew)


def test_a_conflict_names_paths_step_and_the_three_sides(bench: Bench) -> None:
    repo = bench.repo
    repo.commit("fine", {"a": "a"})
    step = repo.commit("meets", {"f": bench.edit(3, "mine")})
    tip = repo.commit("after", {"b": "b"})
    repo.switch("main")
    onto = repo.commit("theirs", {"f": bench.edit(3, "theirs")})
    outcome = bench.rebase()
    assert isinstance(outcome, Conflict)
    assert outcome.paths == ("f",)
    assert (outcome.step, outcome.base, outcome.ours, outcome.theirs) == (step, bench.base, onto, tip)
    assert "CONFLICT (content)" in outcome.detail


def test_paths_of_a_conflict_may_hold_anything(bench: Bench) -> None:
    repo = bench.repo
    odd = 'ä "x"\n\ty'
    repo.commit("mine", {odd: "mine"})
    repo.switch("main")
    repo.commit("theirs", {odd: "theirs"})
    outcome = bench.rebase()
    assert isinstance(outcome, Conflict)
    assert outcome.paths == (odd,)


def test_a_merge_in_the_range_lands_as_one_commit_and_loses_nothing(bench: Bench) -> None:
    repo = bench.repo
    repo.commit("one", {"a": "a"}, author="Ada <ada@example.invalid>")
    repo.git("checkout", "-q", "-b", "side", bench.base)
    repo.commit("beside", {"s": "s"})
    repo.switch("work")
    repo.git("merge", "-q", "--no-ff", "side")
    repo.switch("main")
    repo.commit("elsewhere", {"g": "x"})
    done = rebased(bench.rebase())
    see, original = bench.see(), repo.tip("work")
    assert done.commits == 1
    assert "merge" in done.joined
    assert set(see.files(done.candidate)) >= {"a", "s"}
    message = see.message(done.candidate)
    assert "one" in message
    assert "beside" in message
    assert "Co-authored-by: Ada <ada@example.invalid>" in message
    kept = next(word for word in done.joined.split() if word.startswith("refs/"))
    assert see.tip(kept) == original


def test_main_pulled_into_the_branch_is_not_landed_again(bench: Bench) -> None:
    repo = bench.repo
    repo.commit("one", {"a": "a"})
    repo.switch("main")
    repo.commit("elsewhere", {"g": "x"})
    repo.switch("work")
    repo.git("merge", "-q", "--no-ff", "main")
    done = rebased(bench.rebase())
    assert bench.see().subjects(f"{done.onto}..{done.candidate}") == ["one"]
    assert "elsewhere" not in bench.see().message(done.candidate)


def test_a_branch_that_was_rebased_on_a_newer_main_goes_commit_by_commit(bench: Bench) -> None:
    repo = bench.repo
    repo.commit("one", {"a": "a"})
    repo.commit("two", {"b": "b"})
    repo.switch("main")
    repo.commit("elsewhere", {"g": "x"})
    repo.git("rebase", "-q", "main", "work")
    repo.switch("main")
    repo.commit("later", {"h": "x"})
    done = rebased(bench.rebase())
    assert bench.see().subjects(f"{done.onto}..{done.candidate}") == ["one", "two"]


def test_steps_that_only_fit_together_land_as_one(bench: Bench) -> None:
    repo = bench.repo
    hard = repo.commit("try", {"f": bench.edit(3, "a detour")})
    repo.commit("settle", {"f": bench.edit(3, "theirs"), "a": "a"})
    repo.switch("main")
    repo.commit("theirs", {"f": bench.edit(3, "theirs")})
    done = rebased(bench.rebase())
    assert done.commits == 1
    assert hard[:12] in done.joined


def test_squash_joins_by_wish(bench: Bench) -> None:
    bench.repo.commit("one", {"a": "a"})
    bench.repo.commit("two", {"b": "b"})
    done = rebased(bench.rebase(squash=True))
    assert (done.commits, "squash" in done.joined) == (1, True)
    assert bench.see().subjects(f"{done.onto}..{done.candidate}") == ["one"]


def test_what_main_dropped_does_not_come_back(bench: Bench) -> None:
    """Main was reset to before the run's base: only the run's own commits are moved."""
    repo = bench.repo
    repo.switch("main")
    dropped = repo.commit("dropped", {"secret": "x"})
    repo.git("checkout", "-q", "-B", "work", dropped)
    repo.commit("one", {"a": "a"})
    repo.git("branch", "-f", "main", bench.base)
    done = rebased(bench.rebase(base=dropped))
    assert bench.see().files(done.candidate) == ["README.md", "TASKS.md", "a", "f", "g"]


def test_encodings_and_signatures(bench: Bench) -> None:
    repo = bench.repo
    repo.write("a", "a")
    repo.git("add", "-A")
    repo.run("-c", "i18n.commitEncoding=iso-8859-1", "commit", "-q", "-F", "-", stdin=b"gr\xfc\xdfe\n")
    repo.switch("main")
    repo.commit("elsewhere", {"g": "x"})
    done = rebased(bench.rebase())
    raw = bench.see().run("cat-file", "commit", done.candidate).stdout
    assert b"\nencoding iso-8859-1\n" in raw
    assert b"gr\xfc\xdfe\n\nRecall-Task" in raw


@pytest.mark.parametrize("count", [1, 20])
def test_processes_do_not_grow_with_the_commits(
    bench: Bench, count: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for number in range(count):
        bench.repo.commit(f"c{number}", {f"n{number}": "x"})
    bench.repo.switch("main")
    bench.repo.commit("elsewhere", {"g": "x"})
    trace = tmp_path / "trace"
    real_git = bench.repo.git("--exec-path") + "/git"
    shim = tmp_path / "bin" / "git"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\necho x >> {trace}\nexec {real_git} "$@"\n')
    shim.chmod(0o755)
    work, main = bench.repo.tip("work"), bench.repo.tip("main")
    monkeypatch.setenv("PATH", str(shim.parent), prepend=":")
    done = Rebaser(bench.integration, FixedClock()).rebase(bench.base, work, main, TRAILERS)
    assert rebased(done).commits == count
    assert len(trace.read_text().splitlines()) <= 6
