"""`recall report`: what happened while nobody looked, and what to do next."""

from __future__ import annotations

import click

from recall.cli.project import opened_project
from recall.cli.report import say, say_json

_SINCE = "From when on: 22:00, 8h, yesterday, 2026-12-24, 2026-12-24T18:00."


@click.command(
    epilog="""\b
Examples:
  recall report                           the last 24 hours
  recall report --since 22:00             since the last 22:00
  recall report --since 2d > report.md    as a page that GitHub shows too
  recall report --format json             for programs; so does --json"""
)
@click.option("--since", default="24h", show_default=True, metavar="WHEN", help=_SINCE)
@click.option("--format", "form", type=click.Choice(["md", "json"]), default="md", show_default=True,
              help="Markdown, or JSON for programs.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON; the same as --format json.")
def report(since: str, form: str, as_json: bool) -> None:
    """Report what landed, what failed and what waits for you."""
    from recall.cli.report_text import report_json, report_markdown
    from recall.cli.since import moment_before
    from recall.cli.summary import observe
    from recall.domain.figures.words import day
    from recall.engine.past import read_past, read_report
    from recall.gitops.diff_sizes import diff_sizes

    with opened_project() as project:
        begin = moment_before(since, project.clock.now().wall)
        past = read_past(project.store, project.settings, project.clock, begin)
        common_dir = project.location.common_dir
        made = read_report(
            project.store,
            past,
            observe(project),
            measure=lambda changes: diff_sizes(common_dir, changes),
            day_of=day,
        )
    if as_json or form == "json":
        say_json(report_json(made))
    else:
        say("\n".join(report_markdown(made)))
