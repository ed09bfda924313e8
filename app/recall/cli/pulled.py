"""What an agent says of its own run: still at it, done, failed, a question, given back.

An agent that Recall started has a slot and speaks through its run mailbox, which needs neither the store nor
any variable. An agent that a person drives (`recall next`) has a claim in the store and speaks to it directly.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import click

from recall.agents.mailbox import Accepted, Declined, MailboxError, Slot, find_slot, write_report
from recall.cli.names import complete_agent, complete_task
from recall.cli.report import ExitCode, Refusal, Stop, say

Command = Callable[..., None]


def _whose(command: Command) -> Command:
    """The options that say which run is meant; none is needed inside a workspace."""
    options = (
        click.option("--slot", type=click.Path(path_type=Path), help="The slot folder that the prompt names."),
        click.option(
            "--task",
            "task_id",
            metavar="ID",
            shell_complete=complete_task,
            help="The task, for a claim made by `recall next`.",
        ),
        click.option(
            "--agent",
            metavar="NAME",
            shell_complete=complete_agent,
            help="The agent, for a claim made by `recall next`.",
        ),
        click.option("--run", "run_id", type=int, metavar="N", help="The run that `recall next` printed."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command(epilog="Example: recall heartbeat --agent claude --task T-12")
@_whose
def heartbeat(slot: Path | None, task_id: str | None, agent: str | None, run_id: int | None) -> None:
    """Keep the claim of a task alive.

    Agents that Recall started need not do this: their claim is renewed as long as they run. Exit code 11: the task
    is not yours any more, stop working on it.
    """
    if (here := _slot(slot, task_id, agent, run_id)) is not None:
        _report(here, "heartbeat", task_id)
        return
    from recall.cli.claims import renew
    from recall.cli.words import clock_time

    say(f"yours until {clock_time(renew(task_id, agent, run_id))}")


@click.command(
    epilog="""\b
Examples:
  recall outcome --result success                    inside a workspace
  recall outcome --result failure --summary "needs a newer compiler"
  recall outcome --agent claude --task T-12 --result success --branch my-branch
  recall outcome --agent claude --task T-12 --result success --no-merge"""
)
@click.option("--result", required=True, type=click.Choice(["success", "failure", "question"]))
@click.option("--summary", default="", metavar="TEXT", help="What was done, what failed, or the question.")
@click.option("--branch", metavar="B", help="Pull mode: the branch that holds the work, to be verified and landed.")
@click.option("--no-merge", is_flag=True, help="Pull mode: done without a commit of ours; marked so.")
@_whose
def outcome(
    result: str,
    summary: str,
    branch: str | None,
    no_merge: bool,
    slot: Path | None,
    task_id: str | None,
    agent: str | None,
    run_id: int | None,
) -> None:
    """Report how a task came out.

    Inside a workspace commit first, then report; the work is verified before it lands. The last report before the
    end counts. Exit code 11: the task is not yours any more, stop working on it.
    """
    if (here := _slot(slot, task_id, agent, run_id)) is not None:
        if branch is not None or no_merge:
            raise Refusal(
                "--branch and --no-merge are for claims made by `recall next`; here the workspace's commits count"
            )
        _report(here, result, task_id, summary)
        return
    from recall.cli import claims

    say(claims.settle(result, summary, branch, no_merge, task_id, agent, run_id))


@click.command(epilog='Example: recall ask "Keep the old flag as an alias?"')
@click.argument("question")
@_whose
def ask(question: str, slot: Path | None, task_id: str | None, agent: str | None, run_id: int | None) -> None:
    """Put a question to a person and end the run.

    The task waits until a person answers; nothing is held against the agent.
    """
    if (here := _slot(slot, task_id, agent, run_id)) is not None:
        _report(here, "question", task_id, question)
        return
    from recall.cli import claims

    say(claims.settle("question", question, None, False, task_id, agent, run_id))


@click.command(epilog="Example: recall release --agent claude --task T-12 --reason 'no time today'")
@click.option("--reason", default="given back", metavar="TEXT", help="Why; kept in the event log.")
@_whose
def release(reason: str, slot: Path | None, task_id: str | None, agent: str | None, run_id: int | None) -> None:
    """Give a claimed task back without using up an attempt."""
    if _slot(slot, task_id, agent, run_id) is not None:
        raise Refusal(
            "a run that Recall started is not given back but ended: "
            "`recall outcome --result failure --summary WHY`, or `recall ask QUESTION`"
        )
    from recall.cli.claims import give_back

    say(f"{give_back(task_id, agent, run_id, reason)} is claimable again")


def _slot(given: Path | None, task_id: str | None, agent: str | None, run_id: int | None) -> Slot | None:
    """The mailbox of a run that Recall started: the one given, the one around this folder, or the one that this
    process's variable or words name. None: the caller drives the agent, and may have said which claim it is by
    `run_id`."""
    if given is not None:
        return find_slot(given=given)
    if run_id is not None:
        return None
    try:
        return find_slot(start=Path.cwd())
    except MailboxError:
        return _slot_by_words(task_id, agent)


def _slot_by_words(task_id: str | None, agent: str | None) -> Slot | None:
    hint = os.environ.get("RECALL_RUN_ID", "")
    if not (hint or task_id or agent):
        return None
    try:
        slot = find_slot(roots=_slot_roots(), run_id=hint, agent=agent or "", task=task_id or "")
    except MailboxError:
        return None
    if str(slot.run_id) != hint:
        _check_not_both(slot, task_id, agent)
    return slot


def _check_not_both(slot: Slot, task_id: str | None, agent: str | None) -> None:
    """Words that fit a claim as well as a workspace name neither."""
    from recall.cli.claims import held_claims

    for run in held_claims(task_id, agent):
        raise Refusal(
            f"which run is meant? Give --slot {slot.folder} for run {slot.run_id} (task {slot.task}, {slot.agent}), "
            f"or --run {run.id} for the claim on {run.ref} by {run.agent}"
        )


def _slot_roots() -> list[Path]:
    from recall.bootstrap import settings_at
    from recall.domain.errors import ConfigError
    from recall.gitops.locate import locate

    try:
        location = locate(Path.cwd())
        return [location.workspaces_root(settings_at(location).workspaces.root) / "ws"]
    except ConfigError:
        return []


def _report(slot: Slot, result: str, task_id: str | None, text: str = "") -> None:
    question = text if result == "question" else ""
    answer = write_report(slot, result, summary="" if question else text, question=question, task=task_id or "")
    match answer:
        case Accepted():
            say("accepted")
        case Declined(reason, over):
            raise Stop(ExitCode.LEASE_LOST if over else ExitCode.REFUSED, f"refused: {reason}")
        case _:
            say("stored, not yet judged")
