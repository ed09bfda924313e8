"""What a person can do to tasks and to dispatching from the command line. A running dispatcher and every screen
learn of it from the store."""

from __future__ import annotations

from collections.abc import Callable

import click

from recall.cli.names import complete_agent, complete_task
from recall.cli.project import known_agent, known_task, opened_project
from recall.cli.report import ACTOR, accept, say
from recall.domain.merge import QUEUE_HELD
from recall.domain.run import Refused
from recall.domain.task import TaskRef
from recall.engine import interventions
from recall.engine.ports import Store

_task = click.argument("task_id", metavar="ID", shell_complete=complete_task)
_reason = click.option("--reason", default="", metavar="TEXT", help="Why; kept in the event log.")


def _change(text: str, change: Callable[[Store, TaskRef], Refused | None], done: str) -> None:
    with opened_project() as project:
        task = known_task(project.store, text)
        accept(change(project.store, task.ref))
        say(f"{task.ref} {done}")


@click.command(epilog="Example: recall requeue T-12 --reason 'the registry is back'")
@_task
@_reason
def requeue(task_id: str, reason: str) -> None:
    """Make a task claimable again, with all its attempts.

    Attempts, interruptions and pauses are cleared; a waiting merge of it is turned away, its work is kept.
    """
    _change(
        task_id,
        lambda store, ref: interventions.requeue(store, ref, actor=ACTOR, reason=reason),
        "is claimable again",
    )


@click.command(epilog="Example: recall hold T-12 --reason 'wait for the design'")
@_task
@_reason
def hold(task_id: str, reason: str) -> None:
    """Keep a task from being started; stops it if it runs."""
    _change(
        task_id,
        lambda store, ref: interventions.hold(store, ref, actor=ACTOR, reason=reason),
        f"is on hold; `recall unhold {task_id}` lets it go on",
    )


@click.command(epilog="Example: recall unhold T-12")
@_task
def unhold(task_id: str) -> None:
    """Let a task on hold go on."""
    _change(task_id, lambda store, ref: interventions.unhold(store, ref, actor=ACTOR), "may go on")


@click.command(epilog="Example: recall cancel T-12 --reason 'not needed any more'")
@_task
@_reason
def cancel(task_id: str, reason: str) -> None:
    """Give a task up; its work is kept."""
    _change(
        task_id,
        lambda store, ref: interventions.cancel(store, ref, actor=ACTOR, reason=reason),
        f"is cancelled; `recall requeue {task_id}` brings it back",
    )


@click.command(epilog="Example: recall finish T-12 --reason 'merged by hand'")
@_task
@_reason
def finish(task_id: str, reason: str) -> None:
    """Mark a task as done that you did yourself.

    No commit of it is looked for or verified. If it runs, its agent is stopped; work of its runs is kept. What waits
    for it may begin.
    """
    _change(
        task_id,
        lambda store, ref: interventions.finish(store, ref, actor=ACTOR, reason=reason),
        f"is done, by your word; `recall requeue {task_id}` reopens it",
    )


@click.command(epilog="Example: recall prioritize T-12 10", context_settings={"ignore_unknown_options": True})
@_task
@click.argument("priority", type=int)
def prioritize(task_id: str, priority: int) -> None:
    """Change a task's priority; higher runs earlier."""
    _change(
        task_id,
        lambda store, ref: interventions.prioritize(store, ref, priority, actor=ACTOR),
        f"has priority {priority}",
    )


@click.command(epilog="Example: recall answer T-12 'Keep the old flag as an alias for one release.'")
@_task
@click.argument("text", nargs=-1, required=True)
def answer(task_id: str, text: tuple[str, ...]) -> None:
    """Answer the question that a task waits with.

    The task is claimable again at once, and its next attempt is told the question and the answer.
    """
    said = " ".join(text)
    _change(
        task_id,
        lambda store, ref: interventions.answer(store, ref, said, actor=ACTOR),
        "is claimable again; its next attempt is told your answer",
    )


@click.command(
    epilog="""\b
Examples:
  recall pause                      nothing new starts; what runs goes on
  recall pause grok --reason slow   this agent gets nothing new"""
)
@click.argument("agent", required=False, shell_complete=complete_agent)
@_reason
def pause(agent: str | None, reason: str) -> None:
    """Start nothing new: for one agent, or for all."""
    with opened_project() as project:
        if agent is None:
            accept(interventions.pause_dispatching(project.store, actor=ACTOR, reason=reason))
            say("dispatching is paused; what runs goes on. `recall resume` starts it again")
            return
        name = known_agent(project, agent)
        accept(interventions.pause_agent(project.store, name, actor=ACTOR, reason=reason))
        say(f"{agent} is paused; what it runs goes on. `recall resume {agent}` lets it start again")


@click.command(
    epilog="""\b
Examples:
  recall resume            dispatch again
  recall resume gemini     lift its pause, its cooldown, or what stopped it"""
)
@click.argument("agent", required=False, shell_complete=complete_agent)
def resume(agent: str | None) -> None:
    """Undo a pause or a cooldown.

    Without an agent also a merge queue that is held because main was rewritten goes on, from main as it is now.
    """
    with opened_project() as project:
        if agent is None:
            _resume_everything(project.store)
            return
        accept(interventions.resume_agent(project.store, known_agent(project, agent), actor=ACTOR))
        say(f"{agent} may start tasks again")


def _resume_everything(store: Store) -> None:
    held = store.setting(QUEUE_HELD)
    refused = interventions.resume_dispatching(store, actor=ACTOR)
    queue_refused = interventions.release_queue(store, actor=ACTOR)
    if refused and queue_refused:
        accept(Refused(f"{refused.reason}, and {queue_refused.reason}"))
    say("dispatching goes on" if not refused else "dispatching was not paused")
    if queue_refused is None:
        say(f"the merge queue goes on from main as it is now; it was held: {held}")
