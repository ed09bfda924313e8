"""The dispatcher: observe, decide, act, until nothing is left or somebody says stop."""

from __future__ import annotations

import threading
from concurrent.futures import Executor
from dataclasses import replace

from recall.domain.errors import ConfigError, Displaced, RecallError, StoreBusy
from recall.domain.merge import MergeState
from recall.domain.outcome import MAX_INTERRUPTIONS
from recall.domain.progress import Standing, standing
from recall.domain.run import Claim, Run, RunState
from recall.domain.schedule import decide, has_room
from recall.domain.snapshot import Assign
from recall.engine.budgets import agents_within_budget, snapshot_within_budget, tasks_over_budget
from recall.engine.herald import Herald
from recall.engine.hosting import Listener, Stopping
from recall.engine.jobs import Jobs
from recall.engine.launch import launch
from recall.engine.merge_queue import MergeQueue
from recall.engine.notices import RETENTION, Notices, still_holds
from recall.engine.observing import PAUSED
from recall.engine.parts import Parts
from recall.engine.publishing import Outside
from recall.engine.recovery import recover
from recall.engine.releases import Releases
from recall.engine.run_keeper import RunKeeper
from recall.engine.task_lists import Intake
from recall.engine.trouble import TroubleTeller
from recall.engine.trust import distrusted
from recall.engine.watch import Watch

_POLL = 0.1
_LOOK_PERIOD = 1.0
_TROUBLE_PAUSE = 1.0
_HALT_PATIENCE = 10.0
_LAST_TRIES = 5
_MOST_PAST = 5000  #: events
_LEASED = frozenset({RunState.PREPARING, RunState.RUNNING, RunState.PULLED})


class Dispatcher:
    """One per repository; its lock is held by whoever makes it.

    `start` recovers what an earlier one left, `run` is the loop of ticks until the list stands still
    (`until_done`) or a stop is through. `request` and `standing` may be called from any thread.
    """

    def __init__(
        self,
        parts: Parts,
        executor: Executor,
        watch: Watch,
        listener: Listener,
        outside: Outside | None = None,
        notices: Notices | None = None,
    ) -> None:
        self.parts = parts
        self._releases = Releases(parts)
        self.queue = MergeQueue(parts, give_up=self._giving_up)
        self._watch = watch
        self._listener = replace(listener, trouble=TroubleTeller(listener.trouble, parts.clock))
        self._herald = Herald(
            parts.settings.signals, parts.clock, parts.zone, listener.signal, ring=listener.ring, notices=notices
        )
        self._jobs = Jobs(executor, parts.clock, wake=watch.wake, trouble=self._listener.trouble)
        self._intake = Intake(parts, self._jobs)
        self._keeper = RunKeeper(parts, self._jobs, watch, self._releases)
        self._outside = outside
        self._notices = notices
        self._stopping = Stopping.NO
        self._halt_until: float | None = None
        self._distrust = ""
        self._shortage = ""
        self._over = threading.Event()
        self._seq = 0
        self._seen_version = -1
        self._next_look = 0.0

    def request(self, stopping: Stopping) -> None:
        """Ask for a stop; a further request can only go further. Safe in a signal handler."""
        self._stopping = max(self._stopping, stopping)
        if stopping is Stopping.HALT and self._halt_until is None:
            self._halt_until = self.parts.clock.now().mono + self.parts.settings.run.grace + _HALT_PATIENCE
        self._watch.wake()

    def standing(self) -> Standing:
        store, settings, now = self.parts.store, self.parts.settings, self.parts.clock.now().wall
        tasks = store.tasks()
        return standing(
            tasks,
            agents_within_budget(store, settings, now, store.agents()),
            store.open_runs(),
            store.merges(),
            queue_held=self.queue.held(),
            dispatch_held=self._distrust or self._shortage,
            problems=self._problems(),
            over_budget=tasks_over_budget(store, settings, now, tasks),
            receipts=store.receipts(),
        )

    def _problems(self) -> list[str]:
        return [problem for found in self._intake.problems.values() for problem in found]

    # -- the loop ----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Bring store, git and processes into agreement. Raises when the surroundings do not allow work."""
        parts = self.parts
        self._seq = parts.store.last_seq()
        parts.store.sync_agents(parts.settings.agent_specs)
        limit = str(parts.settings.run.max_interruptions)
        parts.store.put_setting(MAX_INTERRUPTIONS, limit, actor="dispatcher")
        for run_id in recover(parts, self.queue):
            self._keeper.expect(run_id)
        self._refresh_lists(wait=True)
        if self._problems() and not parts.store.tasks():
            raise ConfigError("\n".join(self._problems()))
        if self._notices is not None:
            self._catch_up()
        self._tell()

    def run(self, *, until_done: bool) -> Standing:
        """Work until the list stands still (with `until_done`) or a stop is through; gives where it stands.
        Agents outlive an error that ends it."""
        landing = threading.Thread(target=self._land_loop, name="landing", daemon=True)
        landing.start()
        try:
            woken = True
            while not self._tick(until_done, woken=woken):
                woken = self._watch.wait(_POLL)
        finally:
            self._over.set()
            self._watch.landing.set()
            landing.join()
        standing = self._last_look()
        if self._notices is not None and not self._halting():
            self._finish(self._notices)
        return standing

    def _finish(self, notices: Notices) -> None:
        """What the last events call for goes out before this process ends; what does not is told by the next."""
        try:
            notices.finish()
        except RecallError as trouble:
            self._listener.trouble(str(trouble))

    def _last_look(self) -> Standing:
        """All work is over; a store that is busy for a while is no reason to end with an error."""
        for _ in range(_LAST_TRIES):
            try:
                self._tell()
                return self.standing()
            except StoreBusy as trouble:
                self._listener.trouble(str(trouble))
        return self.standing()

    def step(self) -> None:
        """Observe, decide, act, once. Slow work goes to the executor."""
        self._look_at_the_ground()
        self._refresh_lists()
        runs = self._open_runs()
        self._keeper.observe(runs, [run.id for run in self.parts.store.kept_runs()], halting=self._halting())
        if any(run.state is RunState.LANDING for run in runs):
            self._watch.landing.set()
        if self._stopping is Stopping.NO and not self._distrust and not self._shortage:
            self._dispatch()
        if self._outside is not None:
            self._outside.look(self._jobs, halting=self._halting())
        self._tell()

    def _tick(self, until_done: bool, *, woken: bool) -> bool:
        """Do a step if anything may have changed; tell whether the work is over. No trouble of store, disk or
        git ends the loop: it is told, and tried again a second later. Only the loss of what it works on does."""
        now = self.parts.clock.now().mono
        try:
            version = self.parts.store.data_version()
            if not woken and version == self._seen_version and now < self._next_look:
                return False
            self._seen_version, self._next_look = version, now + _LOOK_PERIOD
            self.step()
            return self._finished(until_done) or self._halted_in_vain(now)
        except Displaced:
            raise
        except (RecallError, OSError) as trouble:
            self._next_look = now + _TROUBLE_PAUSE
            self._listener.trouble(str(trouble))
            return self._halted_in_vain(now)

    def _look_at_the_ground(self) -> None:
        """Claim nothing on a disk that is nearly full; end when another dispatcher could start beside this one."""
        ground = self.parts.ground
        if not ground.in_place():
            raise Displaced(
                "dispatcher.lock was deleted, so a second dispatcher could start: this one ends, its agents go on; "
                "start it again"
            )
        self._shortage = ground.shortage()
        if self._shortage:
            self._listener.trouble(f"nothing new starts: {self._shortage}")

    def _halted_in_vain(self, now: float) -> bool:
        """A stop must not hang on trouble that will not pass; what stays open is settled by the next start."""
        if self._halt_until is None or now < self._halt_until:
            return False
        self._listener.trouble("stopped before everything was settled; the next start does it")
        return True

    def _finished(self, until_done: bool) -> bool:
        if self._jobs.any() or self._intake.reading or not self._at_rest(until_done):
            return False
        if self._outside is not None and self._outside.busy(halting=self._halting()):
            return False
        store = self.parts.store
        return not self._keeper.leaving([run.id for run in (*store.open_runs(), *store.kept_runs())])

    def _at_rest(self, until_done: bool) -> bool:
        if self._stopping is Stopping.NO:
            return until_done and not self.standing().moving
        working = {RunState.PREPARING, RunState.RUNNING, RunState.ENDED}
        if any(run.state in working for run in self.parts.store.open_runs()):
            return False
        return self._stopping is Stopping.HALT or not self._landing_goes_on()

    def _landing_goes_on(self) -> bool:
        moving = {MergeState.QUEUED, MergeState.VERIFYING, MergeState.LANDING}
        return not self.queue.held() and any(entry.state in moving for entry in self.parts.store.merges())

    def _halting(self) -> bool:
        return self._stopping is Stopping.HALT

    def _giving_up(self) -> bool:
        return self._halting() or self._over.is_set()

    def _open_runs(self) -> list[Run]:
        """The store takes expired leases back with the next write; when nobody writes, this is it."""
        store, now = self.parts.store, self.parts.clock.now()
        runs = store.open_runs()
        held = (store.task(run.ref) for run in runs if run.state in _LEASED)
        if any(task is not None and task.lease_ran_out(now) for task in held):
            store.recycle()
            return store.open_runs()
        return runs

    def _refresh_lists(self, *, wait: bool = False) -> None:
        """Take in what changed, and look at once whether what is in force now may run: others import too."""
        self._intake.refresh(wait=wait)
        self._distrust = distrusted(self.parts.settings, self.parts.store)

    # -- decide and act ----------------------------------------------------------------------------------------

    def _dispatch(self) -> None:
        store, now = self.parts.store, self.parts.clock.now().wall
        settings = self.parts.settings
        agents = agents_within_budget(store, settings, now, store.agents())
        if store.setting(PAUSED) == "yes" or not any(has_room(agent, now) for agent in agents):
            return  # without a look at the ready tasks, of which there may be thousands
        snapshot = snapshot_within_budget(store, settings, store.snapshot())
        if not snapshot.dispatching or not snapshot.ready:
            return
        for assign in decide(snapshot, explore=settings.explore, rng=self.parts.rng):
            self._claim(assign)

    def _claim(self, assign: Assign) -> None:
        owner = f"{assign.agent}-{self.parts.rng.token(8)}"
        ttl = self.parts.settings.lease.ttl
        claim = self.parts.store.claim(assign.ref, assign.agent, owner, ttl, why=assign.reason)
        if isinstance(claim, Claim):
            self._keeper.expect(claim.run_id)
            self._jobs.submit(
                claim.run_id, lambda: launch(self.parts, self._releases, claim, give_up=self._giving_up)
            )

    # -- the landing thread ------------------------------------------------------------------------------------

    def _land_loop(self) -> None:
        """Entries one at a time, asleep while there is nothing to land."""
        while not self._over.is_set():
            if self._land_once():
                self._watch.wake()
            else:
                self._watch.landing.wait(_LOOK_PERIOD)
                self._watch.landing.clear()

    def _land_once(self) -> bool:
        """No trouble ends the thread, or nothing would land any more while everything else goes on."""
        if self._giving_up():
            return False
        try:
            return self.queue.step()
        except Exception as trouble:
            kind = "" if isinstance(trouble, RecallError) else f"{type(trouble).__name__}: "
            self._listener.trouble(f"merge queue: {kind}{trouble}")
            return False

    def _tell(self) -> None:
        events = self.parts.store.events_since(self._seq)
        if events:
            self._seq = events[-1].seq
            self._listener.events(events)
        self._herald.see(events, self._standing_at_rest)

    def _catch_up(self) -> None:
        """Tell what an earlier dispatcher had no time to tell, as far as it matters still."""
        store, since = self.parts.store, self.parts.clock.now().wall - RETENTION
        past = [event for event in reversed(store.events_back(self._seq + 1, _MOST_PAST)) if event.at >= since]
        where = self.standing() if past else None
        complete = where.finished if where is not None and where.complete else None
        self._herald.catch_up(past, lambda event: still_holds(event, store), complete=complete)

    def _standing_at_rest(self) -> Standing | None:
        """Summing a long list up is not worth it while its next task runs."""
        return None if self.parts.store.open_runs() else self.standing()
