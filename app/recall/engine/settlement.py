"""From an agent that has ended to a result in the merge queue, or to what its failure means."""

from __future__ import annotations

from dataclasses import replace

from recall.domain.errors import Exhausted, RecallError
from recall.domain.limits import TAIL_LINES, read_run
from recall.domain.outcome import Settlement, Verdict, classify
from recall.domain.run import ExitRecord, Run, RunResult, RunState
from recall.domain.stream.spending import Spending, since
from recall.domain.suspicion import QUICK
from recall.domain.task import Task, TaskState
from recall.domain.text import clean
from recall.domain.usage import LimitFinding
from recall.domain.work import NothingNew, PersonNeeded, Result
from recall.engine.parts import Parts
from recall.engine.releases import Releases, workspace_of
from recall.failpoint import failpoint

_QUICK = frozenset({RunResult.FAILED, RunResult.NO_REPORT})
_ABILITY = frozenset({RunResult.FAILED, RunResult.NO_REPORT, RunResult.TIMED_OUT, RunResult.STALLED})


def settle_ended_run(parts: Parts, releases: Releases, run_id: int, record: ExitRecord) -> None:
    """Judge a run whose agent and processes are gone, and act on it. Repeatable after a crash at any point:
    collecting gives the same commits again, and the store takes each run's end once."""
    run = _ended(parts, run_id)
    if run is None:
        return
    _keep_spending(parts, run)
    verdict = classify(record, _finding(parts, run, record))
    settlement = _hand_in(parts, run, verdict) if verdict.accepted else _settlement(parts, run, verdict, record)
    if settlement is not None:
        parts.store.settle_run(run.id, run.owner, run.version, settlement, actor="dispatcher")
        failpoint("settle.run_settled")
        releases.release(run.id)


def settle_lost_run(parts: Parts, releases: Releases, run_id: int) -> None:
    """End a run whose shim is gone without a record, and whatever it left running."""
    swept = parts.runner.sweep(parts.planner.runs_folder() / str(run_id))
    strays = f"; {swept} left-over processes were ended" if swept else ""
    failpoint("settle.lost_run_swept")
    run = _open(parts, run_id)
    if run is not None:
        _keep_spending(parts, run)
        parts.store.end_lost_run(run_id, reason=f"its process was lost without a record{strays}")
        failpoint("settle.lost_run_ended")
        releases.release(run_id)


def settle_unlaunched_run(parts: Parts, run_id: int) -> None:
    """End a run whose launch is over, but which never became one that runs."""
    run = parts.store.run(run_id)
    if run is not None and run.state is RunState.PREPARING:
        parts.store.end_lost_run(run_id, reason="it could not be started")


def _open(parts: Parts, run_id: int) -> Run | None:
    """Give the run as it is now, unless it is past the point where its agent's end decides anything."""
    run = parts.store.run(run_id)
    return run if run is not None and run.state in (RunState.RUNNING, RunState.ENDED) else None


def _ended(parts: Parts, run_id: int) -> Run | None:
    """Give the run, marked ended in place of a shim that could not reach the store; None when it is settled."""
    run = _open(parts, run_id)
    if run is not None and run.state is RunState.RUNNING:
        parts.store.end_run(run.id, run.owner, run.version)
        failpoint("settle.run_ended")
        run = _open(parts, run_id)
    return run


def _keep_spending(parts: Parts, run: Run) -> None:
    """Write down what the agent told of tokens and price, however it ended; the same again after a crash."""
    dialect = parts.planner.dialect(run.agent)
    if dialect is None:
        return
    spending = parts.runner.spending(parts.planner.runs_folder() / str(run.id), dialect)
    if dialect.cost_of_session:
        spending = since(spending, (one for one in parts.store.runs(run.ref) if one.id < run.id))
    if spending != Spending():
        parts.store.keep_spending(run.id, run.owner, run.version, spending)
        failpoint("settle.spending_kept")


def _finding(parts: Parts, run: Run, record: ExitRecord) -> LimitFinding:
    return read_run(
        parts.runner.tail(parts.planner.runs_folder() / str(run.id), TAIL_LINES),
        exit_code=record.status if record.signal is None else -record.signal,
        report=record.report,
        now=record.ended_at or parts.clock.now().wall,
        tz=parts.zone,
        patterns=parts.planner.patterns(run.agent),
    )


def _hand_in(parts: Parts, run: Run, verdict: Verdict) -> Settlement | None:
    """Carry the result over and queue it. Gives how the run ends when there is nothing to queue."""
    workspace, task = workspace_of(parts, run), parts.store.task(run.ref)
    if workspace is None or task is None:
        return parts.settlement(run, RunResult.ORPHANED, "its workspace is not known any more")
    try:
        outcome = parts.git.collect(workspace, run.id, _message(task))
    except Exhausted:
        raise
    except RecallError as trouble:
        return _for_person(parts, run, f"its result could not be collected: {trouble}")
    failpoint("settle.result_carried")
    match outcome:
        case Result():
            return _queue(parts, run, outcome, verdict)
        case NothingNew(reason):
            return parts.settlement(run, RunResult.NO_CHANGE, reason)
        case PersonNeeded(reason, paths):
            return _for_person(parts, run, f"{reason}: {', '.join(paths[:8])}" if paths else reason)


def _queue(parts: Parts, run: Run, result: Result, verdict: Verdict) -> Settlement | None:
    remarks = [verdict.reason, f"{result.commits} commit{'s' if result.commits != 1 else ''}"]
    if result.leftovers:
        remarks.append(f"{len(result.leftovers)} uncommitted files committed: {', '.join(result.leftovers[:5])}")
    if result.restored:
        remarks.append(f"protected files restored: {', '.join(result.restored[:5])}")
    remarks += result.notes
    parts.store.enqueue(
        run.id,
        run.owner,
        run.version,
        tip=result.tip,
        base=result.base,
        actor="dispatcher",
        reason=clean("; ".join(remarks)),
    )
    failpoint("settle.result_queued")
    return None


def _message(task: Task) -> str:
    return f"{task.title} ({task.id})"


def _settlement(parts: Parts, run: Run, verdict: Verdict, record: ExitRecord) -> Settlement:
    result, reason = verdict.result or RunResult.NO_REPORT, clean(verdict.reason)
    if result in _ABILITY and (excuse := _excuse(parts, run)):
        result, reason = RunResult.ORPHANED, f"{reason}, but {excuse}"
    settlement = parts.settlement(run, result, reason, verdict.finding)
    if record.stopped == "shutdown":
        return replace(settlement, interruption=False, task_state=TaskState.TODO, retry_at=None)
    return replace(settlement, quick_failure=_is_quick(parts, run, result, record))


def _is_quick(parts: Parts, run: Run, result: RunResult, record: ExitRecord) -> bool:
    """Tell whether a failure came so soon, and with so little, that it says more of the agent than of the task."""
    if result not in _QUICK or record.ended_at - record.started_at >= QUICK:
        return False
    workspace = workspace_of(parts, run)
    return workspace is not None and not parts.git.has_commits(workspace)


def _excuse(parts: Parts, run: Run) -> str:
    """Say what was wrong with the surroundings, so that a failure says nothing of the agent, or ""."""
    workspace = workspace_of(parts, run)
    if workspace is not None and not workspace.tree.exists():
        return "its workspace was deleted meanwhile"
    return parts.ground.shortage()


def _for_person(parts: Parts, run: Run, reason: str) -> Settlement:
    """The work is there but only a person can decide: costs neither attempt nor weight."""
    settlement = parts.settlement(run, RunResult.FAILED, clean(reason))
    return replace(
        settlement, attempt=False, weight=0.0, retry_at=None, task_state=TaskState.NEEDS_PERSON, task_reason=reason
    )
