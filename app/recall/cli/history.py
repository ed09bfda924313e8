"""What happened: the event log, runs, and everything about one task or run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import click

from recall.cli.names import complete_agent, complete_task
from recall.cli.output import print_output, run_named
from recall.cli.project import Project, known_task, opened_project, unknown
from recall.cli.report import Refusal, say, say_json
from recall.cli.words import clock_time, columns
from recall.domain.event import Event
from recall.domain.frozen import frozen
from recall.domain.run import Run
from recall.domain.stream.spending import dollars, spending_of, spending_words
from recall.domain.task import Task, TaskRef
from recall.domain.text import clean_line
from recall.domain.words import done_mark, elapsed, task_word

_POLL_SECONDS = 0.5
_PAGE = 1000


@click.command(
    epilog="""\b
Examples:
  recall log                    the last 30 events
  recall log --task T-12 -n 0   everything about one task
  recall log --follow           go on printing, until Ctrl-C
  recall log T-12               what its latest run put out
  recall log 41 --raw           what run 41 put out, as it came"""
)
@click.argument("name", metavar="[ID]", required=False, shell_complete=complete_task)
@click.option("--task", "task_id", metavar="ID", help="Only events of this task.")
@click.option("--agent", metavar="NAME", shell_complete=complete_agent, help="Only events of this agent.")
@click.option("-n", "limit", default=30, show_default=True, help="How many of the last events; 0 means all.")
@click.option("--follow", is_flag=True, help="Go on printing as things happen.")
@click.option("--raw", is_flag=True, help="Print a run's output as it came, not its events as people read them.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def log(
    name: str | None, task_id: str | None, agent: str | None, limit: int, follow: bool, raw: bool, as_json: bool
) -> None:
    """Print the event log: who did what, and why.

    With an ID, print what the task's latest run put out.

    A plain number that names no task is a run.
    """
    with opened_project() as project:
        if name is not None:
            print_output(project, run_named(project, name), raw=raw, follow=follow, as_json=as_json)
            return
        store = project.store
        ref = known_task(store, task_id).ref if task_id else None
        pick = _Pick(ref, agent)
        seq = 0 if ref or agent or limit == 0 else max(0, store.last_seq() - limit)
        events = list(_events_after(project, seq))
        for event in [event for event in events if pick.takes(event)][-limit:]:
            _print_event(event, as_json)
        while follow:
            seq = max([seq, *(event.seq for event in events)])
            time.sleep(_POLL_SECONDS)
            events = list(_events_after(project, seq))
            for event in filter(pick.takes, events):
                _print_event(event, as_json)


@frozen
class _Pick:
    """Which events were asked for; None means all."""

    ref: TaskRef | None
    agent: str | None

    def takes(self, event: Event) -> bool:
        right_task = self.ref is None or (event.region, event.task) == self.ref
        return right_task and self.agent in (None, event.agent)


def _events_after(project: Project, seq: int) -> Iterator[Event]:
    while page := project.store.events_since(seq, _PAGE):
        yield from page
        seq = page[-1].seq


def _print_event(event: Event, as_json: bool) -> None:
    if as_json:
        say_json(asdict(event), compact=True)
        return
    what = str(TaskRef(event.region, event.task)) if event.region and event.task else event.agent or ""
    move = f"{event.before} -> {event.after}" if event.before and event.after else event.after or ""
    details = "  ".join(part for part in (what, move, clean_line(event.reason)) if part)
    say(f"{event.seq:>6}  {clock_time(event.at)}  {event.actor:<12}  {event.kind:<18}  {details}")


@click.command(epilog="Examples: recall runs, recall runs T-12")
@click.argument("task_id", metavar="[ID]", required=False, shell_complete=complete_task)
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def runs(task_id: str | None, as_json: bool) -> None:
    """List runs and how they came out."""
    with opened_project() as project:
        ref = known_task(project.store, task_id).ref if task_id else None
        found = project.store.runs(ref)
        now = project.clock.now().wall
    if as_json:
        say_json([run_json(run) for run in found])
        return
    if not found:
        say("no runs yet")
    for line in columns(_run_rows(found, now), indent=""):
        say(line)


def _run_rows(runs: Sequence[Run], now: float) -> list[tuple[str, ...]]:
    """A row a run, with its price if any of them has one."""
    priced = any(run.cost_usd is not None for run in runs)
    return [_run_row(run, now, dollars(run.cost_usd) if priced else None) for run in runs]


def _run_row(run: Run, now: float, price: str | None) -> tuple[str, ...]:
    began = run.started_at or run.claimed_at
    length = elapsed((run.ended_at or run.settled_at or now) - began)
    came_out = run.result.value if run.result else run.state.value
    head = str(run.id), str(run.ref), run.agent, f"run {run.number}", clock_time(began), length
    return *head, *(() if price is None else (price,)), came_out, run.reason


def run_json(run: Run) -> dict[str, object]:
    """A run for programs, without the token-like parts of its lease."""
    hidden = {"owner", "version"}
    return {name: value for name, value in asdict(run).items() if name not in hidden}


@click.command(epilog="Examples: recall show T-12, recall show 41")
@click.argument("name", metavar="ID", shell_complete=complete_task)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def show(name: str, as_json: bool) -> None:
    """Show everything known about a task or a run.

    A plain number that names no task is a run.
    """
    with opened_project() as project:
        task = project.store.task(TaskRef.parse(name))
        run = project.store.run(int(name)) if task is None and name.isdecimal() else None
        if task is not None:
            _show_task(project, task, as_json)
        elif run is not None:
            _show_run(project, run, as_json)
        else:
            raise Refusal(unknown("task or run", name, (str(task.ref) for task in project.store.tasks())))


def _show_task(project: Project, task: Task, as_json: bool) -> None:
    from recall.cli.summary import observe
    from recall.domain.overview import why

    found = project.store.runs(task.ref)
    if as_json:
        say_json({**asdict(task), "runs": [run_json(run) for run in found]})
        return
    summary = observe(project)
    say(f"{task.ref}  {task.title}")
    for label, value in _facts(task, why(task, summary)):
        say(f"  {label:<14} {value}")
    if task.body.strip():
        say(f"\n{task.body.strip()}")
    if found:
        say("\nRuns")
    for line in columns(_run_rows(found, summary.now)):
        say(line)


def _facts(task: Task, reason: str) -> Iterator[tuple[str, str]]:
    yield "state", task_word(task) + done_mark(task)
    yield "why", reason
    yield "type", f"{task.type}, priority {task.priority}"
    if task.prerequisites:
        yield "after", ", ".join(str(ref) for ref in task.prerequisites)
    if task.agents:
        yield "agents", ", ".join(task.agents)
    if task.touches:
        yield "touches", ", ".join(task.touches)
    if task.verify:
        yield "verify", task.verify
    if task.attempts or task.interruptions:
        yield "used", f"{task.attempts} attempts, {task.interruptions} interruptions"
    if task.lease_owner:
        yield "held by", f"{task.lease_owner} (version {task.lease_version})"
    if task.done_commit:
        yield "commit", task.done_commit


def _show_run(project: Project, run: Run, as_json: bool) -> None:
    if as_json:
        say_json(run_json(run))
        return
    say(f"run {run.id}: {run.agent} on {run.ref}, the task's run number {run.number}")
    facts = (
        ("state", run.state.value + (f", {run.result.value}" if run.result else "")),
        ("reason", run.reason),
        ("chosen because", run.why),
        ("branch", run.branch or ""),
        ("base", run.base or ""),
        ("claimed", clock_time(run.claimed_at)),
        ("started", clock_time(run.started_at) if run.started_at else ""),
        ("ended", clock_time(run.ended_at) if run.ended_at else ""),
        ("session", run.session or ""),
        ("used", spending_words(spending_of(run))),
        ("output", str(project.state / "runs" / str(run.id)) if run.slot else ""),
    )
    for label, value in facts:
        if value:
            say(f"  {label:<14} {value}")
