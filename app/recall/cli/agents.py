"""`recall agents`: who may work, what holds them, how well they do; what a person chooses for one of them."""

from __future__ import annotations

import click

from recall.cli.names import complete_agent
from recall.cli.project import known_agent, opened_project
from recall.cli.report import ACTOR, accept, plain_terminal, say, say_json
from recall.cli.words import columns
from recall.domain.agent import Agent
from recall.domain.words import chosen_words, glyph
from recall.engine import interventions


@click.group(
    invoke_without_command=True,
    epilog="""\b
Examples:
  recall agents                          who may work, what holds them, how well they do
  recall agents set gemini --disable     nothing new for it, whatever recall.toml says
  recall agents set claude --parallel 3  three tasks at once
  recall agents set claude --reset       as recall.toml says again""",
)
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
@click.pass_context
def agents(context: click.Context, as_json: bool) -> None:
    """List the agents with their state and weights.

    A weight, from 0 to 1, is how much an agent is trusted with a task type; each starts at 0.5.
    """
    if context.invoked_subcommand is None:
        _list(as_json)
    elif as_json:
        raise click.UsageError("--json goes with the list: `recall agents --json`")


@agents.command("set", epilog="Examples: recall agents set gemini --disable, recall agents set claude --parallel 3")
@click.argument("name", shell_complete=complete_agent)
@click.option("--enable/--disable", "enabled", default=None, help="Let it start tasks, or nothing new at all.")
@click.option("--parallel", type=click.IntRange(1), metavar="N", help="How many tasks it runs at once.")
@click.option("--reset", is_flag=True, help="Give up every earlier choice: as recall.toml says.")
def set_agent(name: str, enabled: bool | None, parallel: int | None, reset: bool) -> None:
    """Choose for one agent what wins over recall.toml, until --reset.

    What the agent runs goes on. A running dispatcher obeys at once.
    """
    if reset == (enabled is not None or parallel is not None):
        raise click.UsageError("give --enable, --disable or --parallel, or --reset alone")
    with opened_project() as project:
        known = known_agent(project, name)
        if reset:
            accept(interventions.reset_agent(project.store, known, actor=ACTOR))
        else:
            accept(interventions.choose_agent(project.store, known, actor=ACTOR, enabled=enabled, parallel=parallel))
        agent = next(one for one in project.store.agents() if one.name == known)
    say(f"{known}: {chosen_words(agent)}")


def _list(as_json: bool) -> None:
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
        (glyph(word, ascii_only=ascii_only), agent.name, word, _chosen(agent), _weights(agent), doing)
        for agent in summary.agents
        for word, doing in [(agent_word(agent, summary.now), agent_doing(agent, summary))]
    ]
    for line in columns(rows, indent=""):
        say(line)


def _chosen(agent: Agent) -> str:
    """Say what a person chose against recall.toml, and nothing of an agent without a choice."""
    chosen = agent.chosen_enabled is not None or agent.chosen_parallel is not None
    return chosen_words(agent) if chosen else ""


def _weights(agent: Agent) -> str:
    shown = [
        f"{type_} {weight.value:.2f} ({weight.landed} landed, {weight.failed} failed)"
        for type_, weight in sorted(agent.weights.items())
    ]
    return ", ".join(shown) or "no record yet"
