"""Every task file of tests/cases: the right answers that public bug reports imply."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from recall.tasklist import Severity, TaskList, as_json, parse, runnable

CASES = Path(__file__).parents[1] / "cases"
ALL: list[dict[str, Any]] = json.loads((CASES / "tasks.json").read_text(encoding="utf-8"))
FILES = [case for case in ALL if case["kind"] == "task_file"]
STATUS_WORDS = {"todo": "todo", "doing": "on_hold", "done": "done", "blocked": "on_hold", "dropped": "cancelled"}


def read(case: dict[str, Any]) -> TaskList:
    return parse((CASES / case["input"]["file"]).read_bytes())


def as_expected(task: dict[str, Any]) -> dict[str, Any]:
    return {**task, "status": STATUS_WORDS[task["status"]]}


@pytest.mark.parametrize("case", FILES, ids=lambda case: case["id"])
def test_tasks_are_what_the_file_says(case: dict[str, Any]) -> None:
    expected = case["expected"]
    found = {task["id"]: task for task in as_json(read(case))["tasks"]}
    wanted = [as_expected(task) for task in expected.get("tasks", expected.get("tasks_subset", []))]
    for task in wanted:
        known = {key: value for key, value in task.items() if value is not None}
        assert {key: found[task["id"]][key] for key in known} == known
    if "tasks" in expected:
        assert list(found) == [task["id"] for task in wanted]


@pytest.mark.parametrize("case", [c for c in FILES if "runnable_now" in c["expected"]], ids=lambda case: case["id"])
def test_only_what_may_start_is_runnable(case: dict[str, Any]) -> None:
    assert runnable(read(case).tasks) == set(case["expected"]["runnable_now"])


@pytest.mark.parametrize("case", FILES, ids=lambda case: case["id"])
def test_problems_are_reported_with_their_place(case: dict[str, Any]) -> None:
    problems = read(case).problems
    for wanted in case["expected"]["diagnostics"]:
        of_type = [p for p in problems if p.type == wanted["type"] and p.id == wanted.get("id")]
        assert of_type, wanted
        lines = wanted.get("lines", [wanted["line"]] if "line" in wanted else [])
        assert set(lines) <= {problem.line for problem in of_type}
        assert wanted.get("prereq", "") in of_type[0].message
    expected_types = {wanted["type"] for wanted in case["expected"]["diagnostics"]}
    assert {p.type for p in problems if p.severity is Severity.ERROR} <= expected_types


@pytest.mark.parametrize("mark", ["T-4", "T-6", "T-7", "T-8", "T-9"])
def test_a_mark_without_a_sure_meaning_is_neither_open_nor_done(mark: str) -> None:
    status = {task.id: task.status.value for task in parse((CASES / "tasks/19-status-marks.md").read_bytes()).tasks}
    assert status[mark] == "on_hold"


def test_lines_that_almost_are_tasks_are_named() -> None:
    problems = parse((CASES / "tasks/19-status-marks.md").read_bytes()).problems
    assert [p.line for p in problems if p.type == "not_a_task"] == [15, 16]


def test_a_chain_of_5000_is_read_without_recursion_in_no_time() -> None:
    lines = [f"- [ ] T-{i} title {i}" + (f" (prereqs: T-{i - 1})" if i > 1 else "") for i in range(1, 5001)]
    started = time.perf_counter()
    found = parse("\n".join(lines).encode())
    assert time.perf_counter() - started < 5
    assert (len(found.tasks), found.problems, runnable(found.tasks)) == (5000, (), {"T-1"})


def test_100_000_brackets_cost_no_time() -> None:
    started = time.perf_counter()
    found = parse(("- [ ] T-1 x" + "[ " * 100_000 + "\n").encode())
    assert time.perf_counter() - started < 2
    assert len(found.tasks) == 1
