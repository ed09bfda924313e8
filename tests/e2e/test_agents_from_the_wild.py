"""What agents were seen to do to repositories, done by real processes under the real dispatcher: nothing unverified
lands, no work is lost, nothing that they planted runs, and a person hears about it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from recall.domain.run import RunResult
from recall.domain.task import Task, TaskState
from tests.support.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

ROOT = Path(__file__).parents[2]
CASES = {case["id"]: case for case in json.loads((ROOT / "tests/cases/agent-behaviour.json").read_text())}

#: Cases that are told in prose, as scripts.
IN_WORDS = {
    "AG-011": "commit_work() { echo x > y; commit y; }; success; commit_work; exit 1",
    "AG-021": (
        "git branch theirs; echo mine > README.md; commit mine; git checkout -q theirs; echo theirs > README.md; "
        "commit theirs; git checkout -q -; git rebase theirs; exit 0"
    ),
    "AG-035": (
        "echo x > y; box=.recall-run; head -c 50000000 /dev/zero > $box/report-huge.json; "
        "head -c 60000 /dev/zero | tr '\\0' '[' > $box/report-deep.json; "
        """printf '{"task": "main:T-9", "result": "success"}' > $box/report-other.json; """
        """printf '{"task": "main:T-1", "result": "\\033[2J"}' > $box/report-controls.json; exit 0"""
    ),
}


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Workshop:
    return Workshop.create(tmp_path)


def play(shop: Workshop, case: str, *, before: str = "success", tasks: tuple[str, ...] = ("## T-1 First",)) -> Task:
    """Run one task whose agent does what the case says, after `before`; gives the task as it stands then."""
    script = IN_WORDS.get(case, CASES[case]["input"]["fake_agent_sh"])
    shop.agent("ant", f"{before}\n{script}")
    shop.tasks(*tasks)
    shop.settle()
    ended = shop.dispatch()
    assert ended.returncode in (0, 1), ended.stdout + ended.stderr
    (shop.home / "said").write_text(ended.stdout)
    return shop.look()["T-1"]


def said(shop: Workshop) -> str:
    return (shop.home / "said").read_text()


def parked(shop: Workshop) -> list[str]:
    return shop.repo.git("for-each-ref", "--format=%(refname)", "refs/recall/parked").split()


def folders(shop: Workshop) -> int:
    return len(list((shop.repo.path / ".recall/ws").iterdir()))


def pwned(shop: Workshop) -> bool:
    return (Path(os.environ["HOME"]) / "pwned").exists()


# -- every behaviour ---------------------------------------------------------------------------------------------
def commits_on_another_branch_are_used(shop: Workshop) -> None:
    task = play(shop, "AG-019")
    assert task.state is TaskState.DONE
    assert shop.repo.file("y", "main") == b"x\n"
    assert "its commits were on mine" in said(shop)


def an_honest_end_is_stated_though_the_exit_code_is_not_zero(shop: Workshop) -> None:
    task = play(shop, "AG-011", before="")
    assert task.state is TaskState.DONE
    assert "reported success; exit code 1" in said(shop)


def a_rebase_left_half_done_calls_a_person_and_nothing_is_lost(shop: Workshop) -> None:
    task = play(shop, "AG-021")
    assert task.state is TaskState.NEEDS_PERSON
    assert task.attempts == 0
    assert "a rebase was left half done" in said(shop)
    assert "recall workspaces" in said(shop)
    (ref,) = parked(shop)
    assert b"<<<<<<<" in shop.repo.file("README.md", ref)
    assert {"mine", "theirs"} <= set(shop.repo.subjects(ref))
    assert shop.repo.file("README.md", "main") == b"hello\n"
    assert shop.recall("workspaces").stdout.count("rebase was in progress") == 1


def a_locked_worktree_is_unlocked_and_used_again(shop: Workshop) -> None:
    tasks = ("## T-1 First", "## T-2 Second\n- after: T-1")
    play(shop, "AG-023", before='echo x > "$TASK.txt"; success', tasks=tasks)
    assert {task.state for task in shop.look().values()} == {TaskState.DONE}
    assert folders(shop) == 1
    assert "\nlocked" not in shop.repo.git("worktree", "list", "--porcelain")


def a_planted_filter_is_noticed_and_never_runs(shop: Workshop) -> None:
    task = play(shop, "AG-025")
    assert not pwned(shop)
    assert task.state is TaskState.NEEDS_PERSON
    assert "filter.x.clean" in said(shop)
    assert ".gitattributes" in shop.repo.files(parked(shop)[0])
    again = shop.dispatch()
    assert "filter.x" in again.stdout
    assert not pwned(shop)


def planted_programs_are_noticed_and_never_run(shop: Workshop) -> None:
    task = play(shop, "AG-027")
    assert not pwned(shop)
    assert task.state is TaskState.NEEDS_PERSON
    assert "core.fsmonitor" in said(shop)
    shop.agent("ant", "echo x > next.txt; success")
    shop.tasks("## T-1 First", "## T-2 Second")
    assert shop.dispatch().returncode == 1
    assert not pwned(shop)
    assert shop.look()["T-2"].state is TaskState.DONE
    assert "next.txt" in shop.repo.files("main")


def a_deleted_task_file_is_back_and_its_tasks_are_there(shop: Workshop) -> None:
    task = play(shop, "AG-029", before="success; echo x > y")
    assert task.state is TaskState.DONE
    assert {"TASKS.md", "y"} <= shop.on_main()
    assert (shop.repo.path / "TASKS.md").exists()
    assert shop.repo.status() == []


def a_main_moved_by_the_agent_is_no_landing(shop: Workshop) -> None:
    task = play(shop, "AG-031", before="success; echo x > y; commit sneaky")
    assert task.state is TaskState.NEEDS_PERSON
    assert "refs/heads/main was moved to commits of this run" in said(shop)
    assert [run.result for run in shop.runs()] == [RunResult.FAILED]
    assert shop.reasons("task.done") == []


def a_secret_and_a_huge_file_call_a_person(shop: Workshop) -> None:
    task = play(shop, "AG-033")
    assert task.state is TaskState.NEEDS_PERSON
    assert {"core.bin", ".env"}.isdisjoint(shop.on_main())
    assert re.search(r"core\.bin \(190\.7 MiB\)", said(shop))


def a_hostile_report_is_no_report(shop: Workshop) -> None:
    task = play(shop, "AG-035", before="")
    assert task.attempts == 3
    assert {run.result for run in shop.runs()} == {RunResult.NO_REPORT}
    assert "y" not in shop.on_main()


def mode_bits_and_line_ends_land_unchanged(shop: Workshop) -> None:
    task = play(shop, "AG-039")
    assert task.state is TaskState.DONE
    assert shop.repo.file("crlf.txt", "main") == b"a\r\nb\r\n"
    assert shop.repo.git("ls-tree", "main", "README.md").startswith("100755")
    assert (shop.repo.path / "README.md").stat().st_mode & 0o111


BEHAVIOURS: dict[str, Callable[[Workshop], None]] = {
    "AG-011": an_honest_end_is_stated_though_the_exit_code_is_not_zero,
    "AG-019": commits_on_another_branch_are_used,
    "AG-021": a_rebase_left_half_done_calls_a_person_and_nothing_is_lost,
    "AG-023": a_locked_worktree_is_unlocked_and_used_again,
    "AG-025": a_planted_filter_is_noticed_and_never_runs,
    "AG-027": planted_programs_are_noticed_and_never_run,
    "AG-029": a_deleted_task_file_is_back_and_its_tasks_are_there,
    "AG-031": a_main_moved_by_the_agent_is_no_landing,
    "AG-033": a_secret_and_a_huge_file_call_a_person,
    "AG-035": a_hostile_report_is_no_report,
    "AG-039": mode_bits_and_line_ends_land_unchanged,
}


@pytest.mark.parametrize("case", BEHAVIOURS)
def test_an_agent(shop: Workshop, case: str) -> None:
    BEHAVIOURS[case](shop)
    assert shop.strays() == []


# -- the same without a report -----------------------------------------------------------------------------------
@pytest.mark.parametrize("case", ["AG-019", "AG-021", "AG-025", "AG-039"])
def test_work_without_a_report_does_not_land_and_is_kept(shop: Workshop, case: str) -> None:
    before = shop.repo.tip("main")
    play(shop, case, before="")
    assert shop.repo.git("merge-base", "--is-ancestor", before, "main") == ""
    assert shop.on_main() == {"README.md", "TASKS.md", "recall.toml"}
    assert shop.repo.file("README.md", "main") == b"hello\n"
    assert parked(shop)
    assert not pwned(shop)


# -- nothing is left out, and nothing is made to measure ---------------------------------------------------------
def test_every_case_of_these_files_is_played_somewhere() -> None:
    sources = "".join(file.read_text() for file in (ROOT / "tests").rglob("*.py"))
    for name in ("agent-behaviour.json", "repo-states.json"):
        ids = [case["id"] for case in json.loads((ROOT / "tests/cases" / name).read_text())]
        assert [one for one in ids if f'"{one}"' not in sources] == []


def test_no_product_code_knows_a_case() -> None:
    ids = {case["id"] for file in (ROOT / "tests/cases").glob("*.json") for case in json.loads(file.read_text())}
    for top in ("app", "widgets", "styles"):
        for file in (file for file in (ROOT / top).rglob("*") if file.suffix in {".py", ".toml", ".sql", ".tcss"}):
            words = set(re.findall(r"\b[A-Z]{2}-\d{3}\b", file.read_text()))
            assert words.isdisjoint(ids), file
