"""A question and a person's answer stand in the prompt of every later attempt, in full."""

from __future__ import annotations

from pathlib import Path

from recall.agents.planning import RunPlanner
from recall.config.settings import AgentSettings, Settings
from recall.domain.launch import ShimStoreContract
from recall.domain.run import Run, RunResult, RunState
from recall.domain.task import Task, TaskState
from recall.domain.work import Workspace
from tests.support.builders import SeededRng

TASK = Task("main", "T-1", "Draw", "", "general", 0, 0, TaskState.IN_PROGRESS, "", 0.0)


def over(number: int, result: RunResult, reason: str, answer: str = "") -> Run:
    return Run(
        number, "main", "T-1", "ann", f"ann-{number}", number, number, RunState.SETTLED, result, reason, answer=answer
    )


def prompt(*earlier: Run) -> str:
    planner = RunPlanner(
        settings=Settings(Path("/p/recall.toml"), "main", None, agents=(AgentSettings("ann", ("true",)),)),
        contract=ShimStoreContract(Path("/p/db"), Path("/p/lock"), "", ""),
        runs=Path("/p/runs"),
        program=("/bin/recall",),
        environ={},
        rng=SeededRng(),
        find=lambda ref: None,
    )
    now = Run(9, "main", "T-1", "ann", "ann-9", 9, 9, RunState.RUNNING)
    return planner.agent_run(TASK, now, Workspace("s1", Path("/p/ws/s1"), "b", "c"), earlier).prompt


def test_question_and_answer_are_told_in_full() -> None:
    text = prompt(over(1, RunResult.QUESTION, "Red?\nOr blue?", "Blue.\n" + "x" * 3000))
    assert "## Asked before, and answered" in text
    assert "ann asked:\n\n> Red?\n> Or blue?\n" in text
    assert "> Blue.\n> " + "x" * 3000 in text
    assert "Earlier attempts" not in text, "an answered question is no mistake to be avoided"


def test_they_stay_when_a_later_attempt_failed() -> None:
    text = prompt(
        over(1, RunResult.QUESTION, "Red?", "Blue."),
        over(2, RunResult.FAILED, "no paint"),
        over(3, RunResult.QUESTION, "How blue?", "Very."),
    )
    assert text.index("> Red?") < text.index("> Blue.") < text.index("> How blue?") < text.index("> Very.")
    assert "- attempt 2 (ann): failed" in text
    assert "> no paint" in text


def test_a_question_that_nobody_answered_is_an_earlier_attempt() -> None:
    text = prompt(over(1, RunResult.QUESTION, "Red?"))
    assert "Asked before" not in text
    assert "- attempt 1 (ann): question" in text


def test_text_from_outside_is_cleaned() -> None:
    text = prompt(over(1, RunResult.QUESTION, "Red\x1b[31m?", "B\x07lue."))
    assert "\x1b" not in text
    assert "> Blue." in text
