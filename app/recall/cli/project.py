"""The repository that a command was called in: its settings, its store, its tasks by name."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from recall.bootstrap import open_store_at, settings_at, state_dir
from recall.cli.report import Refusal
from recall.domain.agent import AgentSpec
from recall.domain.task import Task, TaskRef
from recall.gitops.locate import Location, locate

if TYPE_CHECKING:
    from recall.config.settings import Settings
    from recall.domain.clock import Clock
    from recall.domain.rng import Rng
    from recall.engine.ports import Store


class Project(NamedTuple):
    """Everything a command needs. `clock` and `rng` are the machine's."""

    location: Location
    settings: Settings
    store: Store
    clock: Clock
    rng: Rng

    @property
    def state(self) -> Path:
        """The folder that holds the database, the runs and the integration repository."""
        return state_dir(self.location, self.settings)

    @property
    def name(self) -> str:
        return (self.location.checkout or self.location.common_dir).name


@contextmanager
def opened_project(start: Path | None = None) -> Generator[Project]:
    """Find the repository around `start` (the current folder), read its settings and open its store."""
    from recall.system import SystemClock, SystemRng

    location = locate(start or Path.cwd())
    settings = settings_at(location)
    store = open_store_at(location, settings)
    try:
        yield Project(location, settings, store, SystemClock(), SystemRng())
    finally:
        store.close()


def known_task(store: Store, text: str) -> Task:
    """Find a task as a person named it, or end the command naming the nearest one."""
    task = store.task(TaskRef.parse(text))
    if task is None:
        raise Refusal(unknown("task", text, (str(each.ref) for each in store.tasks())))
    return task


def known_agent(project: Project, name: str) -> str:
    """Check an agent's name, or end the command naming the nearest one."""
    introduce_agents(project)
    names = {agent.name for agent in project.store.agents()}
    if name not in names:
        raise Refusal(unknown("agent", name, names))
    return name


def introduce_agents(project: Project) -> None:
    """Make the store know the agents of recall.toml as they are there, also before any dispatcher ran."""
    known = {
        AgentSpec(agent.name, agent.listed_enabled, agent.listed_parallel, agent.types, agent.account)
        for agent in project.store.agents()
    }
    specs = project.settings.agent_specs
    if not set(specs) <= known:
        project.store.sync_agents(specs)


def unknown(kind: str, text: str, names: Iterable[str]) -> str:
    """Say that there is no such thing, with the nearest names, or where names come from if there are none."""
    import difflib

    known = sorted(names)
    if not known:
        source = "run `recall import` first" if kind == "task" else "add one to recall.toml"
        return f"there is no {kind} {text}: there are none at all yet; {source}"
    same_id = [name for name in known if name.rpartition(":")[2].lower() == text.rpartition(":")[2].lower()]
    near = same_id or difflib.get_close_matches(text, known, n=3)
    return f"there is no {kind} {text}; " + (
        f"did you mean {' or '.join(near)}?" if near else f"`recall {_LISTS[kind]}` lists what there is"
    )


_LISTS = {"task": "status --all", "agent": "agents", "task or agent": "status --all", "task or run": "runs"}
