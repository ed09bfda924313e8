"""The composition root: the only module that makes concrete parts and puts them together.

Imports are inside the functions, so that a command which only needs the store does not pay for git or the
engine.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from recall.domain.errors import ConfigError, DispatcherRunning
from recall.domain.run import Refused, RunState
from recall.domain.task import TaskRef
from recall.gitops.locate import Location, locate
from recall.system import CheckoutFiles, Held, SystemClock, SystemRng, hold, local_zone

if TYPE_CHECKING:
    from recall.config.settings import Settings
    from recall.engine.dispatcher import Dispatcher, Listener
    from recall.engine.ports import Git, Store

CONFIG_NAME = "recall.toml"


def config_file(location: Location) -> Path:
    """Give the recall.toml in force: beside the task list in the checkout, in the git dir of a bare repository."""
    return (location.checkout or location.common_dir) / CONFIG_NAME


def state_dir(location: Location) -> Path:
    """Give the state folder: `recall/` in the git common dir, unless recall.toml puts it elsewhere."""
    try:
        with config_file(location).open("rb") as file:
            store = tomllib.load(file).get("store", {})
    except (OSError, tomllib.TOMLDecodeError):
        return location.state_dir
    elsewhere = store.get("state_dir", "") if isinstance(store, dict) else ""
    return Path(str(elsewhere)).expanduser() if elsewhere else location.state_dir


def settings_at(location: Location) -> Settings:
    """Read recall.toml, each agent completed from its preset. Raises ConfigError naming every problem."""
    from recall.agents.presets import complete_agents
    from recall.config.load import load_settings

    file = config_file(location)
    if not file.is_file():
        raise ConfigError(f"there is no {CONFIG_NAME} in {file.parent}; `recall init` writes one")
    return complete_agents(load_settings(file))


def open_store_at(location: Location, *, lock_timeout: float = 10.0) -> Store:
    """Open the store of this repository, making it if need be."""
    from recall.store import open_store

    return open_store(
        state_dir(location) / "recall.db", SystemClock(), SystemRng(), lock_timeout=lock_timeout
    )


def program() -> tuple[str, ...]:
    """Give the argv, in absolute paths, of the `recall` command that agents are told to call."""
    beside = Path(sys.executable).parent / "recall"
    return (str(beside),) if beside.exists() else (sys.executable, "-m", "recall")


def git_at(location: Location, settings: Settings) -> Git:
    """Give the git side, checked and ready. Raises ConfigError or EnvironmentFailure in words."""
    from recall.gitops.gateway import GitGateway

    gateway = GitGateway(location, settings, SystemClock(), SystemRng())
    gateway.prepare()
    return gateway


def take_dispatcher_lock(location: Location) -> Held:
    """Become the dispatcher of this repository. Raises DispatcherRunning naming the other one."""
    held = hold(state_dir(location) / "dispatcher.lock")
    if isinstance(held, Held):
        return held
    raise DispatcherRunning(
        f"another dispatcher (process {held}) works on this repository; "
        "`recall status` shows what it does, `recall pause` and the other commands reach it"
    )


@contextmanager
def open_engine(start: Path, listener: Listener, *, restart_conflicts: bool = True) -> Iterator[Dispatcher]:
    """Put a whole dispatcher together for the repository at `start`, and take it apart again."""
    from concurrent.futures import ThreadPoolExecutor

    from recall.agents.planning import RunPlanner
    from recall.agents.runner import ProcessRunner
    from recall.engine.dispatcher import Dispatcher
    from recall.engine.parts import Parts
    from recall.engine.watch import Watch

    location = locate(start)
    settings = settings_at(location)
    lock = take_dispatcher_lock(location)
    try:
        git = git_at(location, settings)
        store = open_store_at(location, lock_timeout=settings.store.lock_timeout)
        clock, rng = SystemClock(), SystemRng()
        runs = state_dir(location) / "runs"
        planner = RunPlanner(settings, store.shim_contract(), runs, program(), dict(os.environ), rng, store.task)
        parts = Parts(
            settings=settings,
            store=store,
            git=git,
            runner=ProcessRunner(),
            planner=planner,
            files=CheckoutFiles(location.checkout, git.file_on_main),
            clock=clock,
            rng=rng,
            zone=local_zone(),
            restart_conflicts=restart_conflicts,
        )
        watch = Watch()
        with ThreadPoolExecutor(4, thread_name_prefix="work") as executor:
            yield Dispatcher(parts, executor, watch, listener)
        watch.close()
        store.close()
    finally:
        lock.close()


def hand_in_branch(start: Path, ref: TaskRef, agent: str, branch: str) -> int | Refused:
    """Put a branch that somebody made for a pulled task into the merge queue; gives the entry's id."""
    from recall.domain.work import NothingNew, PersonNeeded

    location = locate(start)
    store = open_store_at(location)
    try:
        run = next(
            (
                one
                for one in store.open_runs()
                if one.ref == ref and one.agent == agent and one.state is RunState.PULLED
            ),
            None,
        )
        if run is None:
            return Refused(f"{agent} holds no claim on {ref}; `recall next --agent {agent}` gives one", lease_lost=True)
        outcome = git_at(location, settings_at(location)).adopt_branch(branch, run.id)
        if isinstance(outcome, NothingNew):
            return Refused(f"branch {branch} brings nothing new: {outcome.reason}")
        if isinstance(outcome, PersonNeeded):
            return Refused(f"branch {branch} cannot be taken as it is: {outcome.reason}")
        return store.enqueue(
            run.id, run.owner, run.version, tip=outcome.tip, base=outcome.base, actor=f"agent {agent}"
        )
    finally:
        store.close()
