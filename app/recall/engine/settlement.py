"""From an agent that has ended to a result in the merge queue, or to what its failure means."""

from __future__ import annotations

from dataclasses import replace

from recall.domain.errors import RecallError
from recall.domain.limits import read_limits
from recall.domain.outcome import Settlement, Verdict, classify
from recall.domain.run import ExitRecord, Refused, Run, RunResult, RunState
from recall.domain.task import Task, TaskState
from recall.domain.text import clean
from recall.domain.usage import LimitFinding
from recall.domain.work import NothingNew, PersonNeeded, Result, Workspace
from recall.engine.launch import workspace_of
from recall.engine.parts import Parts
from recall.failpoint import failpoint

_TAIL_LINES = 60


def settle_ended_run(parts: Parts, run: Run, record: ExitRecord) -> None:
    """Judge a run whose agent and processes are gone, and act on it. Repeatable after a crash at any point:
    collecting gives the same commits again, and the store takes each run's end once."""
    if run.state is RunState.RUNNING:
        refused = parts.store.end_run(run.id, run.owner, run.version)
        if refused is not None:
            release_workspace(parts, run)
            return
        failpoint("settle.run_ended")
    verdict = classify(record, _finding(parts, run, record))
    try:
        accepted = verdict.accepted and _hand_in(parts, run, verdict)
    except RecallError as trouble:
        _end(parts, run, _for_person(parts, run, f"its result could not be collected: {trouble}"))
        return
    if not accepted and not verdict.accepted:
        _end(parts, run, _settlement(parts, run, verdict, record))


def _finding(parts: Parts, run: Run, record: ExitRecord) -> LimitFinding:
    reported = record.report is not None and record.report.result == "success"
    if reported:
        return LimitFinding()
    return read_limits(
        parts.runner.tail(parts.planner.runs_folder() / str(run.id), _TAIL_LINES),
        exit_code=record.status if record.signal is None else -record.signal,
        reported=record.report is not None,
        now=record.ended_at or parts.clock.now().wall,
        tz=parts.zone,
        patterns=parts.planner.patterns(run.agent),
    )


def _hand_in(parts: Parts, run: Run, verdict: Verdict) -> bool:
    """Carry the result over and queue it. False: there was nothing to queue, and the run is settled."""
    workspace, task = workspace_of(parts, run), parts.store.task(run.ref)
    if workspace is None or task is None:
        _end(parts, run, parts.settlement(run, RunResult.ORPHANED, "its workspace is not known any more"))
        return False
    outcome = parts.git.collect(workspace, run.id, _message(task))
    failpoint("settle.result_carried")
    match outcome:
        case Result():
            _queue(parts, run, outcome, verdict)
            return True
        case NothingNew(reason):
            _end(parts, run, parts.settlement(run, RunResult.NO_CHANGE, reason))
        case PersonNeeded(reason, paths):
            named = f"{reason}: {', '.join(paths[:8])}" if paths else reason
            _end(parts, run, _for_person(parts, run, named))
    return False


def _queue(parts: Parts, run: Run, result: Result, verdict: Verdict) -> None:
    remarks = [verdict.reason, f"{result.commits} commit{'s' if result.commits != 1 else ''}"]
    if result.leftovers:
        remarks.append(f"{len(result.leftovers)} uncommitted files committed: {', '.join(result.leftovers[:5])}")
    if result.restored:
        remarks.append(f"protected files restored: {', '.join(result.restored[:5])}")
    remarks += result.notes
    queued = parts.store.enqueue(
        run.id,
        run.owner,
        run.version,
        tip=result.tip,
        base=result.base,
        actor="dispatcher",
        reason=clean("; ".join(remarks)),
    )
    failpoint("settle.result_queued")
    if isinstance(queued, Refused):
        release_workspace(parts, run)


def _message(task: Task) -> str:
    return f"{task.title} ({task.id})"


def _settlement(parts: Parts, run: Run, verdict: Verdict, record: ExitRecord) -> Settlement:
    result = verdict.result or RunResult.NO_REPORT
    settlement = parts.settlement(run, result, clean(verdict.reason), verdict.finding)
    if record.stopped == "shutdown":
        return replace(settlement, interruption=False, task_state=TaskState.TODO, retry_at=None)
    return settlement


def _for_person(parts: Parts, run: Run, reason: str) -> Settlement:
    """The work is there but only a person can decide: costs neither attempt nor weight."""
    settlement = parts.settlement(run, RunResult.FAILED, clean(reason))
    return replace(
        settlement, attempt=False, weight=0.0, retry_at=None, task_state=TaskState.NEEDS_PERSON, task_reason=reason
    )


def _end(parts: Parts, run: Run, settlement: Settlement) -> None:
    parts.store.settle_run(run.id, run.owner, run.version, settlement, actor="dispatcher")
    failpoint("settle.run_settled")
    release_workspace(parts, run)


def release_workspace(parts: Parts, run: Run, *, landed: bool = False) -> None:
    """Give a run's folder back to the pool, or park what is in it. Called when nothing of the run lives."""
    workspace: Workspace | None = workspace_of(parts, run)
    if workspace is None:
        return
    try:
        said = parts.git.close_workspace(workspace, run.id, landed=landed)
    except RecallError as trouble:
        said = f"{workspace.folder} is left as it is: {trouble}"
    parts.store.note("workspace.closed", actor="dispatcher", reason=clean(said), ref=run.ref, run_id=run.id)
