"""`recall import`: a person brings the store in line with the task lists."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recall.cli.names import complete_region
from recall.cli.project import Project, introduce_agents, opened_project
from recall.cli.report import ACTOR, ExitCode, Stop, say, say_json, warn
from recall.config.settings import TaskList
from recall.config.values import is_name, region_of
from recall.domain.errors import ConfigError
from recall.domain.frozen import frozen
from recall.domain.imports import ImportDiff
from recall.domain.task import TaskRef

if TYPE_CHECKING:
    from recall.tasklist import TaskList as ParsedList


@frozen
class _Source:
    """One file to import. `shown` is how the person names it."""

    region: str
    file: Path
    shown: str


@click.command(
    "import",
    epilog="""\b
Examples:
  recall import                               every list of recall.toml
  recall import --dry-run                     show what would change
  recall import --region web web/TASKS.md     one more list, as region `web`
  recall import --dry-run --json TASKS.md     only read a file; needs no repository""",
)
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--region", metavar="R", shell_complete=complete_region, help="The region that FILE's tasks belong to.")
@click.option("--dry-run", is_flag=True, help="Show what would change and write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def import_tasks(file: Path | None, region: str | None, dry_run: bool, as_json: bool) -> None:
    """Bring the store in line with the task lists; shows what changes.

    All or nothing: a list with an error changes nothing, and every problem is named with file, line and column.
    Tasks that vanished from a list are cancelled when they have not been started.
    """
    if region is not None and not is_name(region):
        raise ConfigError(f'{region!r} cannot name a region: use letters, digits, ".", "_" and "-"')
    if region is not None and file is None:
        raise ConfigError("--region says what a FILE's tasks belong to; name the file too")
    if file is not None and dry_run and as_json:
        _read_only(_Source(region or region_of(str(file)), file, str(file)))
        return
    with opened_project() as project:
        sources = [_named(project, file, region)] if file is not None else _configured(project)
        parsed = [(source, _parse(source, _agent_names(project))) for source in sources]
        _stop_at_errors(parsed)
        if not dry_run:
            introduce_agents(project)
        diffs = [(source, _bring_in(project, source, each, dry_run)) for source, each in parsed]
    if as_json:
        say_json({source.region: _diff_json(diff) for source, diff in diffs})
    else:
        for source, diff in diffs:
            _show(source, diff, dry_run)
    if any(diff.refused for _, diff in diffs):
        raise Stop(ExitCode.BAD_CONFIG)


def _read_only(source: _Source) -> None:
    from recall.tasklist import as_json

    parsed = _parse(source, ())
    say_json(as_json(parsed))
    if not parsed.ok:
        raise Stop(ExitCode.BAD_CONFIG)


def _parse(source: _Source, agents: tuple[str, ...]) -> ParsedList:
    from recall.tasklist import parse

    try:
        data = source.file.read_bytes()
    except OSError as broken:
        raise ConfigError(f"{source.shown} cannot be read: {broken.strerror}") from broken
    return parse(data, region=source.region, source=source.shown, agents=agents)


def _agent_names(project: Project) -> tuple[str, ...]:
    return tuple(agent.name for agent in project.settings.agents)


def _configured(project: Project) -> list[_Source]:
    folder = project.settings.file.parent
    return [_Source(each.region, folder / each.path, each.path) for each in project.settings.tasks]


def _named(project: Project, file: Path, region: str | None) -> _Source:
    """A file that recall.toml lists has its region from there."""
    folder = project.settings.file.parent
    listed = [each for each in project.settings.tasks if (folder / each.path).resolve() == file.resolve()]
    chosen = region or (listed[0].region if listed else region_of(str(file)))
    if not is_name(chosen):
        raise ConfigError(f"the name of {file} cannot name a region; add --region R")
    if not listed:
        _hint_watched(project.settings.tasks, chosen, file)
    return _Source(chosen, file, str(file))


def _hint_watched(lists: tuple[TaskList, ...], region: str, file: Path) -> None:
    rows = ", ".join(f'{each.region} = "{each.path}"' for each in lists)
    warn(f'{file} is not watched for changes: write tasks = {{ {rows}, {region} = "{file}" }} in recall.toml')


def _stop_at_errors(parsed: list[tuple[_Source, ParsedList]]) -> None:
    for source, each in parsed:
        for problem in each.problems:
            warn(f"{source.shown}:{problem.line}:{problem.column}: {problem.severity}: {problem.message}")
    if not all(each.ok for _, each in parsed):
        raise ConfigError("nothing was imported; mend the list and run `recall import` again")


def _bring_in(project: Project, source: _Source, parsed: ParsedList, dry_run: bool) -> ImportDiff:
    return project.store.import_tasks(source.region, parsed.tasks, actor=ACTOR, cancel_vanished=True, dry_run=dry_run)


def _diff_json(diff: ImportDiff) -> dict[str, object]:
    return {
        "new": [str(ref) for ref in diff.new],
        "changed": [str(ref) for ref in diff.changed],
        "vanished": [str(ref) for ref in diff.vanished],
        "returned": [str(ref) for ref in diff.returned],
        "unchanged": diff.unchanged,
        "warnings": list(diff.warnings),
        "refused": list(diff.refused),
    }


def _show(source: _Source, diff: ImportDiff, dry_run: bool) -> None:
    for message in diff.refused:
        warn(f"{source.shown}: error: {message}")
    if diff.refused:
        return
    would = " (dry run: nothing was written)" if dry_run else ""
    say(f"{source.shown} -> region {source.region}{would}")
    for line in _diff_lines(diff):
        say(line)
    for warning in diff.warnings:
        warn(f"{source.shown}: warning: {warning}")


def _diff_lines(diff: ImportDiff) -> Iterator[str]:
    kinds = (("new", diff.new), ("changed", diff.changed), ("vanished", diff.vanished), ("returned", diff.returned))
    for word, refs in kinds:
        if refs:
            yield f"  {word:<9} {len(refs):>5}  {_listed(refs)}"
    yield f"  unchanged {diff.unchanged:>5}"


def _listed(refs: tuple[TaskRef, ...], most: int = 12) -> str:
    shown = ", ".join(str(ref) for ref in refs[:most])
    return shown + (f", … and {len(refs) - most} more" if len(refs) > most else "")
