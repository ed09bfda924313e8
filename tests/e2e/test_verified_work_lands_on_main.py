"""The main job, with the real program: a task list in, verified commits on main out."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from recall.domain.run import RunResult
from recall.domain.task import DoneBy, TaskState
from tests.support.workshop import Workshop, eventually, until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

WORKS = 'echo "$TASK" > "$TASK.txt"; commit "$TASK: write"; success'


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Workshop:
    return Workshop.create(tmp_path)


def test_a_graph_of_tasks_lands_in_order_and_leaves_nothing_behind(shop: Workshop) -> None:
    shop.agent("ant", WORKS)
    shop.agent("bee", WORKS)
    shop.tasks(
        "## T-1 First", "## T-2 Second\n- after: T-1", "## T-3 Third\n- after: T-1", "## T-4 Last\n- after: T-2, T-3"
    )
    shop.settle()
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    tasks = shop.look()
    assert {task.state for task in tasks.values()} == {TaskState.DONE}
    assert {task.done_by for task in tasks.values()} == {DoneBy.LANDED}
    assert {"T-1.txt", "T-2.txt", "T-3.txt", "T-4.txt"} <= shop.on_main()
    assert shop.repo.status() == []
    order = [line for line in shop.repo.subjects("main") if line.startswith("T-")]
    assert (order[0], order[-1]) == ("T-1: write", "T-4: write")
    assert "Recall-Task: T-4" in shop.repo.message("main")
    assert shop.repo.git("branch", "--list", "recall/*") == ""
    assert shop.strays() == []


def test_uncommitted_leftovers_land_and_protected_files_do_not(shop: Workshop) -> None:
    shop.agent("ant", 'echo work > new.txt; echo mine > TASKS.md; echo "# x" >> recall.toml; success')
    shop.tasks("## T-1 Leave it uncommitted")
    shop.settle()
    list_before, settings_before = shop.repo.file("TASKS.md", "main"), shop.repo.file("recall.toml", "main")
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert shop.repo.file("new.txt", "main") == b"work\n"
    assert shop.repo.file("TASKS.md", "main") == list_before
    assert shop.repo.file("recall.toml", "main") == settings_before


def test_a_success_report_with_red_tests_does_not_land_and_the_next_attempt_hears_why(shop: Workshop) -> None:
    shop.verify = "test ! -e broken"
    shop.agent("ant", 'again && printf "%s" "$PROMPT" > told.txt || touch broken; success')
    shop.tasks("## T-1 Get it right in the end")
    shop.settle()
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert [run.result for run in shop.runs()] == [RunResult.VERIFY_FAILED, RunResult.LANDED]
    assert "broken" not in shop.on_main()
    assert b"test ! -e broken" in shop.repo.file("told.txt", "main")


def test_a_conflict_starts_over_from_main_and_costs_no_attempt(shop: Workshop) -> None:
    gate = shop.home / "gate"
    wait = f'touch "{gate}-$TASK"; while [ "$(ls "{gate}"-* | wc -l)" -lt 2 ]; do sleep 0.05; done; '
    shop.agent("ant", wait + 'echo "$TASK $(cat README.md)" > README.md; commit "$TASK"; success')
    shop.agent("bee", wait + 'echo "$TASK $(cat README.md)" > README.md; commit "$TASK"; success')
    shop.tasks("## T-1 One side", "## T-2 Other side")
    shop.settle()
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    results = [run.result for run in shop.runs()]
    assert results.count(RunResult.CONFLICT) == 1
    assert results.count(RunResult.LANDED) == 2
    assert {task.attempts for task in shop.look().values()} == {0}
    words = shop.repo.file("README.md", "main").split()
    assert {b"T-1", b"T-2", b"hello"} == set(words)


def test_a_red_main_blames_nobody_and_says_so(shop: Workshop) -> None:
    shop.verify = "false"
    shop.agent("ant", WORKS)
    shop.tasks("## T-1 Innocent")
    shop.settle()
    ended = shop.dispatch()
    assert ended.returncode == 1
    assert "main itself is red" in ended.stdout
    task = shop.look()["T-1"]
    assert (task.state, task.attempts) == (TaskState.LANDING, 0)
    assert "T-1.txt" not in shop.on_main()


def test_a_dirty_checkout_is_waited_for_with_the_file_named(shop: Workshop) -> None:
    shop.agent("ant", 'echo theirs > README.md; commit "change"; success')
    shop.tasks("## T-1 Change what the user edits")
    shop.settle()
    shop.repo.write("README.md", "mine, unsaved in any commit\n")
    ended = shop.dispatch()
    assert ended.returncode == 1
    assert "README.md" in ended.stdout
    assert (shop.repo.path / "README.md").read_text() == "mine, unsaved in any commit\n"
    shop.repo.git("checkout", "--", "README.md")
    again = shop.dispatch()
    assert again.returncode == 0, again.stdout + again.stderr
    assert shop.repo.file("README.md", "main") == b"theirs\n"


def test_a_usage_limit_cools_the_agent_down_and_ends_by_itself(shop: Workshop) -> None:
    once = shop.home / "limited"
    says = 'echo "Claude AI usage limit reached|$(($(date +%s) + 2))"'
    limited = f'[ -e "{once}" ] || {{ touch "{once}"; {says}; exit 1; }}; '
    shop.agent("ant", limited + WORKS)
    shop.tasks("## T-1 Wait for the reset")
    shop.settle()
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert [run.result for run in shop.runs()] == [RunResult.RATE_LIMITED, RunResult.LANDED]
    assert shop.look()["T-1"].attempts == 0


def test_no_verify_command_is_refused_unless_spelled_out(shop: Workshop) -> None:
    shop.agent("ant", WORKS)
    shop.tasks("## T-1 Anything")
    shop.settle()
    settings = shop.repo.path / "recall.toml"
    settings.write_text(settings.read_text().replace('verify = "true"\n', ""))
    refused = shop.dispatch()
    assert refused.returncode == 2
    assert 'verify = "none"' in refused.stderr
    settings.write_text('verify = "none"\n' + settings.read_text())
    assert shop.dispatch().returncode == 0


def test_changed_commands_wait_for_a_person(shop: Workshop) -> None:
    shop.agent("ant", WORKS)
    shop.tasks("## T-1 First")
    shop.settle()
    assert shop.dispatch().returncode == 0
    mark = shop.home / "ran"
    shop.tasks("## T-1 First", f"## T-2 Second\n- verify: touch {mark}")
    held = shop.dispatch()
    assert held.returncode == 1
    assert "recall config trust" in held.stdout
    assert not mark.exists()
    assert shop.recall("config", "trust").returncode == 0
    assert shop.dispatch().returncode == 0
    assert mark.exists()


def test_a_broken_list_is_refused_with_every_line_and_the_old_one_stays_in_force(shop: Workshop) -> None:
    shop.agent("ant", WORKS)
    shop.tasks("## T-1 First\n- after: T-9", "## T-1 Twice")
    shop.settle()
    refused = shop.dispatch()
    assert refused.returncode == 2
    assert "TASKS.md:" in refused.stderr
    assert "T-9" in refused.stderr


def test_a_second_dispatcher_is_refused(shop: Workshop) -> None:
    shop.agent("ant", "sleep 600")
    shop.tasks("## T-1 Long")
    shop.settle()
    with shop.dispatching():
        eventually(lambda: (shop.state / "dispatcher.lock").exists())
        eventually(lambda: shop.dispatch().returncode == 3)


def test_two_interrupts_stop_the_agents_and_keep_their_work(shop: Workshop) -> None:
    shop.agent("ant", "echo half > half.txt; sleep 600")
    shop.tasks("## T-1 Long")
    shop.settle()
    with shop.dispatching("--until-done") as process:
        eventually(lambda: any((shop.repo.path / ".recall").glob("ws/*/tree/half.txt")))
        os.kill(process.pid, signal.SIGINT)
        until(process, "again to stop now")
        os.kill(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    assert shop.strays() == [], out
    task = shop.look()["T-1"]
    assert (task.state, task.attempts, task.interruptions) == (TaskState.TODO, 0, 0)
    parked = shop.repo.git("for-each-ref", "--format=%(refname)", "refs/recall/parked")
    assert shop.repo.file("half.txt", parked.splitlines()[0]) == b"half\n"
