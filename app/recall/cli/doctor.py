"""`recall doctor`: looks at everything that Recall stands on, and says how to mend what is wrong."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

import click

from recall.cli.project import Project, opened_project
from recall.cli.report import ExitCode, say, say_json
from recall.cli.words import columns
from recall.domain.errors import RecallError


@dataclass(frozen=True, slots=True)
class Finding:
    """`good` is False for what must be mended; `mend` says how."""

    about: str
    good: bool
    what: str
    mend: str = ""


@click.command(
    epilog="""\b
Examples:
  recall doctor           everything, a line each
  recall doctor --json    for programs"""
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.pass_context
def doctor(context: click.Context, as_json: bool) -> None:
    """Look for what would keep Recall from working well here.

    Starts no agent and changes nothing. Exit code 1: something must be mended.
    """
    with opened_project() as project:
        findings = list(examine(project))
    if as_json:
        say_json([asdict(finding) for finding in findings])
    else:
        say("\n".join(columns([_row(finding) for finding in findings])))
    context.exit(ExitCode.OK if all(finding.good for finding in findings) else ExitCode.REFUSED)


def _row(finding: Finding) -> tuple[str, str, str]:
    mend = f"; {finding.mend}" if finding.mend and not finding.good else ""
    return ("✓" if finding.good else "✗", finding.about, finding.what + mend)


def examine(project: Project) -> Iterator[Finding]:
    """Look at one thing after another; none of them can keep the next from being looked at."""
    looks: tuple[Callable[[Project], Iterator[Finding]], ...] = (_repository, _store, _agents, _lists, _strays)
    for look in looks:
        try:
            yield from look(project)
        except RecallError as trouble:
            yield Finding(look.__name__.strip("_"), False, str(trouble))


def _repository(project: Project) -> Iterator[Finding]:
    from recall.gitops.repository import Repository, check_file_system

    check_file_system(project.state)
    yield Finding("state folder", True, f"{project.state} on a local file system")
    Repository(project.location, project.settings.main, project.state).check()
    yield Finding("git", True, f"usable; main is {project.settings.main}")


def _store(project: Project) -> Iterator[Finding]:
    found = project.store.check()
    if not found:
        yield Finding("store", True, "consistent")
    for sentence in found:
        yield Finding("store", False, sentence, "please report it, and keep a copy of the state folder")


def _agents(project: Project) -> Iterator[Finding]:
    from recall.bootstrap import with_presets

    agents = with_presets(project.settings).agents
    if not agents:
        yield Finding("agents", False, "recall.toml has none", "add one under [agents.NAME]")
    for agent in agents:
        program = agent.command[0] if agent.command else ""
        path = shutil.which(program, path=None) or _beside(project, program)
        about = f"agent {agent.name}"
        if not agent.enabled:
            yield Finding(about, True, "disabled")
        elif path:
            yield Finding(about, True, f"starts {path}")
        else:
            yield Finding(about, False, f"`{program}` is not found", "install it, or name its path in `command`")


def _beside(project: Project, program: str) -> str | None:
    """Agents are started in a checkout of the repository, so a relative command is looked for there."""
    beside = project.settings.file.parent / program
    return str(beside) if "/" in program and beside.is_file() else None


def _lists(project: Project) -> Iterator[Finding]:
    from recall.tasklist import parse

    names = [agent.name for agent in project.settings.agents]
    for task_list in project.settings.tasks:
        file = project.settings.file.parent / task_list.path
        if not file.is_file():
            yield Finding("task list", False, f"{file} is not there", "write it, or correct `tasks` in recall.toml")
            continue
        errors = parse(file.read_bytes(), region=task_list.region, source=task_list.path, agents=names).errors
        first = f"{task_list.path}:{errors[0].line}: {errors[0].message}" if errors else ""
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        yield Finding("task list", not errors, first + more if errors else f"{task_list.path} can be read")


def _strays(project: Project) -> Iterator[Finding]:
    from recall.agents.runner import ProcessRunner

    runner = ProcessRunner(project.clock, project.rng)
    open_ids = {str(run.id) for run in project.store.open_runs()}
    folders = sorted((project.state / "runs").glob("*"))
    # set-up and verification commands (folders that are no number) belong to a dispatcher that waits for them
    over = [folder for folder in folders if folder.name.isdigit() and folder.name not in open_ids]
    strays = [folder for folder in over if runner.status(folder).live]
    if not strays:
        yield Finding("processes", True, "none is left of a run that is over")
    for folder in strays:
        what = f"run {folder.name} is over, but its processes live"
        yield Finding("processes", False, what, "the next start of recall-tui ends them")
