"""`recall next`: pull mode, in which a person drives the agent and Recall starts nothing."""

from __future__ import annotations

import click

from recall.cli.names import complete_agent
from recall.cli.project import Project, introduce_agents, opened_project
from recall.cli.report import ExitCode, Refusal, Stop, say, say_json
from recall.cli.words import clock_time
from recall.config.values import is_name
from recall.domain.run import Claim
from recall.domain.task import Task


@click.command(
    "next",
    epilog="""\b
Examples:
  recall next --agent claude           claim a task and print what to do
  recall next --agent claude --json    the same for programs

\b
Then work on a branch of your own and hand it in:
  recall outcome --agent claude --task T-12 --result success --branch my-branch""",
)
@click.option(
    "--agent", required=True, metavar="NAME", shell_complete=complete_agent, help="The agent that will do the work."
)
@click.option("--json", "as_json", is_flag=True, help="Print the claim as JSON.")
@click.option("--owner", metavar="ID", help="Who holds the lease; default: the agent's name and a random id.")
def next_task(agent: str, as_json: bool, owner: str | None) -> None:
    """Claim the next task for an agent that you drive yourself.

    Exit code 10: there is nothing for this agent now. The claim lasts for `lease.pull_ttl`; `recall heartbeat`
    extends it.
    """
    with opened_project() as project:
        name = _driven_agent(project, agent)
        holder = owner or f"{name}.{project.rng.token()}"
        claim = project.store.claim_next(
            name, holder, project.settings.lease.pull_ttl, why="asked for by `recall next`"
        )
        if claim is None:
            raise Stop(ExitCode.NOTHING_TO_CLAIM, _nothing(project, name))
        task = project.store.task(claim.ref)
    if task is None:
        raise Stop(ExitCode.REFUSED, f"{claim.ref} is gone from the store")
    if as_json:
        say_json(_as_json(claim, task))
    else:
        _show(claim, task)


def _driven_agent(project: Project, name: str) -> str:
    """Any name may claim, so that a person needs no configuration for it; one that looks mistyped may not."""
    introduce_agents(project)
    names = [agent.name for agent in project.store.agents()]
    if name not in names:
        _refuse_mistyped(name, names)
    return name


def _refuse_mistyped(name: str, names: list[str]) -> None:
    import difflib

    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if near or not is_name(name):
        hint = f"did you mean {near[0]}? Another agent is" if near else 'use letters, digits, ".", "_", "-"; it is'
        raise Refusal(f"there is no agent {name}; {hint} added under [agents.NAME] in recall.toml")


def _nothing(project: Project, agent: str) -> str:
    from recall.domain.schedule import why_agent

    snapshot = project.store.snapshot()
    known = next((each for each in snapshot.agents if each.name == agent), None)
    why = f": {why_agent(known, snapshot)}" if known is not None else ""
    return f"nothing to claim for {agent}{why}"


def _as_json(claim: Claim, task: Task) -> dict[str, object]:
    return {
        "task": claim.ref.id,
        "region": claim.ref.region,
        "agent": claim.agent,
        "owner": claim.owner,
        "version": claim.version,
        "expires_at": claim.expires_wall,
        "run_id": claim.run_id,
        "number": claim.number,
        "title": task.title,
        "body": task.body,
        "type": task.type,
        "touches": list(task.touches),
        "verify": task.verify,
    }


def _show(claim: Claim, task: Task) -> None:
    say(f"{claim.ref}  {task.title}")
    if task.body.strip():
        say(f"\n{task.body.strip()}")
    say(f"\nYours until {clock_time(claim.expires_wall)} (run {claim.run_id}). Work on a branch of your own, then:")
    say(f"  recall outcome --agent {claim.agent} --task {claim.ref} --result success --branch BRANCH")
