"""A run: one agent working once on one task, under one lease version."""

from __future__ import annotations

from enum import StrEnum

from recall.domain.frozen import frozen
from recall.domain.task import TaskRef


class RunState(StrEnum):
    """`preparing`: claimed, workspace being made. `running`: recorded before its process exists.
    `pulled`: a person drives the agent, Recall starts nothing. `ended`: the agent and its whole process
    tree are gone and nothing expires any more. `landing`: its result is in the merge queue.
    `settled`: over, with a result."""

    PREPARING = "preparing"
    RUNNING = "running"
    PULLED = "pulled"
    ENDED = "ended"
    LANDING = "landing"
    SETTLED = "settled"


RUN_MOVES: dict[tuple[RunState, RunState], str] = {
    (RunState.PREPARING, RunState.RUNNING): "its workspace is ready; the agent is about to start",
    (RunState.PREPARING, RunState.SETTLED): "its workspace could not be made, or the lease was lost",
    (RunState.RUNNING, RunState.ENDED): "the agent and all its processes are gone",
    (RunState.RUNNING, RunState.SETTLED): "lost with its shim, or its lease was lost",
    (RunState.PULLED, RunState.LANDING): "its branch was handed in",
    (RunState.PULLED, RunState.SETTLED): "given back, failed, done by hand, or its lease expired",
    (RunState.ENDED, RunState.LANDING): "its result is in the merge queue",
    (RunState.ENDED, RunState.SETTLED): "it brought nothing to land",
    (RunState.LANDING, RunState.SETTLED): "landed, or turned away by the queue",
}


class RunResult(StrEnum):
    """How a run came out. What each costs is the table in `domain.outcome`."""

    LANDED = "landed"
    CONFLICT = "conflict"
    VERIFY_FAILED = "verify_failed"
    FAILED = "failed"
    NO_REPORT = "no_report"
    NO_CHANGE = "no_change"
    TIMED_OUT = "timed_out"
    STALLED = "stalled"
    RATE_LIMITED = "rate_limited"
    CREDIT_EXHAUSTED = "credit_exhausted"
    AUTH_REQUIRED = "auth_required"
    ORPHANED = "orphaned"
    LEASE_LOST = "lease_lost"
    CANCELLED = "cancelled"
    QUESTION = "question"


@frozen
class Run:
    """One row of the store. `number` counts the runs of its task from 1 and names the branch.

    Times are wall seconds UTC. `slot` is the folder name under `.recall/ws/` (or None in pull mode).
    `answer` is what a person said to a run that ended with a question, which is its reason.
    `session` and what follows it are what the agent told of itself when it had ended, None where it did not; see
    `domain.stream.spending`. `renewals` counts how often its lease was renewed, `longest_gap` is the longest time
    between two of them in monotonic seconds, and `clock_step` the largest that the wall clock moved otherwise than
    that in between, in signed seconds; None where nothing was renewed, or an older Recall did not measure.
    """

    id: int
    region: str
    task: str
    agent: str
    owner: str
    version: int
    number: int
    state: RunState
    result: RunResult | None = None
    reason: str = ""
    branch: str | None = None
    base: str | None = None
    slot: str | None = None
    claimed_at: float = 0.0
    started_at: float | None = None
    ended_at: float | None = None
    settled_at: float | None = None
    why: str = ""
    answer: str = ""
    session: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None
    continues: int | None = None
    renewals: int | None = None
    longest_gap: float | None = None
    clock_step: float | None = None

    @property
    def ref(self) -> TaskRef:
        return TaskRef(self.region, self.task)


@frozen
class Claim:
    """A won claim: who may act for the task, until when (CLOCK_MONOTONIC seconds of `boot`), and as what."""

    run_id: int
    ref: TaskRef
    agent: str
    owner: str
    version: int
    number: int
    boot: str
    expires: float
    expires_wall: float


@frozen
class Refused:
    """A write on behalf of a run, or a person's wish, that was turned down. Recorded, never dropped silently."""

    reason: str
    lease_lost: bool = False


@frozen
class Report:
    """What an agent said of its own run. The last valid one before the end counts."""

    result: str
    summary: str = ""
    question: str = ""


@frozen
class ExitRecord:
    """How the agent's process ended, as its shim wrote it down.

    `stopped` says who ended it if it did not end by itself: `timeout`, `stall`, `cancel`, `lease_lost` or
    `after_report`. Exactly one of `status` and `signal` is set when the agent was started at all;
    `error` says why it was not.
    """

    status: int | None
    signal: int | None = None
    stopped: str | None = None
    report: Report | None = None
    refused_reports: tuple[str, ...] = ()
    started_at: float = 0.0
    ended_at: float = 0.0
    strays: int = 0
    error: str = ""
