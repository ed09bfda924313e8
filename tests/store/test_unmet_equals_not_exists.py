"""Whatever happens in whatever order, the store stays consistent: its counters are what a count would give."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from recall.domain.agent import AgentSpec
from recall.domain.run import Claim, Run, RunResult, RunState
from recall.domain.task import TaskRef, TaskSpec, TaskState
from recall.domain.work import Conflict
from recall.store import open_store
from tests.support.builders import SeededRng, ref, settlement, spec
from tests.support.clock import FakeClock

IDS = [f"T-{number}" for number in range(6)]
GROUP = "G-9"
ENDINGS = [RunResult.FAILED, RunResult.RATE_LIMITED, RunResult.CANCELLED, RunResult.QUESTION, RunResult.NO_CHANGE]


@st.composite
def lists(draw: st.DrawFn) -> list[TaskSpec]:
    """Lists without cycles: a task waits for earlier ones only. The last two may be sub-tasks of a group."""
    specs = list[TaskSpec]()
    ids = draw(st.lists(st.sampled_from(IDS), unique=True, min_size=2).map(sorted))
    grouped = set(draw(st.lists(st.sampled_from(ids), max_size=2, unique=True)))
    for number, id_ in enumerate(ids):
        after = draw(st.lists(st.sampled_from(ids[:number]), unique=True)) if number else []
        status = draw(st.sampled_from([TaskState.TODO, TaskState.TODO, TaskState.ON_HOLD, TaskState.DONE]))
        specs.append(spec(id_, *after, status=status, parent=GROUP if id_ in grouped else None))
    if grouped:
        specs.append(spec(GROUP, is_group=True))
    return specs


class StoreMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="store-"))
        self.clock = FakeClock()
        self.store = open_store(self.folder / "recall.db", self.clock, SeededRng())
        self.versions = dict[TaskRef, int]()
        self.claims = 0

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder)

    @initialize(specs=lists())
    def first_import(self, specs: list[TaskSpec]) -> None:
        self.store.sync_agents([AgentSpec("amy")])
        self.store.import_tasks("main", specs, actor="test", cancel_vanished=True)

    @rule(specs=lists(), cancel=st.booleans())
    def imports(self, specs: list[TaskSpec], cancel: bool) -> None:
        self.store.import_tasks("main", specs, actor="test", cancel_vanished=cancel)

    @rule()
    def claims_next(self) -> None:
        self.claims += 1
        self.store.claim_next("amy", f"amy-{self.claims}", 10.0, pulled=False)

    @rule(id_=st.sampled_from(IDS), pulled=st.booleans())
    def claims_this(self, id_: str, pulled: bool) -> None:
        self.claims += 1
        before = self.store.task(ref(id_))
        claim = self.store.claim(ref(id_), "amy", f"amy-{self.claims}", 10.0, pulled=pulled)
        if isinstance(claim, Claim):
            assert before is not None
            assert claim.version == before.lease_version + 1

    @rule(seconds=st.sampled_from([1.0, 9.0, 10.0, 3600.0]))
    def time_passes(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @rule()
    def machine_reboots(self) -> None:
        self.clock.reboot(f"boot-{self.clock.readings}")

    def _runs(self, *states: RunState) -> list[Run]:
        return [run for run in self.store.open_runs() if run.state in states]

    @precondition(lambda self: self._runs(RunState.PREPARING))
    @rule()
    def starts(self) -> None:
        run = self._runs(RunState.PREPARING)[0]
        self.store.start_run(run.id, run.owner, run.version, branch="x", base="b", slot="s")

    @precondition(lambda self: self._runs(RunState.RUNNING))
    @rule()
    def ends(self) -> None:
        run = self._runs(RunState.RUNNING)[0]
        self.store.end_run(run.id, run.owner, run.version)

    @precondition(lambda self: self._runs(RunState.ENDED, RunState.PULLED))
    @rule()
    def hands_in(self) -> None:
        run = self._runs(RunState.ENDED, RunState.PULLED)[0]
        self.store.enqueue(run.id, run.owner, run.version, tip="c", base="b", actor="dispatcher")

    @precondition(lambda self: self.store.open_runs())
    @rule(result=st.sampled_from(ENDINGS), data=st.data())
    def settles(self, result: RunResult, data: st.DataObject) -> None:
        run = data.draw(st.sampled_from(self.store.open_runs()))
        self.store.settle_run(run.id, run.owner, run.version, settlement(result), actor="dispatcher")

    @precondition(lambda self: self.store.open_runs())
    @rule(data=st.data())
    def loses(self, data: st.DataObject) -> None:
        self.store.end_lost_run(data.draw(st.sampled_from(self.store.open_runs())).id, reason="lost")

    @precondition(lambda self: self.store.merges())
    @rule(ending=st.sampled_from(["landed", "conflict", "kept", "rejected", "again"]))
    def queue_moves(self, ending: str) -> None:
        entry = self.store.merges()[0]
        met = Conflict(("a.py",), "1", "2", "3", "4")
        waits = entry.state == "conflict"
        if ending == "landed" and not waits:
            self.store.merge_landed(entry.id, "d", settlement=settlement(RunResult.LANDED))
        elif ending == "conflict" and not waits:
            self.store.merge_conflict(entry.id, met, settlement=settlement(RunResult.CONFLICT))
        elif ending == "kept" and not waits:
            self.store.merge_conflict(entry.id, met, settlement=None)
        elif ending == "rejected":
            self.store.merge_rejected(entry.id, "red", settlement=settlement(RunResult.VERIFY_FAILED))
        elif ending == "again" and waits:
            self.store.merge_requeue(entry.id, "resolved")

    @rule(id_=st.sampled_from([*IDS, GROUP]), wish=st.sampled_from(["requeue", "hold", "unhold", "cancel", "finish"]))
    def person_steps_in(self, id_: str, wish: str) -> None:
        match wish:
            case "requeue":
                self.store.requeue(ref(id_), actor="person")
            case "hold":
                self.store.hold(ref(id_), actor="person")
            case "unhold":
                self.store.unhold(ref(id_), actor="person")
            case "cancel":
                self.store.cancel(ref(id_), actor="person")
            case _:
                self.store.finish_manually(ref(id_), actor="person", reason="by hand")

    @invariant()
    def nothing_is_inconsistent(self) -> None:
        assert self.store.check() == []

    @invariant()
    def versions_never_fall_and_rows_stay(self) -> None:
        versions = {task.ref: task.lease_version for task in self.store.tasks()}
        assert all(versions[ref] >= version for ref, version in self.versions.items())
        self.versions = versions

    @invariant()
    def what_runs_was_claimable(self) -> None:
        for task in self.store.tasks():
            if task.is_group:
                assert task.state in {TaskState.TODO, TaskState.DONE, TaskState.CANCELLED, TaskState.ON_HOLD}


StoreMachine.TestCase.settings = settings(
    max_examples=12,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    database=None,
)
TestStoreMachine = StoreMachine.TestCase
