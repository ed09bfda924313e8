"""`recall export`: the task lists with the states that the store knows."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import click

from recall.cli.names import complete_region
from recall.cli.project import Project, opened_project
from recall.cli.report import say
from recall.config.settings import TaskList
from recall.domain.errors import ConfigError
from recall.domain.text import clean_bytes


@click.command(
    epilog="""\b
Examples:
  recall export             print the lists as they stand
  recall export --write     bring the boxes in the files up to date"""
)
@click.option("--region", metavar="R", shell_complete=complete_region, help="Only this region's list.")
@click.option("--write", is_flag=True, help="Write into the files: boxes and status fields only.")
def export(region: str | None, write: bool) -> None:
    """Print the task lists with their current states.

    With --write the files are changed in place: boxes, signs and status fields of tasks whose state differs;
    every other byte stays.
    """
    with opened_project() as project:
        for task_list in _chosen(project, region):
            _export(project, task_list, write=write)


def _chosen(project: Project, region: str | None) -> list[TaskList]:
    lists = [one for one in project.settings.tasks if region in (None, one.region)]
    if not lists:
        known = ", ".join(one.region for one in project.settings.tasks)
        raise ConfigError(f"recall.toml has no list for region {region}; it has {known}")
    return lists


def _export(project: Project, task_list: TaskList, *, write: bool) -> None:
    from recall.tasklist import render_status

    file = project.settings.file.parent / task_list.path
    if not file.is_file():
        raise ConfigError(f"{file} is not there; expected the task list of region {task_list.region}")
    before = file.read_bytes()
    states = {task.id: task.state for task in project.store.tasks() if task.region == task_list.region}
    after = render_status(before, states)
    if not write:
        say(clean_bytes(after).rstrip("\n"))
    elif after == before:
        say(f"{task_list.path}: as it is")
    else:
        _replace(file, after)
        changed = sum(old != new for old, new in zip(before.splitlines(), after.splitlines(), strict=False))
        say(f"{task_list.path}: {changed} line{'s' if changed != 1 else ''} brought up to date")


def _replace(file: Path, data: bytes) -> None:
    """Write a file anew without a moment in which it is missing or half there; its mode stays."""
    target = file.resolve()
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}-", delete=False) as copy:
        copy.write(data)
        copy.flush()
        os.fsync(copy.fileno())
    Path(copy.name).chmod(target.stat().st_mode & 0o7777)
    Path(copy.name).replace(target)
