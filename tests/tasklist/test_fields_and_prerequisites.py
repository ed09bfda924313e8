"""Fields: every place and every name; prerequisites: every way to write them."""

from __future__ import annotations

import pytest

from recall.tasklist import Severity, parse, runnable
from tests.tasklist.reading import after, error, ids, problems, read, task

LATIN = [
    "after",
    "After",
    "depends on",
    "Depends-On",
    "depends",
    "deps",
    "Dependencies",
    "requires",
    "needs",
    "prereq",
]
SYNONYMS = [
    *LATIN,
    "prereqs",
    "PREREQUISITES",
    "blocked by",
    "blocked_by",
    "前置",
    "前置任務",
    "前置任务",
    "依賴",
    "依赖",
]


@pytest.mark.parametrize("label", SYNONYMS)
@pytest.mark.parametrize(
    "form",
    [
        "- [ ] T-2 x\n  - {0}: T-1",
        "- [ ] T-2 x\n  - **{0}**: T-1",
        "- [ ] T-2 x\n  - **{0}:** T-1 (shares the settings surface)",
        "- [ ] T-2 x\n  {0}: T-1",
        "- [ ] T-2 x\n  _{0}: T-1_",
        "- [ ] T-2 x ({0}: T-1)",
        "- [ ] T-2 x ({0}： T-1)",
        "- [ ] T-2 x {{type: ui; {0}: T-1}}",
        "- [ ] T-2 x (type: ui, {0}: T-1)",
        "- [ ] T-2 x\n  - {0}:\n    - T-1",
        "## T-2 x\n{0}: T-1",
        "## T-2 x\n\nSome prose first.\n\n**{0}**: T-1",
        "## T-2 x\n**{0}**:\n- T-1\n",
        "## T-2 x\n**Type**: ui | **{0}**: T-1",
        "## T-2 x ({0}: T-1)",
        "## T-2 x\n### {0}: T-1",
        "| ID | Task | {0} |\n|-|-|-|\n| T-2 | x | T-1 |",
    ],
)
def test_prerequisites_are_read_in_every_form(form: str, label: str) -> None:
    found = parse(f"- [x] T-1 base\n\n{form.format(label)}\n".encode())
    assert (ids(found), after(found, "T-2")) == (["T-1", "T-2"], ["T-1"])
    assert (task(found, "T-2").title, found.ok) == ("x", True)


@pytest.mark.parametrize(
    "text",
    [
        "(depends on T-1)",
        "(depends on T-1) [P] #core",
        "(blocked by T-1, see there)",
        "(after T-1)",
        "(needs: T-1) (soon)",
    ],
)
def test_inline_groups_need_no_colon_at_the_end(text: str) -> None:
    assert after(read(f"- [x] T-1 base\n- [ ] T-2 x {text}\n"), "T-2") == ["T-1"]


def test_an_inline_group_may_run_over_lines() -> None:
    found = read("- [ ] T-1 a\n- [ ] T-2 b\n- [ ] T-3 long (after: T-1,\n  T-2;\n  type: ui)\n  More.\n")
    assert (after(found, "T-3"), task(found, "T-3").type, task(found, "T-3").body) == (["T-1", "T-2"], "ui", "More.")


@pytest.mark.parametrize("text", ["b (after: T-1", "b (after: T-1 (the base)", "a) b (after: T-1", "(b (after: T-1)"])
def test_a_bracket_that_was_never_closed_loses_no_prerequisite(text: str) -> None:
    assert after(read(f"- [ ] T-1 a\n- [ ] T-2 {text}\n"), "T-2") == ["T-1"]


@pytest.mark.parametrize("text", ["T-1,\n  T-2", "T-1\n  T-2", "T-1 and\n  T-2 (both)"])
def test_a_list_of_prerequisites_may_run_over_lines(text: str) -> None:
    found = read(f"- [ ] T-1 a\n- [ ] T-2 b\n- [ ] T-3 c\n\n  Blocked by: {text}\n  More.\n")
    assert (after(found, "T-3"), task(found, "T-3").body) == (["T-1", "T-2"], "More.")


@pytest.mark.parametrize("title", ["a - depends on T-1", "a, after: T-1", "a [blocked by: T-1]"])
def test_prerequisites_that_stand_loose_in_a_title_are_reported(title: str) -> None:
    found = read(f"- [ ] T-1 x\n- [ ] T-2 {title}\n")
    assert (after(found, "T-2"), problems(found)) == ([], [("link_in_title", 2)])


@pytest.mark.parametrize(
    ("value", "refs"),
    [
        ("T-1, T-2", ["T-1", "T-2"]),
        ("T-1; T-2", ["T-1", "T-2"]),
        ("T-1 T-2", ["T-1", "T-2"]),
        ("T-1 and T-2", ["T-1", "T-2"]),
        ("T-1、T-2", ["T-1", "T-2"]),
        ("`T-1`, **T-2**", ["T-1", "T-2"]),
        ("[T-1](#t-1), [T-2]", ["T-1", "T-2"]),
        ("#T-1", ["T-1"]),
        ("(T-1)", ["T-1"]),
        ("T-1 (the base; see utf-8), T-2", ["T-1", "T-2"]),
        ("T-1 – merged first", ["T-1"]),
        ("T-1 must be merged first, T-2 too", ["T-1", "T-2"]),
        ("T-1.", ["T-1"]),
        ("T-1, T-1", ["T-1"]),
        ("T-1..T-3", ["T-1", "T-2", "T-3"]),
        ("T-1...T-3", ["T-1", "T-2", "T-3"]),
        ("T-1–T-3", ["T-1", "T-2", "T-3"]),
        ("T-1 – T-3", ["T-1", "T-2", "T-3"]),
        ("T-1 to T-3", ["T-1", "T-2", "T-3"]),
        ("T-1-T-3", ["T-1", "T-2", "T-3"]),
        ("T-2..T-99", ["T-2", "T-3", "T-10"]),
        ("T-1–3", ["T-1", "T-2", "T-3"]),
        ("tasks T-1 and T-2", ["T-1", "T-2"]),
        ("web:X-1, T-1", ["web:X-1", "T-1"]),
        ("main:T-1", ["T-1"]),
        ("✅ T-1, T-2", ["T-1", "T-2"]),
        ("T-1 → T-2", ["T-1", "T-2"]),
        ("(none)", []),
        ("none", []),
        ("None (can start at once)", []),
        ("-", []),
        ("—", []),
        ("无", []),
        ("無", []),
        ("N/A", []),
    ],
)
def test_prerequisite_expressions(value: str, refs: list[str]) -> None:
    found = read(
        f"- [ ] T-1 a\n- [ ] T-2 b\n- [ ] T-3 c\n- [ ] T-10 d\n- [ ] T-1a e\n- [ ] Z-1 x\n  - after: {value}\n"
    )
    assert sorted(set(after(found, "Z-1")) - {"T-1a"}) == sorted(refs)
    assert found.ok


@pytest.mark.parametrize("value", ["", "the moon", "T-1, the moon", "Phase 1", "all of the above", "TBD", "plan.md"])
def test_what_names_nothing_is_an_error_never_silently_no_prerequisite(value: str) -> None:
    found = read(f"- [ ] T-1 a\n- [ ] T-2 b\n  - depends on: {value}\n")
    assert (error(found).type, error(found).line, error(found).id) == ("unresolvable_prereq", 3, "T-2")


@pytest.mark.parametrize("value", ["T-3..T-1", "T-1..U-3", "T-5..T-9"])
def test_ranges_that_name_nothing_are_errors(value: str) -> None:
    found = read(f"- [ ] T-1 a\n- [ ] T-3 b\n- [ ] Z-1 c (after: {value})\n")
    assert error(found).type == "bad_value"


def test_an_unknown_prerequisite_is_an_error_with_its_place_and_the_likely_id() -> None:
    found = read("- [ ] T-1 a\n- [ ] T-2 b (after: t-1)\n")
    assert (error(found).type, error(found).line, error(found).column) == ("unknown_prereq", 2, 21)
    assert "T-1" in error(found).message


def test_blocks_is_the_reverse() -> None:
    found = read("## T-1 a\nBlocks: T-2\n## T-2 b\n## T-3 c\nBlocks: web:X-1\n")
    assert (after(found, "T-1"), after(found, "T-2")) == ([], ["T-1"])
    assert (error(found).type, error(found).line) == ("bad_value", 5)


def test_names_in_another_region_are_left_to_the_store() -> None:
    found = read("- [ ] T-1 a (after: main:T-1)\n", region="web")
    assert task(found, "T-1").after[0] == ("main", "T-1")
    assert (found.ok, runnable(found.tasks, "web")) == (True, set())


@pytest.mark.parametrize(
    "text",
    [
        "Prerequisites: plan.md\n\n- [ ] T-1 a\n",
        '## T-1 a\nText: "Depends on: T-9" is what the old file said.\n',
        "## T-1 a\n- Requirements: 1.1, 2.3\n",
        "## T-1 a\n```\nDepends on: T-9\n```\n",
        "## T-1 a\n> Depends on: T-9\n",
        "## T-1 a\n### Prerequisites\nA running database.\n",
        "## T-1 a\nWe worked on this after: nothing else.\n",
    ],
)
def test_prose_is_no_field(text: str) -> None:
    found = read(text)
    assert (after(found, "T-1"), found.problems) == ([], ())


def test_prerequisites_without_a_task_above_them_are_reported() -> None:
    found = read("## Phase 2\nDepends on: T-1\n\n- [ ] T-1 a\n\n## Dependencies\n- T-2 needs T-1\n")
    assert problems(found, Severity.WARNING) == [("stray_prereq", 2), ("stray_prereq", 6)]


def test_all_other_fields() -> None:
    found = read(
        """
        ## T-1 Parse
        - Type: Backend
        - **Priority:** P1
        - verify: `pytest -q tests/x`
        - touches: `src/**`, docs/*.md
        - timeout: 1h30m
        - max attempts: 2
        - agent: @Claude
        - owner: Bob
        - Estimate: 3h
        """,
        agents=("claude", "codex"),
    )
    spec = task(found, "T-1")
    assert (spec.type, spec.priority, spec.verify) == ("backend", 10, "pytest -q tests/x")
    assert (spec.touches, spec.timeout_s, spec.attempts) == (("src/**", "docs/*.md"), 5400.0, 2)
    assert spec.agents == ("claude",)
    assert "owner: Bob" in spec.body
    assert "- Estimate: 3h" in spec.body
    assert "P1" not in spec.body
    assert found.ok


@pytest.mark.parametrize(
    ("value", "priority"),
    [
        ("3", 3), ("-2", -2), ("P0", 20), ("p4", -20), ("critical", 20), ("**High** (blocks)", 10), ("🔴 High", 10),
        ("medium", 0), ("Low", -10), ("none", 0), ("高", 10),
    ],
)  # fmt: skip
def test_priorities(value: str, priority: int) -> None:
    assert task(read(f"- [ ] T-1 a\n  - priority: {value}\n"), "T-1").priority == priority


@pytest.mark.parametrize(
    "field",
    [
        "priority: huge",
        "priority: 1.5",
        "timeout: soon",
        "timeout: 30",
        "attempts: 0",
        "attempts: many",
        "agent: nobody",
    ],
)
def test_bad_values_are_errors_with_their_place(field: str) -> None:
    found = read(f"- [ ] T-1 a\n  - {field}\n", agents=("claude",))
    assert (error(found).type, error(found).line, error(found).column) == (
        "bad_value",
        2,
        len(field.split(":")[0]) + 7,
    )
    assert "expected" in error(found).message


def test_an_owner_is_an_agent_only_when_it_is_configured() -> None:
    found = read("- [ ] T-1 a\n  - owner: codex\n- [ ] T-2 b\n  - assignee: Ann\n", agents=("codex",))
    assert (task(found, "T-1").agents, task(found, "T-2").agents) == (("codex",), ())


def test_an_owner_column_names_people_too() -> None:
    found = read("| # | Task | Status | Owner |\n|-|-|-|-|\n| 1 | a | todo | @ann |\n", agents=("codex",))
    assert (task(found, "1").agents, task(found, "1").body, found.ok) == ((), "Owner: @ann", True)


def test_below_a_sub_heading_only_links_are_read() -> None:
    found = read("- [x] T-1 a\n\n## T-2 b\n### Notes\nStatus: done\nDepends on: T-1\n")
    assert (task(found, "T-2").status.value, after(found, "T-2")) == ("todo", ["T-1"])


def test_a_table_of_fields_under_a_heading_task_is_read() -> None:
    found = read("- [x] T-1 a\n\n## T-2 b\n\n| Field | Value |\n|-|-|\n| Depends on | T-1 |\n| Status | Done |\n")
    assert (after(found, "T-2"), task(found, "T-2").status.value) == (["T-1"], "done")
