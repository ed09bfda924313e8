"""From a won claim to a running agent."""

from __future__ import annotations

from collections.abc import Callable

from recall.domain.errors import RecallError
from recall.domain.run import Claim, Refused, Run, RunResult
from recall.domain.work import Workspace
from recall.engine.commands import run_command
from recall.engine.parts import Parts
from recall.failpoint import failpoint


def launch(parts: Parts, claim: Claim, *, give_up: Callable[[], bool]) -> None:
    """Make the workspace, record the run as running, start its shim: in this order, so that a report in the
    run's first millisecond finds the run. What fails on the way is settled as an interruption."""
    try:
        _launch(parts, claim, give_up)
    except RecallError as trouble:
        _settle(parts, claim, RunResult.ORPHANED, f"could not be started: {trouble}")


def _launch(parts: Parts, claim: Claim, give_up: Callable[[], bool]) -> None:
    workspace = parts.git.open_workspace(claim.ref, claim.number, claim.run_id)
    failpoint("launch.workspace_made")
    trouble = _set_up(parts, claim, workspace, give_up)
    if trouble:
        _settle(parts, claim, RunResult.ORPHANED, f"set-up command failed: {trouble}")
        _close(parts, workspace, claim.run_id)
        return
    refused = parts.store.start_run(
        claim.run_id,
        claim.owner,
        claim.version,
        branch=workspace.branch,
        base=workspace.base,
        slot=workspace.slot,
    )
    if refused is not None:
        _close(parts, workspace, claim.run_id)
        return
    failpoint("launch.run_recorded")
    run, task = parts.store.run(claim.run_id), parts.store.task(claim.ref)
    if run is None or task is None:
        raise RecallError(f"run {claim.run_id} of {claim.ref} is not in the store any more; see `recall log`")
    earlier = [one for one in parts.store.runs(claim.ref) if one.id != run.id]
    parts.runner.start(parts.planner.agent_run(task, run, workspace, earlier))
    failpoint("launch.agent_started")


def _set_up(parts: Parts, claim: Claim, workspace: Workspace, give_up: Callable[[], bool]) -> str:
    """Run the set-up command in a fresh workspace, keeping the claim's lease. Gives what went wrong, or ""."""
    command = parts.settings.setup
    if not command:
        return ""
    spec = parts.planner.command_run(f"setup-{claim.run_id}", command, workspace.tree, parts.settings.verify_timeout)
    last = parts.clock.now().mono

    def keep_lease() -> None:
        nonlocal last
        now = parts.clock.now().mono
        if now - last >= parts.settings.lease.heartbeat:
            last = now
            parts.store.renew(claim.ref, claim.owner, claim.version, parts.settings.lease.ttl)

    ended = run_command(parts.runner, spec, give_up=give_up, each_wait=keep_lease)
    return "" if ended.green else f"{ended.reason}\n{ended.tail}"


def _settle(parts: Parts, claim: Claim, result: RunResult, reason: str) -> Refused | None:
    run = parts.store.run(claim.run_id)
    if run is None:
        return None
    settlement = parts.settlement(run, result, reason)
    return parts.store.settle_run(claim.run_id, claim.owner, claim.version, settlement, actor="dispatcher")


def _close(parts: Parts, workspace: Workspace, run_id: int) -> None:
    said = parts.git.close_workspace(workspace, run_id, landed=False)
    parts.store.note("workspace.closed", actor="dispatcher", reason=said, run_id=run_id)


def workspace_of(parts: Parts, run: Run) -> Workspace | None:
    """Give the workspace that a run has, or None before it got one and in pull mode."""
    if run.slot is None or run.branch is None or run.base is None:
        return None
    return parts.git.workspace_at(run.slot, branch=run.branch, base=run.base)
