"""The concrete parts that one engine works with, handed in by `bootstrap`."""

from __future__ import annotations

from dataclasses import field

from recall.config.settings import Settings
from recall.domain.clock import Clock
from recall.domain.frozen import frozen
from recall.domain.outcome import Budget, CooldownRule, Settlement, settle
from recall.domain.rng import Rng
from recall.domain.run import Run, RunResult
from recall.domain.task import Task
from recall.domain.usage import LimitFinding
from recall.engine.ground import Ground
from recall.engine.ports import Git, Planner, Runner, Store, TaskFiles


@frozen
class Parts:
    """`zone` names the machine's time zone, for reset times that agents print without one.
    `restart_conflicts`: nobody is there to resolve a conflict, so its task starts over from main.
    `ground` is what all of it stands on."""

    settings: Settings
    store: Store
    git: Git
    runner: Runner
    planner: Planner
    files: TaskFiles
    clock: Clock
    rng: Rng
    zone: str = "UTC"
    restart_conflicts: bool = True
    ground: Ground = field(default_factory=Ground)

    def settlement(self, run: Run, result: RunResult, reason: str, finding: LimitFinding | None = None) -> Settlement:
        """Say what a result changes, from the task's budget and the agent's record as they are now."""
        now, jitter = self.clock.now().wall, self.rng.random()
        return settlement_for(self.settings, self.store, now, run, result, reason, finding, jitter=jitter)


def settlement_for(
    settings: Settings,
    store: Store,
    now: float,
    run: Run,
    result: RunResult,
    reason: str,
    finding: LimitFinding | None = None,
    *,
    jitter: float = 0.0,
) -> Settlement:
    """Say what a result changes at `now` (wall seconds UTC); `jitter` is chance, from 0 to 1."""
    agent = next((one for one in store.agents() if one.name == run.agent), None)
    limits = settings.limits
    in_a_row = agent.limits_in_a_row if agent is not None else 0
    return settle(
        result,
        reason,
        budget=_budget(settings, store.task(run.ref), jitter),
        cooldown=CooldownRule(
            limits.margin,
            limits.default,
            limits.cap,
            in_a_row,
            failover_after=limits.failover_after,
            goes_on=listed.resume if (listed := settings.agent(run.agent)) is not None else True,
        ),
        now=now,
        finding=finding or LimitFinding(),
    )


def _budget(settings: Settings, task: Task | None, jitter: float) -> Budget:
    return Budget(
        attempts=task.attempts if task else 0,
        max_attempts=(task.max_attempts if task else None) or settings.run.attempts,
        interruptions=task.interruptions if task else 0,
        max_interruptions=settings.run.max_interruptions,
        backoff=settings.run.backoff,
        jitter=jitter,
    )
