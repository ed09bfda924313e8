"""Short ways to the values and the store that tests need. Leases made here do not run out by themselves."""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from recall.domain.clock import Clock
from recall.domain.outcome import Budget, CooldownRule, Settlement, settle
from recall.domain.run import Claim, RunResult
from recall.domain.task import TaskRef, TaskSpec, TaskState
from recall.engine.ports import Store
from recall.store import SqliteStore, open_store
from tests.support.clock import FakeClock

FOREVER = 10_000_000.0


class SeededRng:
    """The same chance in every run."""

    def __init__(self, seed: int = 1) -> None:
        self._random = random.Random(seed)

    def random(self) -> float:
        return self._random.random()

    def token(self, length: int = 8) -> str:
        return "".join(self._random.choices("0123456789abcdef", k=length))


@contextmanager
def make_store(
    folder: Path, clock: Clock | None = None, *, lock_timeout: float = 10.0, seed: int = 1
) -> Generator[SqliteStore, None, None]:
    """Open the store of `folder`, new or as it was left, and close it afterwards."""
    store = open_store(
        folder / "state" / "recall.db", clock or FakeClock(), SeededRng(seed), lock_timeout=lock_timeout
    )
    try:
        yield store
    finally:
        store.close()


def ref(id_: str, region: str = "main") -> TaskRef:
    return TaskRef(region, id_)


def spec(
    id_: str,
    *after: str,
    title: str = "",
    body: str = "",
    type_: str = "general",
    priority: int = 0,
    agents: Sequence[str] = (),
    touches: Sequence[str] = (),
    attempts: int | None = None,
    status: TaskState = TaskState.TODO,
    parent: str | None = None,
    is_group: bool = False,
) -> TaskSpec:
    """`after` names prerequisites as people type them: `ID` or `REGION:ID`."""
    return TaskSpec(
        id=id_,
        title=title or f"Task {id_}",
        body=body,
        after=tuple(TaskRef.parse(name) for name in after),
        type=type_,
        priority=priority,
        agents=tuple(agents),
        touches=tuple(touches),
        attempts=attempts,
        status=status,
        parent=parent,
        is_group=is_group,
    )


def import_specs(store: SqliteStore, *specs: TaskSpec, region: str = "main", cancel_vanished: bool = True) -> None:
    diff = store.import_tasks(region, specs, actor="test", cancel_vanished=cancel_vanished)
    assert not diff.refused, diff.refused


def claimed(store: SqliteStore, id_: str, *, agent: str = "amy", owner: str = "", ttl: float = FOREVER) -> Claim:
    """Claim as an agent that a person drives, or fail."""
    claim = store.claim(ref(id_), agent, owner or f"{agent}-{id_}", ttl, pulled=True)
    assert isinstance(claim, Claim), claim
    return claim


def started(store: Store, id_: str, *, agent: str = "amy", owner: str = "", ttl: float = FOREVER) -> Claim:
    """Claim for an agent of recall.toml, which must be known, and record its run as running."""
    claim = store.claim(ref(id_), agent, owner or f"{agent}-{id_}", ttl)
    assert isinstance(claim, Claim), claim
    refused = store.start_run(
        claim.run_id, claim.owner, claim.version, branch=f"recall/main/{id_}/{claim.number}", base="b" * 40, slot="s1"
    )
    assert refused is None, refused
    return claim


def ended(store: Store, id_: str, *, agent: str = "amy", owner: str = "") -> Claim:
    claim = started(store, id_, agent=agent, owner=owner)
    assert store.end_run(claim.run_id, claim.owner, claim.version) is None
    return claim


def failed(store: Store, id_: str, *, agent: str = "amy", quick: bool = True) -> None:
    """End a run as a failure; a `quick` one raises the suspicion that the agent itself is broken."""
    claim = ended(store, id_, agent=agent, owner=f"{agent}-{id_}-{store.last_seq()}")
    task = store.task(ref(id_))
    assert task is not None, id_
    end = settlement(RunResult.FAILED, "exit code 127", attempts=task.attempts, max_attempts=task.max_attempts or 3)
    refused = store.settle_run(
        claim.run_id, claim.owner, claim.version, replace(end, quick_failure=quick, retry_at=None), actor="dispatcher"
    )
    assert refused is None, refused


def queued(store: SqliteStore, id_: str, *, agent: str = "amy") -> tuple[Claim, int]:
    """Bring a task into the merge queue; gives its claim and the entry's id."""
    claim = ended(store, id_, agent=agent)
    merge_id = store.enqueue(
        claim.run_id, claim.owner, claim.version, tip="c" * 40, base="b" * 40, actor="dispatcher"
    )
    assert isinstance(merge_id, int), merge_id
    return claim, merge_id


def settlement(
    result: RunResult,
    reason: str = "said so",
    *,
    attempts: int = 0,
    max_attempts: int = 3,
    interruptions: int = 0,
    now: float = 1_700_000_000.0,
    failover_after: float = 0.0,
) -> Settlement:
    """What the domain makes of a result, with a back-off of 30 s."""
    budget = Budget(attempts, max_attempts, interruptions, 5, 30.0)
    return settle(
        result,
        reason,
        budget=budget,
        cooldown=CooldownRule(60.0, 1800.0, 14400.0, failover_after=failover_after),
        now=now,
    )


def landed(store: SqliteStore, id_: str, *, agent: str = "amy", commit: str = "d" * 40) -> Claim:
    """Bring a task all the way into main."""
    claim, merge_id = queued(store, id_, agent=agent)
    store.merge_verifying(merge_id, candidate=commit, onto="b" * 40)
    store.merge_intend(merge_id, old="b" * 40, new=commit)
    store.merge_landed(merge_id, commit, settlement=settlement(RunResult.LANDED))
    return claim
