"""Pull mode: what is done in the store on behalf of a claim that `recall next` made.

Every write carries the claim's own owner and version, so a claim that ran out meanwhile is refused by the store,
and recorded as refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from recall.cli.project import Project, opened_project
from recall.cli.report import ExitCode, Refusal, Stop, accept
from recall.domain.run import Refused, Run, RunResult, RunState
from recall.domain.task import TaskRef
from recall.engine.parts import settlement_for


def renew(task_id: str | None, agent: str | None, run_id: int | None) -> float:
    """Extend a claim; gives its new end in wall seconds UTC."""
    with opened_project() as project:
        run = _claimed(project, task_id, agent, run_id)
        renewed = project.store.renew(run.ref, run.owner, run.version, project.settings.lease.pull_ttl)
    if isinstance(renewed, Refused):
        accept(renewed)
        raise Stop(ExitCode.REFUSED)
    return renewed.expires_wall


def give_back(task_id: str | None, agent: str | None, run_id: int | None, reason: str) -> TaskRef:
    with opened_project() as project:
        run = _claimed(project, task_id, agent, run_id)
        accept(project.store.release(run.ref, run.owner, run.version, actor=f"agent {run.agent}", reason=reason))
    return run.ref


def settle(
    result: str,
    summary: str,
    branch: str | None,
    no_merge: bool,
    task_id: str | None,
    agent: str | None,
    run_id: int | None,
) -> str:
    """Carry a pulled run's outcome out; gives the sentence to print."""
    if result == "success" and (branch is None) == (not no_merge):
        raise Refusal(
            "say where the work is: --branch B puts that branch into the merge queue, "
            "--no-merge marks the task as done without a commit of ours"
        )
    with opened_project() as project:
        run = _claimed(project, task_id, agent, run_id)
        if result != "success":
            return _end(project, run, result, summary)
        if no_merge:
            return _finish_by_hand(project, run, summary)
    return _hand_in(run, branch or "")


def _end(project: Project, run: Run, result: str, summary: str) -> str:
    kind = RunResult.QUESTION if result == "question" else RunResult.FAILED
    reason = summary or ("a question without text" if result == "question" else "reported failure without a summary")
    now = project.clock.now().wall
    settlement = settlement_for(project.settings, project.store, now, run, kind, reason)
    accept(project.store.settle_run(run.id, run.owner, run.version, settlement, actor=f"agent {run.agent}"))
    task = project.store.task(run.ref)
    return f"recorded; {run.ref} is now {task.state if task else 'gone'}".replace("_", " ")


def _finish_by_hand(project: Project, run: Run, summary: str) -> str:
    if run.state is not RunState.PULLED:
        raise _lost(run)
    reason = summary or "done without a commit of ours"
    accept(project.store.finish_manually(run.ref, actor=f"agent {run.agent}", reason=reason))
    return f"{run.ref} is done, marked as manual: no commit of it was verified"


def _hand_in(run: Run, branch: str) -> str:
    from pathlib import Path

    from recall.bootstrap import hand_in_branch

    queued = hand_in_branch(Path.cwd(), run.ref, run.agent, branch)
    if isinstance(queued, Refused):
        accept(queued)
    return f"{branch} is in the merge queue (entry {queued}); a dispatcher verifies and lands it"


def held_claims(task_id: str | None, agent: str | None) -> list[Run]:
    """The claims held now that fit what was said."""
    with opened_project() as project:
        return [run for run in _pulled(project, task_id) if _fits(run, agent, None) and run.state is RunState.PULLED]


def _claimed(project: Project, task_id: str | None, agent: str | None, run_id: int | None) -> Run:
    """The newest claim made by `recall next` that fits what was said; it may be over, which the store then says."""
    fitting = [run for run in _pulled(project, task_id) if _fits(run, agent, run_id)]
    held = [run for run in fitting if run.state is RunState.PULLED]
    chosen = held or fitting[-1:]
    if len(chosen) == 1 and (task_id or agent or run_id is not None):
        return chosen[0]
    raise Refusal(_candidates([run for run in project.store.open_runs() if run.state is RunState.PULLED]))


def _pulled(project: Project, task_id: str | None) -> Sequence[Run]:
    ref = TaskRef.parse(task_id) if task_id else None
    return [run for run in project.store.runs(ref) if run.slot is None]


def _fits(run: Run, agent: str | None, run_id: int | None) -> bool:
    return agent in (None, run.agent) and run_id in (None, run.id)


def _lost(run: Run) -> Stop:
    came_out = run.result.value.replace("_", " ") if run.result else run.state.value
    return Stop(
        ExitCode.LEASE_LOST,
        f"{run.ref} is not {run.agent}'s any more (run {run.id}: {came_out}); stop working on it",
    )


def _candidates(runs: Sequence[Run]) -> str:
    if not runs:
        return (
            "no claim fits: inside a workspace go into its folder or give --slot; "
            "to work on a task yourself, claim one with `recall next --agent NAME`"
        )
    rows = "\n".join(f"  --task {run.ref} --agent {run.agent}   (run {run.id})" for run in runs)
    return f"which claim is meant? Held now:\n{rows}"
