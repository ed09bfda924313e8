"""`recall status`: does anything wait for me, what is running, what comes next."""

from __future__ import annotations

import time

import click

from recall.cli.project import Project, opened_project
from recall.cli.report import plain_terminal, redraw, say, say_json

_POLL_SECONDS = 0.5


@click.command(
    epilog="""\b
Examples:
  recall status            once
  recall status --all      with every task
  recall status --watch    again whenever something changes, until Ctrl-C
  recall status --json     for programs"""
)
@click.option("--watch", is_flag=True, help="Show it again whenever something changes.")
@click.option("--all", "every", is_flag=True, help="List every task, done ones too.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON; with --watch one line each time.")
def status(watch: bool, every: bool, as_json: bool) -> None:
    """Show agents, tasks, merge queue and what needs you."""
    with opened_project() as project:
        _show(project, every, as_json, watch)
        while watch:
            _wait_for_change(project, still_for=_REDRAW_POLLS if not as_json else None)
            _show(project, every, as_json, watch)


#: Elapsed times are shown anew after so many polls without a change.
_REDRAW_POLLS = 10


def _show(project: Project, every: bool, as_json: bool, watch: bool) -> None:
    from recall.cli.summary import observe, summary_json, summary_lines

    summary = observe(project)
    if as_json:
        say_json(summary_json(summary), compact=watch)
        return
    text = "\n".join(summary_lines(summary, every=every, ascii_only=plain_terminal()))
    if watch:
        redraw(text)
    else:
        say(text)


def _wait_for_change(project: Project, still_for: int | None) -> None:
    seen, polls = project.store.data_version(), 0
    while project.store.data_version() == seen and polls != still_for:
        time.sleep(_POLL_SECONDS)
        polls += 1
