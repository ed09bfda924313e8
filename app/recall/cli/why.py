"""`recall why`: one sentence about one thing."""

from __future__ import annotations

import click

from recall.cli.names import complete_task_or_agent
from recall.cli.project import opened_project, unknown
from recall.cli.report import Refusal, say, say_json


@click.command(epilog="Examples: recall why T-12, recall why web:T-3, recall why gemini")
@click.argument("name", metavar="ID", shell_complete=complete_task_or_agent)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def why(name: str, as_json: bool) -> None:
    """Say why a task or an agent is not moving: the one rule that holds it."""
    from recall.cli.summary import observe
    from recall.domain.overview import agent_doing
    from recall.domain.overview import why as why_task_moves_not
    from recall.domain.task import TaskRef

    with opened_project() as project:
        summary = observe(project)
    ref = TaskRef.parse(name)
    task = next((task for task in summary.tasks if task.ref == ref), None)
    if task is not None:
        _say(str(task.ref), why_task_moves_not(task, summary), as_json=as_json)
        return
    agent = next((agent for agent in summary.agents if agent.name == name), None)
    if agent is None:
        names = [str(task.ref) for task in summary.tasks] + [agent.name for agent in summary.agents]
        raise Refusal(unknown("task or agent", name, names))
    _say(agent.name, agent_doing(agent, summary), as_json=as_json)


def _say(subject: str, reason: str, *, as_json: bool) -> None:
    if as_json:
        say_json({"subject": subject, "why": reason})
    else:
        say(f"{subject}: {reason}")
