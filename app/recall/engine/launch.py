"""From a won claim to a running agent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from recall.domain.errors import Exhausted, RecallError, StoreBusy
from recall.domain.run import Claim, Refused, RunResult, RunState
from recall.domain.task import TaskState
from recall.domain.text import clean
from recall.domain.work import Workspace
from recall.engine.commands import run_command
from recall.engine.parts import Parts
from recall.engine.releases import Releases
from recall.failpoint import failpoint


def launch(parts: Parts, releases: Releases, claim: Claim, *, give_up: Callable[[], bool]) -> None:
    """Make the workspace, record the run as running, start its shim: in this order, so that a report in the
    run's first millisecond finds the run. What fails on the way is settled as an interruption."""
    releases.wait_for_closing()
    try:
        workspace = parts.git.open_workspace(claim.ref, claim.number, claim.run_id)
    except (RecallError, OSError) as trouble:
        _settle(parts, claim, f"its workspace could not be made: {trouble}", later=isinstance(trouble, Exhausted))
        return
    failpoint("launch.workspace_made")
    later = False
    try:
        wrong = _set_up(parts, claim, workspace, give_up) or _start(parts, claim, workspace)
    except (RecallError, OSError) as trouble:
        wrong, later = f"could not be started: {trouble}", isinstance(trouble, Exhausted)
    if wrong:
        try:
            _settle(parts, claim, wrong, interruption=not give_up(), later=later)
        finally:
            releases.close(workspace, claim.ref, claim.run_id)


def _set_up(parts: Parts, claim: Claim, workspace: Workspace, give_up: Callable[[], bool]) -> str:
    """Run the set-up command in a fresh workspace, keeping the claim's lease. Gives what went wrong, or ""."""
    command = parts.settings.setup
    if not command:
        return ""
    spec = parts.planner.command_run(f"setup-{claim.run_id}", command, workspace.tree, parts.settings.verify_timeout)
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


def _start(parts: Parts, claim: Claim, workspace: Workspace) -> str:
    """Start the agent. Gives what went wrong, or ""."""
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
    parts.runner.start(parts.planner.agent_run(task, run, workspace, earlier))
    failpoint("launch.agent_started")
    return ""


def _settle(parts: Parts, claim: Claim, reason: str, *, interruption: bool = True, later: bool = False) -> None:
    """Give the task back, unless the store took it back already. A stop of the dispatcher counts as nothing.
    `later`: the machine ran out of something, which an attempt right away would only meet again."""
    run = parts.store.run(claim.run_id)
    if run is None or run.state is RunState.SETTLED:
        return
    settlement = parts.settlement(run, RunResult.ORPHANED, clean(reason))
    if not interruption:
        settlement = replace(settlement, interruption=False, task_state=TaskState.TODO)
    elif later and settlement.task_state is TaskState.TODO:
        task = parts.store.task(claim.ref)
        pause = parts.settings.run.backoff * 2 ** (task.interruptions if task is not None else 0)
        settlement = replace(settlement, retry_at=parts.clock.now().wall + pause)
    parts.store.settle_run(claim.run_id, claim.owner, claim.version, settlement, actor="dispatcher")
