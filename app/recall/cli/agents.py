"""`recall agents`: who may work, what holds them, how well they do."""

from __future__ import annotations

import click

from recall.cli.project import opened_project
from recall.cli.report import plain_terminal, say, say_json
from recall.cli.words import columns
from recall.domain.agent import Agent
from recall.domain.words import glyph


@click.command(epilog="Example: recall agents --json")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def agents(as_json: bool) -> None:
    """List the agents with their state and weights.

    A weight, from 0 to 1, is how much an agent is trusted with a task type; each starts at 0.5.
    """
    from recall.cli.summary import agent_json, observe
    from recall.domain.overview import agent_doing, agent_word

    with opened_project() as project:
        summary = observe(project)
    if as_json:
        say_json([agent_json(agent, summary) for agent in summary.agents])
        return
    if not summary.agents:
        say("no agents yet: add [agents.NAME] to recall.toml")
    ascii_only = plain_terminal()
    rows = [
        (glyph(word, ascii_only=ascii_only), agent.name, word, _weights(agent), agent_doing(agent, summary))
        for agent in summary.agents
        for word in [agent_word(agent, summary.now)]
    ]
    for line in columns(rows, indent=""):
        say(line)


def _weights(agent: Agent) -> str:
    shown = [
        f"{type_} {weight.value:.2f} ({weight.landed} landed, {weight.failed} failed)"
        for type_, weight in sorted(agent.weights.items())
    ]
    return ", ".join(shown) or "no record yet"
