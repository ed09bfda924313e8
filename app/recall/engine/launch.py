"""From a won claim to a running agent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from recall.domain.errors import RecallError, StoreBusy
from recall.domain.frozen import frozen
from recall.domain.handover import handed_over
from recall.domain.outcome import GOES_ON
from recall.domain.run import Claim, Refused, Run, RunResult, RunState
from recall.domain.task import TaskState
from recall.domain.text import clean
from recall.domain.work import Workspace
from recall.engine.commands import run_command
from recall.engine.parts import Parts
from recall.engine.releases import Releases, workspace_of
from recall.failpoint import failpoint


def launch(parts: Parts, releases: Releases, claim: Claim, *, give_up: Callable[[], bool]) -> None:
    """Make the workspace, record the run as running, start its shim: in this order, so that a report in the
    run's first millisecond finds the run. What fails on the way is settled as an interruption, and
    the task held back for a while."""
    try:
        place = _place(parts, releases, claim)
    except (RecallError, OSError) as trouble:
        _settle(parts, claim, f"its workspace could not be made: {trouble}")
        return
    failpoint("launch.workspace_made")
    try:
        wrong = _set_up(parts, claim, place, give_up) or _start(parts, claim, place)
    except (RecallError, OSError) as trouble:
        wrong = f"could not be started: {trouble}"
    if wrong:
        try:
            _settle(parts, claim, wrong, interruption=not give_up())
        finally:
            if not _still_kept(parts, place):
                releases.close(place.workspace, claim.ref, claim.run_id)


@frozen
class _Place:
    """Where a run works: in a fresh workspace, or in that of the run that it `continues`."""

    workspace: Workspace
    continues: Run | None = None


def _place(parts: Parts, releases: Releases, claim: Claim) -> _Place:
    """Go on in the workspace that waits for this agent, else park what waits there for another one and start
    afresh."""
    kept = next((run for run in parts.store.kept_runs() if run.ref == claim.ref), None)
    waiting = workspace_of(parts, kept) if kept is not None else None
    if kept is not None and waiting is not None:
        refusal = parts.git.reopen_workspace(waiting, claim.run_id) if kept.agent == claim.agent else ""
        if kept.agent == claim.agent and not refusal:
            failpoint("launch.workspace_reopened")
            return _Place(waiting, kept)
        if refusal:
            reason = f"cannot go on where run {kept.id} stopped, so it starts afresh: {refusal}"
            parts.store.note(
                "run.afresh", actor="dispatcher", reason=clean(reason), ref=claim.ref, run_id=claim.run_id
            )
        releases.close(waiting, claim.ref, kept.id)
        failpoint("launch.kept_work_parked")
    for run in parts.store.runs(claim.ref)[-2:]:
        if run.result in GOES_ON:
            releases.release(run.id)  # given up a moment ago: its work is parked before somebody is told of it
    releases.wait_for_closing()
    return _Place(parts.git.open_workspace(claim.ref, claim.number, claim.run_id))


def _still_kept(parts: Parts, place: _Place) -> bool:
    """Tell whether the run never got as far as taking the kept workspace over: it waits on."""
    before = place.continues
    return before is not None and any(run.id == before.id for run in parts.store.kept_runs())


def _set_up(parts: Parts, claim: Claim, place: _Place, give_up: Callable[[], bool]) -> str:
    """Run the set-up command in a fresh workspace, keeping the claim's lease. Gives what went wrong, or ""."""
    command = parts.settings.setup
    if not command or place.continues is not None:
        return ""
    spec = parts.planner.command_run(
        f"setup-{claim.run_id}", command, place.workspace.tree, parts.settings.verify_timeout
    )
    lease = _Lease(parts, claim)
    ended = run_command(parts.runner, spec, give_up=lambda: give_up() or not lease.kept())
    return "" if ended.green else f"set-up command failed: {ended.reason}\n{ended.tail}"


class _Lease:
    """A claim's lease while no shim renews it yet."""

    def __init__(self, parts: Parts, claim: Claim) -> None:
        self._parts = parts
        self._claim = claim
        self._renewed = parts.clock.now().mono

    def kept(self) -> bool:
        """Renew it when it is time to. False: it is lost; a store that is kept busy loses nothing."""
        now, lease, claim = self._parts.clock.now().mono, self._parts.settings.lease, self._claim
        if now - self._renewed < lease.heartbeat:
            return True
        try:
            renewed = self._parts.store.renew(claim.ref, claim.owner, claim.version, lease.ttl)
        except StoreBusy:
            return True
        self._renewed = now
        return not isinstance(renewed, Refused)


def _start(parts: Parts, claim: Claim, place: _Place) -> str:
    """Start the agent. Gives what went wrong, or ""."""
    workspace = place.workspace
    refused = parts.store.start_run(
        claim.run_id,
        claim.owner,
        claim.version,
        branch=workspace.branch,
        base=workspace.base,
        slot=workspace.slot,
    )
    if refused is not None:
        return refused.reason
    failpoint("launch.run_recorded")
    run, task = parts.store.run(claim.run_id), parts.store.task(claim.ref)
    if run is None or task is None:
        return f"run {claim.run_id} of {claim.ref} is not in the store any more; see `recall log`"
    earlier = [one for one in parts.store.runs(claim.ref) if one.id != run.id]
    handover = handed_over(earlier, parts.git.parked_diff) if place.continues is None else None
    parts.runner.start(parts.planner.agent_run(task, run, workspace, earlier, handover))
    failpoint("launch.agent_started")
    return ""


def _settle(parts: Parts, claim: Claim, reason: str, *, interruption: bool = True) -> None:
    """Give the task back, unless the store took it back already: for later, since what kept this run from beginning
    would only be met again right away. A stop of the dispatcher counts as nothing."""
    run = parts.store.run(claim.run_id)
    if run is None or run.state is RunState.SETTLED:
        return
    settlement = parts.settlement(run, RunResult.ORPHANED, clean(reason))
    if not interruption:
        settlement = replace(settlement, interruption=False, task_state=TaskState.TODO)
    elif settlement.task_state is TaskState.TODO:
        task = parts.store.task(claim.ref)
        pause = parts.settings.run.backoff * 2 ** (task.interruptions if task is not None else 0)
        settlement = replace(settlement, retry_at=parts.clock.now().wall + pause)
    parts.store.settle_run(claim.run_id, claim.owner, claim.version, settlement, actor="dispatcher")
