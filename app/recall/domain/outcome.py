"""How a run came out, and what that costs: one table for task, attempt, weight and agent."""

from __future__ import annotations

from enum import StrEnum

from recall.domain.frozen import frozen
from recall.domain.run import ExitRecord, RunResult
from recall.domain.task import TaskState
from recall.domain.usage import LimitClass, LimitFinding

WEIGHT_START = 0.5
WEIGHT_LANDED = 0.30
WEIGHT_FAILED = -0.20

#: The store's setting that says how many interruptions a task survives before it needs a person.
MAX_INTERRUPTIONS = "max_interruptions"


#: How a run ends that may go on later where it stopped: in its own workspace and, where its CLI can, its session.
GOES_ON = frozenset({RunResult.RATE_LIMITED, RunResult.CREDIT_EXHAUSTED, RunResult.AUTH_REQUIRED, RunResult.QUESTION})


def weight_after(weight: float, result: RunResult | None) -> float | None:
    """What a weight is after a run that came out so, as the store works it out; None: it stays as it was."""
    change = CONSEQUENCES[result].weight if result is not None else 0.0
    return round(min(1.0, max(0.0, weight + change)), 4) if change else None


class Effect(StrEnum):
    """What a result does to the agent."""

    NONE = "none"
    COOLS = "cools"
    STOPS = "stops"


@frozen
class Consequence:
    """One row of the table. `attempt`: uses one up. `interruption`: counts as one. `person`: the task waits
    for a person at once. `meaning` is the sentence shown to people and in docs/STATES.md."""

    attempt: bool
    interruption: bool
    weight: float
    effect: Effect
    person: bool
    meaning: str


_ABILITY = (True, False, WEIGHT_FAILED, Effect.NONE, False)
_TROUBLE = (False, True, 0.0, Effect.NONE, False)

CONSEQUENCES: dict[RunResult, Consequence] = {
    RunResult.LANDED: Consequence(False, False, WEIGHT_LANDED, Effect.NONE, False, "its commits are in main"),
    RunResult.FAILED: Consequence(*_ABILITY, "the agent said that it failed, or ended in an error of its own"),
    RunResult.VERIFY_FAILED: Consequence(*_ABILITY, "its tree was red while main was green"),
    RunResult.NO_REPORT: Consequence(*_ABILITY, "the agent ended without a report"),
    RunResult.NO_CHANGE: Consequence(True, False, 0.0, Effect.NONE, False, "it brought nothing that main lacks"),
    RunResult.TIMED_OUT: Consequence(*_ABILITY, "stopped at the run's time limit"),
    RunResult.STALLED: Consequence(*_ABILITY, "stopped after a long time without any sign of work"),
    RunResult.CONFLICT: Consequence(*_TROUBLE, "it does not apply to what landed meanwhile"),
    RunResult.RATE_LIMITED: Consequence(
        False,
        False,
        0.0,
        Effect.COOLS,
        False,
        "the agent's usage limit was reached, or its provider is overloaded; it waits",
    ),
    RunResult.CREDIT_EXHAUSTED: Consequence(
        False, False, 0.0, Effect.STOPS, False, "the agent's account is out of credit; a person must act"
    ),
    RunResult.AUTH_REQUIRED: Consequence(
        False, False, 0.0, Effect.STOPS, False, "the agent must be signed in by a person"
    ),
    RunResult.ORPHANED: Consequence(*_TROUBLE, "its process was lost; what it left is kept"),
    RunResult.LEASE_LOST: Consequence(*_TROUBLE, "its lease ran out or was taken back"),
    RunResult.CANCELLED: Consequence(False, False, 0.0, Effect.NONE, False, "stopped by a person; the work is kept"),
    RunResult.QUESTION: Consequence(False, False, 0.0, Effect.NONE, True, "the agent asks a person something"),
}


@frozen
class Verdict:
    """What a finished run amounts to before git is asked. `accepted` means: a good report, to be collected."""

    accepted: bool
    result: RunResult | None
    reason: str
    finding: LimitFinding = LimitFinding()


@frozen
class Settlement:
    """Everything that one settled run changes, to be written in one transaction.

    `task_state` and `task_reason` are the task's next state; `retry_at` (wall seconds UTC) holds it back.
    `weight` is added to the agent's weight for the task's type and clamped. `cooling_until` cools the agent's
    whole account, `unreadable_limit` counts one more limit in a row whose reset could not be read,
    `agent_stopped` says why only a person can start it again, `agent_paused` why it is paused from now on.
    `quick_failure`: it ended so soon, and without a commit, that the agent may be broken (`domain.suspicion`).
    `kept_until` is set when the workspace waits for the agent to go on: until then for it alone (wall seconds)."""

    result: RunResult
    reason: str
    task_state: TaskState
    task_reason: str = ""
    attempt: bool = False
    interruption: bool = False
    weight: float = 0.0
    retry_at: float | None = None
    cooling_until: float | None = None
    cooling_line: str = ""
    unreadable_limit: bool = False
    agent_stopped: str = ""
    agent_paused: str = ""
    kept_until: float | None = None
    quick_failure: bool = False


@frozen
class Budget:
    """What a task has used and may use. `backoff` is the first pause in seconds, doubled with every use; up to a
    quarter is added, as `jitter` (0 to 1) says, so that tasks that failed together do not all come back together."""

    attempts: int
    max_attempts: int
    interruptions: int
    max_interruptions: int
    backoff: float
    jitter: float = 0.0

    def pause(self) -> float:
        return self.backoff * 2 ** min(self.attempts, 10) * (1 + self.jitter / 4)


@frozen
class CooldownRule:
    """Seconds: see `config.LimitSettings`. `in_a_row` counts earlier limits that did not say when to come back.
    `transient` is the first pause after trouble on the provider's side that named no time. `goes_on`: whether the
    agent starts again by itself after a usage limit."""

    margin: float
    default: float
    cap: float
    in_a_row: int = 0
    transient: float = 60.0
    failover_after: float = 3600.0
    goes_on: bool = True

    def until(self, finding: LimitFinding, now: float) -> float:
        """Give the wall second (UTC) before which the agent starts nothing. A reset that is over already is tried
        soon, but each time in a row later: it would be over the next time too."""
        if is_told(finding, now):
            return (finding.reset_at or now) + self.margin
        first = self.transient if finding.kind is LimitClass.TRANSIENT else self.default
        if finding.reset_at is not None:
            first = self.margin
        return now + min(first * 2 ** min(self.in_a_row, 16), max(self.cap, first))


def is_told(finding: LimitFinding, now: float) -> bool:
    """Tell whether the log said when to come back, and that is still to come."""
    return finding.reset_at is not None and finding.reset_at > now


_STOPPED = {
    "timeout": RunResult.TIMED_OUT,
    "stall": RunResult.STALLED,
    "cancel": RunResult.CANCELLED,
    "lease_lost": RunResult.LEASE_LOST,
    "shutdown": RunResult.ORPHANED,
}

#: Trouble on the provider's side (overload, too many requests a minute) cools the agent too, only for less long.
_LIMITS = {
    LimitClass.LIMIT: RunResult.RATE_LIMITED,
    LimitClass.TRANSIENT: RunResult.RATE_LIMITED,
    LimitClass.CREDIT: RunResult.CREDIT_EXHAUSTED,
    LimitClass.AUTH: RunResult.AUTH_REQUIRED,
}


def classify(record: ExitRecord, finding: LimitFinding) -> Verdict:
    """Say what a run amounts to from how it ended, what it reported and what its log says of limits.

    A good report beats the exit code and any text: it is verified anyway before it can land. A stop by the
    shim beats a report other than success, and `finding` counts only without a good report.
    """
    report = record.report
    if record.stopped in {"cancel", "lease_lost", "shutdown"}:
        return Verdict(False, _STOPPED[record.stopped], _ended(record))
    if report is not None and report.result == "success":
        return Verdict(True, None, f"reported success; {_ended(record)}")
    if report is not None and report.result == "question":
        return Verdict(False, RunResult.QUESTION, report.question or report.summary or "a question without text")
    if finding.kind in _LIMITS:
        return Verdict(False, _LIMITS[finding.kind], finding.matched or finding.reason, finding)
    if record.stopped in _STOPPED:
        return Verdict(False, _STOPPED[record.stopped], _ended(record))
    if report is not None:
        detail = report.summary or "no summary given"
        return Verdict(False, RunResult.FAILED, f"reported failure: {detail}; {_ended(record)}")
    if record.error:
        return Verdict(False, RunResult.FAILED, record.error)
    if record.status:
        return Verdict(False, RunResult.FAILED, f"no report; {_ended(record)}")
    return Verdict(False, RunResult.NO_REPORT, f"ended without a report; {_ended(record)}")


def _ended(record: ExitRecord) -> str:
    if record.stopped:
        words = {
            "timeout": "stopped at its time limit",
            "stall": "stopped: no output, no CPU time, no file changed",
            "cancel": "stopped by a person",
            "lease_lost": "stopped: its lease was lost",
            "shutdown": "stopped together with the dispatcher",
            "after_report": "stopped after its report, because it did not end by itself",
        }
        return words.get(record.stopped, f"stopped ({record.stopped})")
    if record.signal is not None:
        return f"killed by signal {record.signal}"
    return f"exit code {record.status}"


def settle(
    result: RunResult,
    reason: str,
    *,
    budget: Budget,
    cooldown: CooldownRule,
    now: float,
    finding: LimitFinding = LimitFinding(),
) -> Settlement:
    """Turn a result into everything it changes. `now` is wall seconds UTC."""
    row = CONSEQUENCES[result]
    state, why, retry_at = _next_state(result, reason, row, budget, now)
    cools = row.effect is Effect.COOLS
    return Settlement(
        result=result,
        reason=reason,
        task_state=state,
        task_reason=why,
        attempt=row.attempt,
        interruption=row.interruption,
        weight=row.weight,
        retry_at=retry_at,
        cooling_until=cooldown.until(finding, now) if cools else None,
        cooling_line=finding.matched if cools else "",
        unreadable_limit=cools and not is_told(finding, now),
        agent_stopped=reason if row.effect is Effect.STOPS else "",
        agent_paused=_NOT_BY_ITSELF if finding.kind is LimitClass.LIMIT and cools and not cooldown.goes_on else "",
        kept_until=now + cooldown.failover_after if result in GOES_ON else None,
    )


_NOT_BY_ITSELF = "its usage limit was reached, and recall.toml says `resume = false`: a person resumes it"


def _next_state(
    result: RunResult, reason: str, row: Consequence, budget: Budget, now: float
) -> tuple[TaskState, str, float | None]:
    if result is RunResult.LANDED:
        return TaskState.DONE, "", None
    if result is RunResult.CANCELLED:
        return TaskState.CANCELLED, reason, None
    if row.person:
        return TaskState.NEEDS_PERSON, f"asks: {reason}", None
    if row.attempt and budget.attempts + 1 >= budget.max_attempts:
        used = f"{budget.attempts + 1} attempts used up, the last: {reason}"
        return TaskState.NEEDS_PERSON, used if budget.attempts else f"its only attempt is used up: {reason}", None
    if row.interruption and budget.interruptions + 1 >= budget.max_interruptions:
        return TaskState.NEEDS_PERSON, f"{budget.interruptions + 1} interruptions, the last: {reason}", None
    if row.attempt:
        return TaskState.TODO, reason, now + budget.pause()
    return TaskState.TODO, reason, None
