"""The composition root: the only module that makes concrete parts and puts them together.

Imports are inside the functions, so that a command which only needs the store does not pay for git or the
engine.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from recall.domain.errors import ConfigError, DispatcherRunning
from recall.domain.run import Refused, RunState
from recall.domain.task import TaskRef
from recall.gitops.locate import Location, locate
from recall.system import CheckoutFiles, Held, SystemClock, SystemRng, free_space, hold, is_held, local_zone

if TYPE_CHECKING:
    from recall.agents.calling import Caller
    from recall.agents.sandbox import Reach
    from recall.config.settings import AgentSettings, Settings
    from recall.engine.dispatcher import Dispatcher, Listener
    from recall.engine.effects import Effects
    from recall.engine.ground import Ground
    from recall.engine.notices import Notices
    from recall.engine.parts import Parts
    from recall.engine.ports import Store
    from recall.engine.publishing import Actor
    from recall.gitops.gateway import GitGateway
    from recall.gitops.pushing import Remote

CONFIG_NAME = "recall.toml"
DISPATCHER_LOCK = "dispatcher.lock"


def config_file(location: Location) -> Path:
    """Give the recall.toml in force: in this checkout, else in the main one, else in a bare repository's git dir."""
    main_checkout = location.common_dir.parent if location.common_dir.name == ".git" else None
    folders = [folder for folder in (location.checkout, main_checkout, location.common_dir) if folder is not None]
    return next(
        (folder / CONFIG_NAME for folder in folders if (folder / CONFIG_NAME).is_file()), folders[0] / CONFIG_NAME
    )


def state_dir(location: Location, settings: Settings) -> Path:
    """Give the state folder; one that is named in the settings is relative to recall.toml."""
    chosen = settings.store.state_dir
    return settings.file.parent / Path(chosen).expanduser() if chosen else location.state_dir


def settings_at(location: Location) -> Settings:
    """Read recall.toml. Raises ConfigError naming every problem, or the command that writes a first one."""
    from recall.config.load import load_settings

    def guessed() -> str:
        from recall.config.main_branch import guess_main

        return guess_main(location.common_dir)

    return load_settings(config_file(location), main_default=guessed)


def preset_programs() -> dict[str, str]:
    """Give the program that each preset starts."""
    from recall.agents.presets import load_preset, preset_names

    return {name: load_preset(name).command[0] for name in preset_names()}


def with_presets(settings: Settings) -> Settings:
    """Complete each agent from its preset, as root also with what makes its CLI run as root: who asks what is in
    force, and who confirms it, sees what is started. Raises ConfigError for a preset that there is none of."""
    from recall.agents.presets import load_preset
    from recall.config.merge_preset import PresetFields, with_preset

    agents: list[AgentSettings] = []
    for agent in settings.agents:
        like = agent.stream if isinstance(agent.stream, str) else str(agent.stream.get("like", ""))
        if like:
            load_preset(like)
        if not agent.preset:
            agents.append(agent)
            continue
        preset = load_preset(agent.preset)
        fields = PresetFields(
            command=preset.argv(agent.model, usd=settings.budget.run_usd),
            prompt=preset.prompt,
            env={**preset.root_env, **preset.env} if agents_are_root(settings) else preset.env,
            env_unset=preset.env_unset,
            env_pass=preset.env_pass,
            state=preset.state,
            patterns=preset.patterns,
            resume_command=preset.argv(agent.model, "{id}", settings.budget.run_usd) if preset.resume_args else (),
        )
        agents.append(with_preset(agent, fields))
    return replace(settings, agents=tuple(agents))


def open_store_at(location: Location, settings: Settings) -> Store:
    """Open the store of this repository, making it if need be."""
    from recall.store.store import open_store

    database = state_dir(location, settings) / "recall.db"
    return open_store(database, SystemClock(), SystemRng(), lock_timeout=settings.store.lock_timeout)


def effects_at(location: Location, settings: Settings, store: Store) -> Effects:
    """Give what brings outside actions about under receipts."""
    from hashlib import sha256

    from recall.engine.effects import Effects

    locks = state_dir(location, settings) / "effects"
    return Effects(store, SystemClock(), lambda key: hold(locks / f"{sha256(key.encode()).hexdigest()[:32]}.lock"))


def program() -> tuple[str, ...]:
    """Give the argv, in absolute paths, of the `recall` command that agents are told to call."""
    beside = Path(sys.executable).parent / "recall"
    return (str(beside),) if beside.exists() else (sys.executable, "-m", "recall")


def git_at(location: Location, settings: Settings) -> GitGateway:
    """Give the git side, checked and ready. Raises ConfigError or EnvironmentFailure in words."""
    from recall.gitops.gateway import GitGateway

    gateway = GitGateway(location, settings, SystemClock(), SystemRng())
    gateway.prepare()
    return gateway


def dispatcher_runs(state: Path) -> bool:
    """Tell whether a dispatcher works on this state folder."""
    return is_held(state / DISPATCHER_LOCK)


def take_dispatcher_lock(location: Location, settings: Settings) -> Held:
    """Become the dispatcher of this repository. Raises DispatcherRunning naming the other one."""
    held = hold(state_dir(location, settings) / DISPATCHER_LOCK)
    if isinstance(held, Held):
        return held
    process = f" (process {held})" if held else ""
    raise DispatcherRunning(
        f"another dispatcher{process} works on this repository; "
        "`recall status` shows what it does, `recall pause` and the other commands reach it"
    )


@contextmanager
def open_engine(
    start: Path, listener: Listener, *, restart_conflicts: bool = True, allow_root: bool = False
) -> Generator[Dispatcher]:
    """Put a whole dispatcher together for the repository at `start`, and take it apart again. As root it starts
    agent CLIs only with `allow_root`."""
    from concurrent.futures import ThreadPoolExecutor

    from recall.agents.planning import RunPlanner
    from recall.agents.runner import ProcessRunner
    from recall.agents.sandbox import check_fence
    from recall.engine.dispatcher import Dispatcher
    from recall.engine.parts import Parts
    from recall.engine.publishing import Outside
    from recall.engine.watch import Watch

    location = locate(start)
    settings = with_presets(settings_at(location))
    if agents_are_root(settings) and not allow_root:
        _refuse_root(settings)
    with ExitStack() as stack:
        lock = stack.enter_context(closing(take_dispatcher_lock(location, settings)))
        git = git_at(location, settings)
        store = stack.enter_context(closing(open_store_at(location, settings)))
        _refuse_forgotten_work(store, git)
        check_fence(settings, reach_at(location, settings), os.environ)
        clock, rng = SystemClock(), SystemRng()
        runner = stack.enter_context(closing(ProcessRunner(clock, rng)))
        runner.keep_ahead()
        runs = state_dir(location, settings) / "runs"
        planner = RunPlanner(settings, store.shim_contract(), runs, program(), dict(os.environ), rng, store.task)
        parts = Parts(
            settings=settings,
            store=store,
            git=git,
            runner=runner,
            planner=planner,
            files=CheckoutFiles(location.checkout, git.file_on_main),
            clock=clock,
            rng=rng,
            zone=local_zone(),
            restart_conflicts=_restarts(settings.merge.conflicts, by_itself=restart_conflicts),
            ground=ground_at(location, settings, lock),
        )
        watch = stack.enter_context(closing(Watch()))
        executor = stack.enter_context(ThreadPoolExecutor(4, thread_name_prefix="work"))
        effects = effects_at(location, settings, store)
        notices = _notices(parts, effects, _caller(location, settings, listener))
        actors = (*_pushing(location, parts, effects), *((notices,) if notices is not None else ()))
        yield Dispatcher(parts, executor, watch, listener, Outside(effects, actors), notices)


def _notices(parts: Parts, effects: Effects, caller: Caller) -> Notices | None:
    """Give what calls a person outside, where anything does."""
    from recall.engine.notices import Notices
    from recall.engine.trust import all_confirmed

    if not caller.reaches():
        return None
    return Notices(parts.store, effects, caller.call, may=lambda: all_confirmed(parts.settings, parts.store))


def remote_at(location: Location, settings: Settings) -> Remote:
    """Give the remote that the settings name. While an agent may have changed how git reaches remotes, nothing is
    sent there or asked of it."""
    from recall.gitops.pushing import Remote
    from recall.gitops.slot_records import SlotRecords
    from recall.gitops.untrusted_settings import UntrustedSettings

    untrusted = UntrustedSettings(location.common_dir, SlotRecords(state_dir(location, settings)))
    return Remote(location.common_dir, settings.push, settings.main, untrusted.of_transport)


def _pushing(location: Location, parts: Parts, effects: Effects) -> tuple[Actor, ...]:
    """Give what brings work to the remote, if there is one."""
    from recall.agents.gh import Gh
    from recall.engine.publishing import Publisher
    from recall.engine.pull_requests import PullRequests

    settings, store, git = parts.settings, parts.store, parts.git
    if not settings.push:
        return ()
    remote = remote_at(location, settings)

    def on_main(commit: str) -> bool:
        return git.contains(git.main_tip(), commit)

    offers = PullRequests(parts, effects, remote, Gh(remote.address, settings.main, dict(os.environ)))
    if settings.offers:
        return (offers,)
    return Publisher(store, effects, parts.clock, remote, on_main), offers


def agents_are_root(settings: Settings) -> bool:
    """Tell whether agents would run as root: started by root, and not as another user."""
    return os.geteuid() == 0 and settings.sandbox_level != "user"


def _refuse_root(settings: Settings) -> None:
    """Raises ConfigError where root would start a known agent CLI, by its preset or by its name in a command."""
    programs = set(preset_programs().values())
    known = [
        agent.name
        for agent in settings.agents
        if agent.enabled and (agent.preset or programs.intersection(_programs_in(agent.command)))
    ]
    if known:
        raise ConfigError(
            f"this is root, as whom {', '.join(known)} could change anything on this machine; start as an ordinary "
            "user, let agents run as one (sandbox.user in recall.toml), or say `recall-tui --allow-root` where the "
            "machine is a container that may be thrown away"
        )


def _caller(location: Location, settings: Settings, listener: Listener) -> Caller:
    from recall.agents.calling import Caller

    folder = location.checkout or location.common_dir
    signals = settings.signals
    environ = dict(os.environ)
    return Caller(folder.name, folder, signals.command, signals.desktop, environ, listener.trouble)


def _programs_in(command: Sequence[str]) -> Iterator[str]:
    return (Path(part).name for word in command for part in word.split())


def reach_at(location: Location, settings: Settings) -> Reach:
    """Give what the sandbox is tried on."""
    from recall.agents.sandbox import Reach

    keep_out = (state_dir(location, settings), location.common_dir, settings.file, *_checkouts(location))
    root = location.workspaces_root(settings.workspaces.root)
    return Reach(keep_out, root, location.common_dir / "objects", program())


def _checkouts(location: Location) -> tuple[Path, ...]:
    return (location.checkout,) if location.checkout is not None else ()


def ground_at(location: Location, settings: Settings, lock: Held | None = None) -> Ground:
    """Give what work in this repository stands on. `lock` is the dispatcher's own, for it alone."""
    from recall.engine.ground import Ground

    places = dict.fromkeys(
        (state_dir(location, settings), location.workspaces_root(settings.workspaces.root), location.common_dir)
    )
    least = settings.store.min_free
    if lock is None:
        return Ground(tuple(places), least, free_space)
    return Ground(tuple(places), least, free_space, lock.in_place)


def _refuse_forgotten_work(store: Store, git: GitGateway) -> None:
    """A store that was deleted does not know what has landed, and would have all of it done again."""
    from recall.domain.merge import MAIN_OID

    if store.setting(MAIN_OID) is not None or store.tasks():
        return
    if landing := git.last_landing():
        raise ConfigError(
            f"the store is new, yet Recall has landed work on main before ({landing}); put the deleted state folder "
            "back, or mark in the task list what is done (`[x]`) and run `recall import`, then start again"
        )


def _restarts(wanted: str, *, by_itself: bool) -> bool:
    """Tell whether a task in conflict starts over; `by_itself` is what `auto` means here."""
    return by_itself if wanted == "auto" else wanted == "restart"


def hand_in_branch(start: Path, ref: TaskRef, agent: str, branch: str) -> int | Refused:
    """Put a branch that somebody made for a pulled task into the merge queue; gives the entry's id."""
    from recall.domain.work import NothingNew, PersonNeeded

    location = locate(start)
    settings = settings_at(location)
    store = open_store_at(location, settings)
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
            return Refused(
                f"{agent} holds no claim on {ref}; `recall next --agent {agent}` gives one", lease_lost=True
            )
        outcome = git_at(location, settings).adopt_branch(branch, run.id)
        if isinstance(outcome, NothingNew):
            return Refused(f"branch {branch} brings nothing new: {outcome.reason}")
        if isinstance(outcome, PersonNeeded):
            return Refused(f"branch {branch} cannot be taken as it is: {outcome.reason}")
        return store.enqueue(
            run.id, run.owner, run.version, tip=outcome.tip, base=outcome.base, actor=f"agent {agent}"
        )
    finally:
        store.close()
