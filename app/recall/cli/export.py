"""`recall export`: the task lists with the states that the store knows."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from recall.cli.names import complete_region
from recall.cli.project import Project, opened_project
from recall.cli.report import say, say_json
from recall.config.settings import TaskList
from recall.domain.errors import ConfigError
from recall.domain.frozen import frozen
from recall.domain.text import clean_bytes
from recall.whole_files import replace_file


@click.command(
    epilog="""\b
Examples:
  recall export             print the lists as they stand
  recall export --write     bring the boxes in the files up to date"""
)
@click.option("--region", metavar="R", shell_complete=complete_region, help="Only this region's list.")
@click.option("--write", is_flag=True, help="Write into the files: boxes and status fields only.")
@click.option("--json", "as_json", is_flag=True, help="Print region, path, text and whether it was written as JSON.")
def export(region: str | None, write: bool, as_json: bool) -> None:
    """Print the task lists with their current states.

    With --write the files are changed in place: boxes, signs and status fields of tasks whose state differs;
    every other byte stays.
    """
    with opened_project() as project:
        exported = [_export(project, task_list, write=write) for task_list in _chosen(project, region)]
    if as_json:
        say_json([asdict(one) for one in exported])
        return
    for one in exported:
        say(one.said if write else one.text.rstrip("\n"))


def _chosen(project: Project, region: str | None) -> list[TaskList]:
    lists = [one for one in project.settings.tasks if region in (None, one.region)]
    if not lists:
        known = ", ".join(one.region for one in project.settings.tasks)
        raise ConfigError(f"recall.toml has no list for region {region}; it has {known}")
    for one in lists:
        file = project.settings.file.parent / one.path
        if not file.is_file():
            raise ConfigError(f"{file} is not there; expected the task list of region {one.region}")
    return lists


@frozen
class _Exported:
    region: str
    path: str
    text: str
    changed_lines: int
    written: bool

    @property
    def said(self) -> str:
        if not self.written:
            return f"{self.path}: as it is"
        return f"{self.path}: {self.changed_lines} line{'s' if self.changed_lines != 1 else ''} brought up to date"


def _export(project: Project, task_list: TaskList, *, write: bool) -> _Exported:
    from recall.tasklist import render_status

    file = project.settings.file.parent / task_list.path
    before = file.read_bytes()
    states = {task.id: task.state for task in project.store.tasks() if task.region == task_list.region}
    after = render_status(before, states)
    written = write and after != before
    if written:
        _replace(file, after)
    changed = sum(old != new for old, new in zip(before.splitlines(), after.splitlines(), strict=False))
    return _Exported(task_list.region, task_list.path, clean_bytes(after), changed, written)


def _replace(file: Path, data: bytes) -> None:
    """Write a file anew without a moment in which it is missing or half there; its mode stays."""
    target = file.resolve()
    replace_file(target, data, mode=target.stat().st_mode & 0o7777)
