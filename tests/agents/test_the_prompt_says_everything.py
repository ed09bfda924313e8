"""A prompt holds the task, what came before, the rules, and report commands that work from anywhere."""

from __future__ import annotations

import shlex
from pathlib import Path

from recall.agents.prompt import Attempt, Briefing, build_prompt
from recall.domain.task import Task, TaskRef, TaskState
from tests.agents.bench import REPORTS, Bench
from tests.support import fake_agent


def task(id_: str = "T-1", title: str = "Do it", body: str = "", region: str = "main") -> Task:
    return Task(
        region=region, id=id_, title=title, body=body, type="general", priority=0, position=1,
        state=TaskState.IN_PROGRESS, reason="", changed_at=0.0,
    )  # fmt: skip


def prompt(subject: Task | None = None, **more: object) -> str:
    return build_prompt(subject or task(), Briefing(("/opt/re call/recall",), Path("/ws/a slot"), **more))  # type: ignore[arg-type]  # a test's shorthand


def test_the_task_comes_first_and_whole() -> None:
    text = prompt(task("T-7", "Add login", "First line.\n\n- second\n", region="web"))
    assert text.startswith("# Task web:T-7: Add login\n\nFirst line.\n\n- second\n")


def test_the_group_is_told() -> None:
    assert "## Part of G-1: All of it\n\nWhy we do it." in prompt(group=task("G-1", "All of it", "Why we do it."))


def test_what_is_done_already_is_told() -> None:
    assert "- T-0: The ground" in prompt(done=[(TaskRef("main", "T-0"), "The ground")])


def test_earlier_attempts_and_why_the_last_failed() -> None:
    earlier = [Attempt(1, "claude", "failed", "first"), Attempt(2, "codex", "verify_failed", "2 tests\nred")]
    text = prompt(earlier=earlier)
    assert "- attempt 1 (claude): failed\n- attempt 2 (codex): verify_failed" in text
    assert "> 2 tests\n> red" in text
    assert "> first" not in text


def test_the_end_of_a_long_reason_is_kept() -> None:
    text = prompt(earlier=[Attempt(1, "a", "failed", "x" * 50_000 + "the point")])
    assert "the point" in text
    assert len(text) < 5000


def test_the_verification_is_told_where_there_is_one() -> None:
    assert "`make check`" in prompt(verify="make check")
    assert "lands only if" not in prompt()


def test_receipts_are_told_of_where_a_task_acts_outside() -> None:
    acting = task("T-7", "Announce it", "Publish the package, then send an e-mail.", region="web")
    command = "'/opt/re call/recall' effect run web:T-7:WHAT:v1 -- COMMAND"
    assert prompt(acting, receipts=True).count(command) == 1
    assert "effect run" not in prompt(acting, receipts=False), "who cannot reach the store keeps none"
    assert "effect run" not in prompt(task("T-8", "Mend the parser", "It should accept tabs."), receipts=True)


def test_protected_files_are_named() -> None:
    assert "Do not edit TASKS.md, web/TASKS.md, recall.toml" in prompt(
        protected=("TASKS.md", "web/TASKS.md", "recall.toml")
    )


def test_report_commands_are_absolute_and_quoted() -> None:
    line = next(line for line in prompt().splitlines() if "--result success" in line)
    assert shlex.split(line)[:4] == ["/opt/re call/recall", "outcome", "--slot", "/ws/a slot"]


def test_text_from_outside_is_cleaned() -> None:
    text = prompt(task(title="a\x1b[2Jb\nc", body="x\x1b]52;c;AAAA\x07y"), earlier=[Attempt(1, "a", "f", "\x9b31m")])
    assert "\x1b" not in text
    assert "\x9b" not in text
    assert "# Task T-1: ab c\n" in text


def test_an_agent_that_knows_its_prompt_alone_can_do_and_report_its_task(bench: Bench) -> None:
    import sys

    body = "```fake-agent\nsay hello\nwrite src/new.txt made\nreport success all done\nexit 0\n```"
    briefing = Briefing((sys.executable, str(REPORTS)), bench.slot)
    record = bench.run(
        "",
        argv=(sys.executable, fake_agent.__file__),
        shell=False,
        prompt=build_prompt(task(body=body), briefing),
        prompt_mode="stdin",
    )
    assert record.status == 0, bench.output()
    assert record.report is not None
    assert (record.report.result, record.report.summary) == ("success", "all done")
    assert (bench.tree / "src" / "new.txt").read_text() == "made\n"
