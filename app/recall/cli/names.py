"""Names that a shell completes: tasks, agents, regions, runs whose work is parked, settings.

A completion must never get in the way of typing: outside a repository, or with a recall.toml that cannot be read,
there is just nothing to offer.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING

from recall.domain.errors import RecallError

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

    from recall.cli.project import Project
    from recall.domain.task import Task

#: A shell shows a screenful; more would only make it slow.
_MOST = 200


def complete_task(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    """Offer tasks that are not over first; the letter case of what was typed does not matter."""
    with _project() as project:
        tasks = project.store.tasks() if project is not None else []
    matching = [task for task in tasks if str(task.ref).lower().startswith(typed.lower())]
    return _items((str(task.ref), task.title) for task in sorted(matching, key=_is_over))


def complete_agent(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    with _project() as project:
        agents = project.settings.agents if project is not None else ()
    return _items((agent.name, agent.preset) for agent in agents if agent.name.startswith(typed))


def complete_agent_or_preset(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    from recall.agents.presets import preset_names

    items = complete_agent(context, parameter, typed)
    known = {item.value for item in items}
    return items + _items(
        (name, "a preset") for name in preset_names() if name.startswith(typed) and name not in known
    )


def complete_region(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    with _project() as project:
        lists = project.settings.tasks if project is not None else ()
    return _items((one.region, one.path) for one in lists if one.region.startswith(typed))


def complete_task_or_agent(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    return complete_agent(context, parameter, typed) + complete_task(context, parameter, typed)


def complete_receipt(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    """Offer receipts that are not done first."""
    with _project() as project:
        receipts = project.store.receipts(open_only=False) if project is not None else []
    matching = [one for one in receipts if one.key.startswith(typed)]
    return _items((one.key, one.state) for one in sorted(matching, key=lambda one: one.state == "done"))


def complete_setting(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    from recall.config.schema import SECTIONS, TOP

    known = {key.name: key.meaning for key in TOP}
    for section in SECTIONS:
        known |= {f"{section.name}.{key.name}": key.meaning for key in section.keys}
    return _items((name, meaning) for name, meaning in known.items() if name.startswith(typed))


@contextmanager
def _project() -> Generator[Project | None]:
    """Open the project around the current folder; None where there is none that works, or nothing was imported."""
    from pathlib import Path

    from recall.bootstrap import settings_at, state_dir
    from recall.cli.project import opened_project
    from recall.gitops.locate import locate

    try:
        location = locate(Path.cwd())
        known = (state_dir(location, settings_at(location)) / "recall.db").is_file()
    except (RecallError, OSError):
        known = False
    if not known:
        yield None
        return
    try:
        with opened_project() as project:
            yield project
    except RecallError:
        yield None


def _items(found: Iterable[tuple[str, str]]) -> list[CompletionItem]:
    from itertools import islice

    from click.shell_completion import CompletionItem

    from recall.domain.text import clean_line, clip

    return [CompletionItem(name, help=clip(clean_line(words), 60) or None) for name, words in islice(found, _MOST)]


def _is_over(task: Task) -> bool:
    return task.state in ("done", "cancelled")
