"""`recall doctor`: one look after another, printed as lines or JSON, and with `--fix` mended."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import click

from recall.cli.doctor.agents import look_at_agents
from recall.cli.doctor.finding import Finding, Grade, wrong
from recall.cli.doctor.leftovers import look_at_processes, look_at_workspaces
from recall.cli.doctor.lists import look_at_lists
from recall.cli.doctor.machine import look_at_clock, look_at_machine
from recall.cli.doctor.remote import look_at_remote
from recall.cli.doctor.repository import look_at_git_settings, look_at_repository, look_at_state
from recall.cli.doctor.sandbox import look_at_sandbox
from recall.cli.doctor.stored import look_at_store
from recall.cli.project import Project, opened_project
from recall.cli.report import ExitCode, plain_terminal, say, say_json
from recall.cli.words import columns
from recall.domain.errors import RecallError

_LOOKS: tuple[tuple[str, Callable[[Project], Iterator[Finding]]], ...] = (
    ("machine", look_at_machine),
    ("clock", look_at_clock),
    ("state folder", look_at_state),
    ("repository", look_at_repository),
    ("git settings", look_at_git_settings),
    ("remote", look_at_remote),
    ("store", look_at_store),
    ("sandbox", look_at_sandbox),
    ("agents", look_at_agents),
    ("task list", look_at_lists),
    ("processes", look_at_processes),
    ("workspaces", look_at_workspaces),
)
#: Unicode and ASCII.
_MARKS = {Grade.FINE: ("✓", "+"), Grade.NOTE: ("·", "."), Grade.WRONG: ("✗", "x")}


@click.command(
    epilog="""\b
Examples:
  recall doctor           everything, a line each
  recall doctor --fix     mend what is safe to mend, then look again
  recall doctor --json    for programs"""
)
@click.option("--fix", is_flag=True, help="Mend what can be mended without losing anything.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.pass_context
def doctor(context: click.Context, fix: bool, as_json: bool) -> None:
    """Look for what would keep Recall from working well here.

    Starts no agent (it asks agent programs for their version and help) and changes nothing without --fix. Exit
    code 1: something must be mended.
    """
    with opened_project() as project:
        findings = list(examine(project))
        mended = _mend(findings) if fix else []
        if mended:
            findings = list(examine(project))
    if as_json:
        say_json({"mended": mended, "findings": [_as_json(finding) for finding in findings]})
    else:
        _print(findings, mended)
    context.exit(ExitCode.OK if all(finding.good for finding in findings) else ExitCode.REFUSED)


def examine(project: Project) -> Iterator[Finding]:
    """Look at one thing after another; none of them can keep the next from being looked at."""
    for about, look in _LOOKS:
        try:
            yield from look(project)
        except RecallError as trouble:
            yield wrong(about, str(trouble))


def _mend(findings: Sequence[Finding]) -> list[str]:
    return [_mended(finding.fix) for finding in findings if finding.fix is not None]


def _mended(fix: Callable[[], str]) -> str:
    try:
        return fix()
    except RecallError as trouble:
        return f"not mended: {trouble}"


def _print(findings: Sequence[Finding], mended: Sequence[str]) -> None:
    for sentence in mended:
        say(f"  {sentence}")
    ascii_only = plain_terminal()
    say("\n".join(columns([_row(finding, ascii_only) for finding in findings])))
    wrongs = [finding for finding in findings if not finding.good]
    if any(finding.fix is not None for finding in wrongs):
        say("`recall doctor --fix` mends what is marked (fix)")


def _row(finding: Finding, ascii_only: bool) -> tuple[str, str, str]:
    mend = f"; {finding.mend}" if finding.mend and finding.grade is not Grade.FINE else ""
    what = finding.what + mend + (" (fix)" if finding.fix else "")
    return (_MARKS[finding.grade][ascii_only], finding.about, what)


def _as_json(finding: Finding) -> dict[str, object]:
    return {
        "about": finding.about,
        "good": finding.good,
        "grade": finding.grade.value,
        "what": finding.what,
        "mend": finding.mend,
        "fixable": finding.fix is not None,
    }
