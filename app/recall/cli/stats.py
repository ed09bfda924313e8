"""`recall stats`: what happened so far, in figures."""

from __future__ import annotations

import click

from recall.cli.project import opened_project
from recall.cli.report import plain_terminal, say, say_json

_SINCE = "Only from then on: 22:00, 8h, yesterday, 2026-12-24, 2026-12-24T18:00."


@click.command(
    epilog="""\b
Examples:
  recall stats                     everything since the first task
  recall stats --since 22:00       since the last 22:00
  recall stats --since 7d --json   the last week, for programs
  recall stats --prometheus        for a textfile collector: counters of all that ever happened"""
)
@click.option("--since", metavar="WHEN", help=_SINCE)
@click.option("--prometheus", is_flag=True, help="Print it in Prometheus' text format.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def stats(since: str | None, prometheus: bool, as_json: bool) -> None:
    """Show figures: landings, success, times, leases, limits, use."""
    from recall.cli.figures_text import figures_json, figures_lines
    from recall.cli.since import moment_before
    from recall.domain.figures.measure import figures_of
    from recall.domain.figures.words import day
    from recall.engine.past import read_past

    if prometheus and (since is not None or as_json):
        raise click.UsageError("--prometheus counts everything that ever happened; give it alone")
    with opened_project() as project:
        begin = moment_before(since, project.clock.now().wall) if since is not None else None
        past = read_past(project.store, project.settings, project.clock, begin)
        if prometheus:
            from recall.cli.prometheus import exposition
            from recall.cli.summary import observe

            say(exposition(figures_of(past, day), observe(project)).rstrip("\n"))
        elif as_json:
            say_json(figures_json(figures_of(past, day)))
        else:
            for line in figures_lines(figures_of(past, day), project.name, ascii_only=plain_terminal()):
                say(line)
