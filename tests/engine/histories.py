"""Random histories of a whole project: the real engine and the real store in a world that is kept in memory.

A history is a sequence of rules: agents finish, shims die, the machine sleeps, a person steps in, the dispatcher is
killed between any two durable effects, somebody else commits. After each rule everything that must always hold is
looked at, on the store's rows, on main and on the processes.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unittest.mock import patch

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from recall.domain.conflict import Side
from recall.domain.errors import RecallError
from recall.domain.merge import MergeState, Shift
from recall.domain.outcome import Settlement
from recall.domain.run import Claim, Refused, Report, Run, RunResult, RunState
from recall.domain.task import DoneBy, TaskRef, TaskState
from recall.engine import interventions
from recall.engine.dispatcher import Dispatcher, Listener
from recall.engine.parts import Parts
from recall.engine.resolve import Resolver
from recall.engine.watch import Watch
from recall.store import open_store
from recall.store.runs import LEASED
from tests.engine.world import (
    AGENTS,
    ATTEMPTS,
    INTERRUPTIONS,
    TTL,
    Fate,
    History,
    InlineExecutor,
    Killed,
    ListFile,
    Plans,
    Process,
    Processes,
    Shim,
    Strikes,
    modules_with_failpoints,
    world_settings,
)
from tests.support.builders import SeededRng
from tests.support.clock import FakeClock

IDS = [f"T-{number}" for number in range(5)]
DISTURBANCES = ["stall", "sleep", "reboot", "kill", "checkout", "check", "main moves"]
STEERING = ["pause", "resume", "cool", "lift", "pause all", "resume all"]
#: The world's disk is memory, where there is such a thing: what is tested is order, not durability.
_FAST_DISK = "/dev/shm" if Path("/dev/shm").is_dir() else None
_ACTIVE = frozenset({TaskState.TODO, TaskState.IN_PROGRESS, TaskState.LANDING})
_LIMIT_LINE = "Error: usage limit reached, try again in 20 minutes"

fates = st.builds(
    Fate,
    st.sampled_from(["success"] * 9 + ["failure", "silent", "question", "limit", "timeout", "empty", "gitlink"]),
    conflicts=st.sampled_from([False] * 4 + [True]),
    red=st.sampled_from([False] * 4 + [True]),
    unseen=st.sampled_from([0, 0, 0, 3]),
)
#: What goes on after something happened: each round one agent ends, and one result may land.
rounds = st.lists(fates, max_size=2)
tasks = st.sampled_from(IDS).map(lambda id_: TaskRef("main", id_))
agents = st.sampled_from(AGENTS)


@st.composite
def lists(draw: st.DrawFn) -> str:
    """A task list without cycles: a task waits for earlier ones only."""
    ids = draw(st.lists(st.sampled_from(IDS), unique=True, min_size=2).map(sorted))
    blocks = list[str]()
    for number, id_ in enumerate(ids):
        after = draw(st.lists(st.sampled_from(ids[:number]), unique=True, max_size=2)) if number else []
        lines = [f"## {id_} Task {id_}", ""]
        lines += [f"- after: {', '.join(after)}"] if after else []
        lines += ["- touches: src/a.py"] if draw(st.booleans()) else []
        blocks.append("\n".join(lines))
    return "# Tasks\n\n" + "\n\n".join(blocks) + "\n"


@cache
def _empty_store() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="recall-template-", dir=_FAST_DISK))
    open_store(folder / "recall.db", FakeClock(), SeededRng()).close()
    return folder


@dataclass
class _Seen:
    """What was true after the rule before."""

    seq: int
    versions: dict[TaskRef, int]
    runs: dict[int, Run]
    main: list[str]


class Histories(RuleBasedStateMachine):
    """One dispatcher at a time, two agents of recall.toml, and zoe, whom a person drives."""

    #: How often the invariants were looked at since the process began.
    steps = 0

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.folder = Path(tempfile.mkdtemp(prefix="recall-", dir=_FAST_DISK))
        self.stack.callback(shutil.rmtree, self.folder)
        shutil.copy(_empty_store() / "recall.db", self.folder / "recall.db")
        self.clock, self.rng = FakeClock(), SeededRng()
        self.store = open_store(self.folder / "recall.db", self.clock, self.rng)
        self.stack.callback(self.store.close)
        self.fates = dict[int, Fate]()
        self.processes = Processes(self.clock, self._check)
        self.stack.callback(self.processes.close)
        self.git = History(self.fates, self.processes, self.folder / "ws")
        self.shim = Shim(self.store.shim_contract(), self.clock)
        self.file = ListFile("# Tasks\n")
        self.strikes = Strikes()
        for name in ("claim", "claim_next"):
            self.stack.enter_context(patch.object(self.store, name, self._watched(getattr(self.store, name))))
        for name in modules_with_failpoints():
            self.stack.enter_context(patch(f"{name}.failpoint", self.strikes))
        self.dispatcher: Dispatcher | None = None
        self.executor, self.watch = InlineExecutor(), Watch()
        self.stack.callback(lambda: self.watch.close())
        self.check_is_broken = False
        self.meanwhile: Callable[[], object] | None = None
        self.restart_conflicts = True
        self.trouble = list[str]()
        self.number = 0
        self.excused = set[TaskRef]()
        self.reopened = Counter[str]()
        self.seen = _Seen(0, {}, {}, ["root"])

    def teardown(self) -> None:
        self.stack.close()

    @initialize(text=lists(), restart_conflicts=st.booleans())
    def begins(self, text: str, restart_conflicts: bool) -> None:
        self.restart_conflicts = restart_conflicts
        self.file.edit(text)
        self.dispatcher_starts()

    # -- the dispatcher ----------------------------------------------------------------------------------------

    @precondition(lambda self: self.dispatcher is None)
    @rule()
    def dispatcher_starts(self) -> None:
        self.executor, self.watch = InlineExecutor(), Watch()
        parts = Parts(
            settings=world_settings(self.folder),
            store=self.store,
            git=self.git,
            runner=self.processes,
            planner=Plans(self.folder, self.store.shim_contract()),
            files=self.file,
            clock=self.clock,
            rng=self.rng,
            restart_conflicts=self.restart_conflicts,
        )
        self.dispatcher = Dispatcher(parts, self.executor, self.watch, Listener(trouble=self.trouble.append))
        self._dispatch(self.dispatcher.start)

    def _dispatcher_dies(self) -> None:
        self.watch.close()
        self.watch = Watch()
        self.dispatcher = None

    @rule(after=st.integers(1, 12))
    def dispatcher_will_die(self, after: int) -> None:
        self.strikes.countdown = after

    @precondition(lambda self: self.dispatcher is not None)
    @rule(eager=st.booleans())
    def loop_ticks(self, eager: bool) -> None:
        self._tick(eager=eager)

    @precondition(lambda self: self.dispatcher is not None and self.executor.waiting)
    @rule(data=st.data())
    def job_is_done(self, data: st.DataObject) -> None:
        which = data.draw(st.integers(0, len(self.executor.waiting) - 1))
        self._dispatch(lambda: self.executor.work(which))

    @precondition(lambda self: self.dispatcher is not None)
    @rule()
    def landing_thread_goes_on(self) -> None:
        self._land()

    def _tick(self, *, eager: bool) -> None:
        if self.dispatcher is not None:
            self.executor.eager = eager
            self.watch.wait(0)
            self._dispatch(self.dispatcher.step)

    def _land(self) -> None:
        if self.dispatcher is not None:
            self._dispatch(self.dispatcher.queue.step)

    def _dispatch(self, act: Callable[[], object]) -> None:
        """Do what the dispatcher's process does; trouble is told and survived, as in its loops."""
        self.strikes.inside = True
        try:
            act()
        except Killed:
            self._dispatcher_dies()
        except RecallError as trouble:
            self.trouble.append(str(trouble))
        finally:
            self.strikes.inside = False

    @rule(rounds=st.lists(fates, min_size=1, max_size=6))
    def work_goes_on(self, rounds: list[Fate]) -> None:
        """What happens most of the time: tasks are started, agents end, results land."""
        for fate in rounds:
            if self.dispatcher is None:
                self.dispatcher_starts()
            self._tick(eager=True)
            for process in self.processes.agents()[:1]:
                self._end(process, fate, store_is_told=True)
            self._heartbeats(fate.unseen)
            self._tick(eager=True)
            self._land()

    # -- agents and their shims --------------------------------------------------------------------------------

    def _live(self, data: st.DataObject) -> Process:
        return data.draw(st.sampled_from(self.processes.agents()))

    @precondition(lambda self: self.processes.agents())
    @rule(data=st.data(), fate=fates, store_is_told=st.booleans())
    def agent_ends(self, data: st.DataObject, fate: Fate, store_is_told: bool) -> None:
        self._end(self._live(data), fate, store_is_told=store_is_told)

    @precondition(lambda self: self.processes.agents())
    @rule(data=st.data())
    def shim_is_killed(self, data: st.DataObject) -> None:
        self.kill_shim(self._live(data))

    def kill_shim(self, process: Process) -> None:
        process.end(None)
        process.strays = True

    @precondition(lambda self: any(process.asked_to_stop for process in self.processes.agents()))
    @rule(store_is_told=st.booleans())
    def shims_obey(self, store_is_told: bool) -> None:
        for process in self.processes.agents():
            if process.asked_to_stop:
                self._stop(process, process.asked_to_stop, store_is_told=store_is_told)

    def _heartbeats(self, beats: int) -> None:
        for _ in range(beats):
            self.clock.advance(TTL / 2)
            for process in self.processes.agents():
                if not self.shim.renew(process):
                    self._stop(process, "lease_lost", store_is_told=False)

    def _stop(self, process: Process, reason: str, *, store_is_told: bool) -> None:
        if store_is_told:
            self.shim.end(process)
        self.fates.setdefault(process.spec.run_id, Fate("silent"))
        process.end(self.processes.exit(143, stopped=reason))

    def _end(self, process: Process, fate: Fate, *, store_is_told: bool) -> None:
        self.fates[process.spec.run_id] = fate
        if store_is_told:
            self.shim.end(process)
        match fate.ending:
            case "failure":
                record = self.processes.exit(1, Report("failure", "cannot"))
            case "question":
                record = self.processes.exit(0, Report("question", question="which?"))
            case "timeout":
                record = self.processes.exit(143, stopped="timeout")
            case "silent" | "limit":
                record = self.processes.exit(1)
            case _:
                record = self.processes.exit(0, Report("success", "done"))
        process.end(record, _LIMIT_LINE if fate.ending == "limit" else "working")

    def _check(self, spec: object) -> bool:
        """The verify command. A person may do something while it runs."""
        if self.meanwhile is not None:
            act, self.meanwhile = self.meanwhile, None
            self.strikes.inside = False
            act()
            self.strikes.inside = True
        commit = self.git.checked_out(getattr(spec, "cwd"))  # noqa: B009 - commands are specs
        runs = [run for name in self.git.commits[commit].history if (run := self.git.commits[name].run) is not None]
        green = not self.check_is_broken and not any(self.fates[run].red for run in runs)
        if green:
            self.git.green.add(commit)
        return green

    # -- time --------------------------------------------------------------------------------------------------

    @rule(beats=st.sampled_from([1, 1, 1, 2, 6, 70]), then=rounds)
    def time_passes(self, beats: int, then: list[Fate]) -> None:
        self._heartbeats(beats)
        self.work_goes_on(then)

    @rule(
        kind=st.sampled_from(["stall", "long stall", "sleep", "reboot", "kill", "checkout", "check", "main moves"]),
        then=rounds,
    )
    def disturbance(self, kind: str, then: list[Fate]) -> None:
        self._disturb(kind)
        self.work_goes_on(then)

    def _disturb(self, kind: str) -> None:
        match kind:
            case "stall":
                self.clock.advance(TTL)  # all processes are stopped, but the clock goes on
            case "sleep":
                self._machine_sleeps()
            case "reboot":
                self._machine_reboots()
            case "checkout":
                self.git.checkout_is_free = not self.git.checkout_is_free
            case "check":
                self.check_is_broken = not self.check_is_broken
            case "main moves":
                self._push()
            case _:
                self._dispatcher_dies()

    def _machine_sleeps(self) -> None:
        self.store.recycle()
        before = {task.ref: task.state for task in self.store.tasks()}
        self.clock.sleep(8 * 3600.0)
        self.store.recycle()
        assert {task.ref: task.state for task in self.store.tasks()} == before, "a sleep expired a lease"

    def _machine_reboots(self) -> None:
        for process in self.processes.by_folder.values():
            process.end(process.record)
            process.strays = False
        self._dispatcher_dies()
        self.number += 1
        self.clock.reboot(f"boot-{self.number}-again")

    # -- zoe, and writes that come too late --------------------------------------------------------------------

    @rule(ref=st.none() | tasks, pulled=st.sampled_from([True, True, False]), then=rounds)
    def somebody_claims(self, ref: TaskRef | None, pulled: bool, then: list[Fate]) -> None:
        """Zoe takes what is next, or a task by name; or a second program claims for ann."""
        self.number += 1
        if ref is None:
            self.store.claim_next("zoe", f"zoe-{self.number}", 60.0)
        elif self.store.task(ref) is not None:
            self.store.claim(ref, "zoe" if pulled else "ann", f"other-{self.number}", 60.0, pulled=pulled)
        self.work_goes_on(then)

    def _one_of(self, runs: list[Run], data: st.DataObject) -> Run:
        chosen = data.draw(st.sampled_from([run.id for run in runs]), label="run")
        return next(run for run in runs if run.id == chosen)

    def _pulled(self) -> list[Run]:
        return [run for run in self.store.open_runs() if run.state is RunState.PULLED]

    @precondition(lambda self: self._pulled())
    @rule(data=st.data(), fate=fates, deed=st.sampled_from(["hand in", "hand in", "renew", "release", "fail"]))
    def zoe_reports(self, data: st.DataObject, fate: Fate, deed: str) -> None:
        run = self._one_of(self._pulled(), data)
        token = (run.owner, run.version)
        match deed:
            case "hand in":
                self.fates[run.id] = Fate(conflicts=fate.conflicts, red=fate.red)
                base = self.git.main_tip()
                tip = self.git.work(run.id, base)
                self.store.enqueue(run.id, *token, tip=tip, base=base, actor="agent zoe")
            case "renew":
                self.store.renew(run.ref, *token, 60.0)
            case "release":
                self.store.release(run.ref, *token, actor="agent zoe", reason="not now")
            case _:
                self.store.settle_run(run.id, *token, _FAILED, actor="agent zoe")

    def _must_be_refused(self) -> list[Run]:
        """Runs for which nobody may write any more: over, or with a lease that has run out."""
        now = self.clock.now()
        held = {task.ref: task for task in self.store.tasks()}
        return [
            run
            for run in self.store.runs()
            if run.state is RunState.SETTLED or (run.state in LEASED and held[run.ref].lease_ran_out(now))
        ]

    @precondition(lambda self: self._must_be_refused())
    @rule(data=st.data(), deed=st.sampled_from(["start", "end", "renew", "enqueue", "settle", "release"]))
    def a_write_comes_too_late(self, data: st.DataObject, deed: str) -> None:
        run = self._one_of(self._must_be_refused(), data)
        self._is_refused(run, run.owner, run.version, deed)

    @precondition(lambda self: self.store.open_runs())
    @rule(data=st.data(), deed=st.sampled_from(["start", "end", "renew", "enqueue", "settle", "release"]))
    def a_write_has_the_wrong_token(self, data: st.DataObject, deed: str) -> None:
        run = self._one_of(self.store.open_runs(), data)
        self._is_refused(run, run.owner, run.version - 1, deed)
        self._is_refused(run, f"{run.owner}x", run.version, deed)

    def _is_refused(self, run: Run, owner: str, version: int, deed: str) -> None:
        self.store.recycle()
        before = (self.store.tasks(), self.store.runs(), self.store.merges())
        answer = self._write(run, owner, version, deed)
        assert isinstance(answer, Refused), f"{deed} of run {run.id} with version {version} was accepted"
        assert (self.store.tasks(), self.store.runs(), self.store.merges()) == before

    def _write(self, run: Run, owner: str, version: int, deed: str) -> object:
        store, token = self.store, (owner, version)
        match deed:
            case "start":
                return store.start_run(run.id, *token, branch="late", base="root", slot="late")
            case "end":
                return store.end_run(run.id, *token)
            case "renew":
                return store.renew(run.ref, *token, 60.0)
            case "enqueue":
                return store.enqueue(run.id, *token, tip="late", base="root", actor="late")
            case "settle":
                return store.settle_run(run.id, *token, _FAILED, actor="late")
            case _:
                return store.release(run.ref, *token, actor="late", reason="late")

    # -- a person ----------------------------------------------------------------------------------------------

    @rule(
        ref=tasks,
        wish=st.sampled_from(["requeue", "requeue", "hold", "unhold", "cancel", "finish", "prioritize", "answer"]),
        while_verifying=st.booleans(),
        then=rounds,
    )
    def person_decides(self, ref: TaskRef, wish: str, while_verifying: bool, then: list[Fate]) -> None:
        if while_verifying:
            self.meanwhile = lambda: self._decide(ref, wish)
        else:
            self._decide(ref, wish)
        self.work_goes_on(then)

    def _decide(self, ref: TaskRef, wish: str) -> None:
        store, before = self.store, self.store.task(ref)
        match wish:
            case "requeue":
                refused = interventions.requeue(store, ref, actor="person")
            case "hold":
                refused = interventions.hold(store, ref, actor="person")
            case "unhold":
                refused = interventions.unhold(store, ref, actor="person")
            case "cancel":
                refused = interventions.cancel(store, ref, actor="person")
            case "finish":
                refused = interventions.finish(store, ref, actor="person", reason="by hand")
            case "prioritize":
                refused = interventions.prioritize(store, ref, 3, actor="person")
            case _:
                refused = interventions.answer(store, ref, "this one", actor="person")
        after = store.task(ref)
        if refused is None:
            self.excused.add(ref)
            if before is not None and before.state is TaskState.DONE and after and after.state is not TaskState.DONE:
                self.reopened[ref.id] += 1

    @rule(
        agent=agents,
        wish=st.sampled_from(["pause", "resume", "cool", "lift", "pause all", "resume all"]),
        then=rounds,
    )
    def person_steers(self, agent: str, wish: str, then: list[Fate]) -> None:
        self._steer(agent, wish)
        self.work_goes_on(then)

    def _steer(self, agent: str, wish: str) -> None:
        store = self.store
        match wish:
            case "pause":
                interventions.pause_agent(store, agent, actor="person")
            case "resume":
                interventions.resume_agent(store, agent, actor="person")
            case "cool":
                interventions.set_cooldown(store, agent, self.clock.wall + 600.0, actor="person")
            case "lift":
                interventions.lift_cooldown(store, agent, actor="person")
            case "pause all":
                interventions.pause_dispatching(store, actor="person")
            case _:
                interventions.resume_dispatching(store, actor="person")

    @precondition(lambda self: self.store.merges())
    @rule(data=st.data(), wish=st.sampled_from(["up", "first", "skip", "retry"]), while_verifying=st.booleans())
    def person_keeps_the_queue(self, data: st.DataObject, wish: str, while_verifying: bool) -> None:
        ref = data.draw(st.sampled_from([entry.ref for entry in self.store.merges()]))
        if while_verifying:
            self.meanwhile = lambda: self._keep_queue(ref, wish)
        else:
            self._keep_queue(ref, wish)

    def _keep_queue(self, ref: TaskRef, wish: str) -> None:
        match wish:
            case "up":
                interventions.move_merge(self.store, ref, Shift.UP, actor="person")
            case "first":
                interventions.move_merge(self.store, ref, 1, actor="person")
            case "skip":
                interventions.skip_merge(self.store, ref, actor="person")
            case _:
                interventions.retry_merge(self.store, ref, actor="person")

    @precondition(lambda self: any(entry.state is MergeState.CONFLICT for entry in self.store.merges()))
    @rule(wish=st.sampled_from(["take", "take", "restart", "send back", "give up"]))
    def person_settles_a_conflict(self, wish: str) -> None:
        ref = next(entry.ref for entry in self.store.merges() if entry.state is MergeState.CONFLICT)
        resolver = Resolver(self.store, self.git, "person", unattended=False)
        match wish:
            case "take":
                said = resolver.take(ref, Side.TASK)
            case "restart":
                said = resolver.restart(ref)
            case "send back":
                said = resolver.send_back(ref, "ann")
            case _:
                said = resolver.give_up(ref)
        assert isinstance(said, str), said
        self.excused.add(ref)

    @rule(text=lists(), then=rounds)
    def list_is_edited(self, text: str, then: list[Fate]) -> None:
        self.file.edit(text)
        self.excused.update(task.ref for task in self.store.tasks())
        self.work_goes_on(then)

    @rule()
    def main_moves_while_something_is_verified(self) -> None:
        self.meanwhile = self._push

    def _push(self) -> None:
        self.number += 1
        self.git.grow(f"theirs-{self.number}")
        if not self.check_is_broken:
            self.git.green.add(self.git.main_tip())

    # -- left alone, everything comes to rest ------------------------------------------------------------------

    @rule()
    def everything_comes_to_rest(self) -> None:
        """Nothing goes wrong any more: then every task that may start does, and every result lands."""
        self._clear_the_way()
        for _ in range(40):
            if self._at_rest():
                break
            self._one_good_minute()
        self._is_at_rest()

    def _clear_the_way(self) -> None:
        self.strikes.countdown, self.meanwhile = -1, None
        self.check_is_broken, self.git.checkout_is_free = False, True
        if self.dispatcher is None:
            self.dispatcher_starts()
        self.executor.eager = True
        interventions.resume_dispatching(self.store, actor="person")
        for agent in AGENTS:
            interventions.resume_agent(self.store, agent, actor="person")
        for entry in self.store.merges():
            interventions.retry_merge(self.store, entry.ref, actor="person")

    def _one_good_minute(self) -> None:
        for process in self.processes.agents():
            if process.asked_to_stop:
                self._stop(process, process.asked_to_stop, store_is_told=True)
            elif self.shim.renew(process):
                self._end(process, Fate(), store_is_told=True)
            else:
                self._stop(process, "lease_lost", store_is_told=False)
        while self.executor.waiting:
            self._dispatch(self.executor.work)
        self._tick(eager=True)
        for _ in range(3):
            self._land()
        self.clock.advance(61.0)
        for agent in AGENTS:
            interventions.lift_cooldown(self.store, agent, actor="person")

    def _at_rest(self) -> bool:
        can_start = any(task.state is TaskState.TODO and not task.unmet for task in self.store.tasks())
        busy = any(entry.state is not MergeState.CONFLICT for entry in self.store.merges())
        working = any(run.state is not RunState.LANDING for run in self.store.open_runs())
        lives = bool(self.processes.agents() or self._unlanded_slots())
        return not (can_start or busy or working or lives)

    def _unlanded_slots(self) -> list[int]:
        """The runs that workspaces belong to, but for those in a conflict that a person has to resolve, and those
        that their agents may go on with."""
        waiting = {entry.run_id for entry in self.store.merges()} | {run.id for run in self.store.kept_runs()}
        return [owner for owner in self.git.slots.values() if owner is not None and owner not in waiting]

    def _is_at_rest(self) -> None:
        assert self._at_rest(), (
            f"not at rest: {[(task.id, task.state, task.reason) for task in self.store.tasks()]}, "
            f"{[(run.id, run.state) for run in self.store.open_runs()]}, "
            f"{[(entry.id, entry.state, entry.reason) for entry in self.store.merges()]}, "
            f"slots {self.git.slots}, trouble {self.trouble[-3:]}"
        )
        for process in self.processes.by_folder.values():
            assert not process.live
            assert not process.strays, f"processes of run {process.spec.run_id} were left over"

    # -- what must hold after each of these --------------------------------------------------------------------

    @invariant()
    def everything_holds(self) -> None:
        Histories.steps += 1
        self._the_store_is_consistent()
        self._each_task_has_one_holder()
        self._every_write_was_in_order()
        self._main_only_grows()
        self._done_means_in_main()
        self._nothing_lands_twice()
        self._nothing_is_tried_for_ever()
        self._no_trouble_is_a_fault_of_ours()

    def _the_store_is_consistent(self) -> None:
        """Unmet counters equal a count, no task in progress is without an open run, leases and merges fit."""
        assert self.store.check() == []

    def _each_task_has_one_holder(self) -> None:
        holders = Counter(run.ref for run in self.store.open_runs())
        assert all(count == 1 for count in holders.values()), holders

    def _every_write_was_in_order(self) -> None:
        """Fencing versions only grow, a settled run stays as it was settled, an ended one never expires."""
        found = {task.ref: task for task in self.store.tasks()}
        runs = {run.id: run for run in self.store.runs()}
        for ref, version in self.seen.versions.items():
            assert found[ref].lease_version >= version, f"the version of {ref} fell"
        for before in self.seen.runs.values():
            self._follows(before, runs[before.id])
        for run in runs.values():
            expired = run.ended_at is not None and run.result is RunResult.LEASE_LOST
            assert not expired, f"run {run.id} had ended, and expired"
        for event in self.store.events_since(self.seen.seq):
            driven = event.kind == "task.claimed" and event.agent == "zoe"
            assert not driven or event.actor != "dispatcher", "zoe is driven by a person"
        self.seen.seq = self.store.last_seq()
        self.seen.versions = {ref: task.lease_version for ref, task in found.items()}
        self.seen.runs = runs

    def _follows(self, before: Run, after: Run) -> None:
        if before.state is RunState.SETTLED:
            assert after == before or after.answer, f"run {before.id} was settled twice"

    def _watched(self, claim: Callable[..., Claim | Refused | None]) -> Callable[..., Claim | Refused | None]:
        """Look at each claim at once: later its prerequisites may be reopened."""

        def watched(*args: object, **how: object) -> Claim | Refused | None:
            won = claim(*args, **how)
            if isinstance(won, Claim):
                found = {task.ref: task.state for task in self.store.tasks()}
                task = self.store.task(won.ref)
                unmet = [ref for ref in task.prerequisites if found[ref] is not TaskState.DONE] if task else []
                assert not unmet, f"{won.ref} was claimed before {unmet} was done"
            return won

        return watched

    def _main_only_grows(self) -> None:
        known = len(self.seen.main)
        assert self.git.main[:known] == self.seen.main
        self.seen.main = list(self.git.main)

    def _done_means_in_main(self) -> None:
        for task in self.store.tasks():
            if task.done_by is DoneBy.LANDED:
                assert task.done_commit in self.git.main, f"{task.ref} is said to have landed"
                assert self.git.commits[task.done_commit].task == str(task.ref)

    def _nothing_lands_twice(self) -> None:
        ours = [self.git.commits[name] for name in self.git.main]
        assert all(count == 1 for run, count in Counter(commit.run for commit in ours).items() if run is not None)
        for task, count in Counter(commit.task for commit in ours).items():
            assert task is None or count <= 1 + self.reopened[task], f"{task} landed {count} times"
        turned_away = {one.run_id for one in self.store.merges(open_only=False) if one.state is MergeState.REJECTED}
        assert not turned_away & {commit.run for commit in ours}, "main has what the queue turned away"

    def _nothing_is_tried_for_ever(self) -> None:
        for task in self.store.tasks():
            if task.attempts < ATTEMPTS and task.interruptions < INTERRUPTIONS:
                self.excused.discard(task.ref)
            elif task.state in _ACTIVE:
                assert task.ref in self.excused, f"{task.ref} goes on after {task.attempts}/{task.interruptions}"

    def _no_trouble_is_a_fault_of_ours(self) -> None:
        assert not [words for words in self.trouble if "please report" in words]


_FAILED = Settlement(RunResult.FAILED, "cannot", TaskState.TODO, "cannot", attempt=True, weight=-0.2)
