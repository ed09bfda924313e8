"""How a run came out, and what that costs task, attempt, weight and agent."""

from __future__ import annotations

import pytest

from recall.domain.outcome import CONSEQUENCES, Budget, CooldownRule, classify, settle
from recall.domain.run import ExitRecord, Report, RunResult
from recall.domain.task import TaskState
from recall.domain.usage import LimitClass, LimitFinding

NOTHING = LimitFinding()
FRESH = Budget(attempts=0, max_attempts=3, interruptions=0, max_interruptions=5, backoff=30.0)
RULE = CooldownRule(margin=60.0, default=1800.0, cap=7200.0)
ABILITY = {
    RunResult.FAILED,
    RunResult.VERIFY_FAILED,
    RunResult.NO_REPORT,
    RunResult.TIMED_OUT,
    RunResult.STALLED,
}


def record(**values: object) -> ExitRecord:
    return ExitRecord(**{"status": 0, **values})  # type: ignore[arg-type]  # a test names only what matters


def test_every_result_has_a_row() -> None:
    assert set(CONSEQUENCES) == set(RunResult)


@pytest.mark.parametrize("result", list(RunResult))
def test_only_ability_and_no_change_use_up_an_attempt(result: RunResult) -> None:
    settled = settle(result, "why", budget=FRESH, cooldown=RULE, now=1000.0)
    assert settled.attempt is (result in ABILITY or result is RunResult.NO_CHANGE)
    assert settled.weight == (-0.20 if result in ABILITY else 0.30 if result is RunResult.LANDED else 0.0)
    assert not (settled.attempt and settled.interruption)


@pytest.mark.parametrize(
    ("given", "result"),
    [
        (record(status=1), RunResult.FAILED),
        (record(status=0), RunResult.NO_REPORT),
        (record(status=None, signal=9), RunResult.NO_REPORT),
        (record(status=None, signal=15, stopped="timeout"), RunResult.TIMED_OUT),
        (record(status=None, signal=15, stopped="stall"), RunResult.STALLED),
        (record(status=None, signal=15, stopped="cancel"), RunResult.CANCELLED),
        (record(status=None, signal=15, stopped="lease_lost"), RunResult.LEASE_LOST),
        (record(report=Report("failure", "cannot")), RunResult.FAILED),
        (record(report=Report("question", question="which?")), RunResult.QUESTION),
        (record(status=None, error="no such program"), RunResult.FAILED),
    ],
)
def test_an_ending_without_success_has_one_result(given: ExitRecord, result: RunResult) -> None:
    verdict = classify(given, NOTHING)
    assert not verdict.accepted
    assert verdict.result is result


def test_a_good_report_beats_exit_code_and_limit_text_and_says_both() -> None:
    limited = LimitFinding(LimitClass.LIMIT, limited=True, matched="usage limit reached")
    verdict = classify(record(status=1, report=Report("success")), limited)
    assert verdict.accepted
    assert "exit code 1" in verdict.reason


def test_a_cancelled_run_is_not_taken_even_with_a_good_report() -> None:
    assert not classify(record(stopped="cancel", report=Report("success")), NOTHING).accepted


@pytest.mark.parametrize(
    ("kind", "result"),
    [
        (LimitClass.LIMIT, RunResult.RATE_LIMITED),
        (LimitClass.CREDIT, RunResult.CREDIT_EXHAUSTED),
        (LimitClass.AUTH, RunResult.AUTH_REQUIRED),
    ],
)
def test_a_limit_explains_a_failed_run(kind: LimitClass, result: RunResult) -> None:
    finding = LimitFinding(kind, limited=kind is LimitClass.LIMIT, reset_at=2000.0, matched="the line")
    verdict = classify(record(status=1), finding)
    settled = settle(
        verdict.result or RunResult.FAILED, verdict.reason, budget=FRESH, cooldown=RULE, now=1000.0, finding=finding
    )
    assert verdict.result is result
    assert settled.task_state is TaskState.TODO
    assert not settled.attempt
    if kind is LimitClass.LIMIT:
        assert (settled.cooling_until, settled.cooling_line) == (2060.0, "the line")
    else:
        assert settled.agent_stopped


def test_a_limit_without_a_time_pauses_longer_each_time_up_to_the_cap() -> None:
    finding = LimitFinding(LimitClass.LIMIT, limited=True)
    pauses = [CooldownRule(60.0, 1800.0, 7200.0, in_a_row=n).until(finding, 0.0) for n in range(5)]
    assert pauses == [1800.0, 3600.0, 7200.0, 7200.0, 7200.0]


def test_an_overloaded_provider_is_waited_for_a_minute_and_blames_nobody() -> None:
    finding = LimitFinding(LimitClass.TRANSIENT, matched="529 overloaded")
    verdict = classify(record(status=1), finding)
    settled = settle(
        verdict.result or RunResult.FAILED, verdict.reason, budget=FRESH, cooldown=RULE, now=1000.0, finding=finding
    )
    assert (settled.attempt, settled.interruption, settled.weight) == (False, False, 0.0)
    assert settled.cooling_until == 1060.0
    assert CooldownRule(60.0, 1800.0, 7200.0, in_a_row=3).until(finding, 0.0) == 480.0


def test_limits_never_use_up_a_task() -> None:
    used = Budget(attempts=2, max_attempts=3, interruptions=4, max_interruptions=5, backoff=30.0)
    for result in (RunResult.RATE_LIMITED, RunResult.CREDIT_EXHAUSTED, RunResult.AUTH_REQUIRED):
        settled = settle(result, "limit", budget=used, cooldown=RULE, now=1000.0)
        assert settled.task_state is TaskState.TODO


def test_a_reset_that_is_just_past_still_pauses_for_the_margin() -> None:
    assert RULE.until(LimitFinding(LimitClass.LIMIT, limited=True, reset_at=990.0), 1000.0) == 1060.0


def test_the_last_attempt_calls_a_person_and_earlier_ones_back_off() -> None:
    first = settle(RunResult.FAILED, "red", budget=FRESH, cooldown=RULE, now=1000.0)
    used = Budget(attempts=2, max_attempts=3, interruptions=0, max_interruptions=5, backoff=30.0)
    last = settle(RunResult.FAILED, "red", budget=used, cooldown=RULE, now=1000.0)
    assert (first.task_state, first.retry_at) == (TaskState.TODO, 1030.0)
    assert last.task_state is TaskState.NEEDS_PERSON
    assert last.task_reason == "3 attempts used up, the last: red"


def test_a_task_with_one_attempt_is_told_so() -> None:
    once = Budget(attempts=0, max_attempts=1, interruptions=0, max_interruptions=5, backoff=30.0)
    settled = settle(RunResult.FAILED, "red", budget=once, cooldown=RULE, now=1000.0)
    assert (settled.task_state, settled.task_reason) == (TaskState.NEEDS_PERSON, "its only attempt is used up: red")


def test_interruptions_have_a_limit_of_their_own() -> None:
    used = Budget(attempts=0, max_attempts=3, interruptions=4, max_interruptions=5, backoff=30.0)
    settled = settle(RunResult.ORPHANED, "lost", budget=used, cooldown=RULE, now=1000.0)
    assert settled.task_state is TaskState.NEEDS_PERSON
    assert settle(RunResult.ORPHANED, "lost", budget=FRESH, cooldown=RULE, now=1.0).retry_at is None
