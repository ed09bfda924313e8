"""`recall agents`: who may work, what holds them, how well they do; what a person chooses for one of them."""

from __future__ import annotations

from dataclasses import replace

import click

from recall.cli.names import complete_agent
from recall.cli.project import known_agent, opened_project
from recall.cli.report import ACTOR, accept, plain_terminal, say, say_json
from recall.cli.words import columns
from recall.domain.agent import Agent, Weight
from recall.domain.words import chosen_words, glyph
from recall.engine import interventions


@click.group(
    invoke_without_command=True,
    epilog="""\b
Examples:
  recall agents                          who may work, what holds them, how well they do
  recall agents set gemini --disable     nothing new for it, whatever recall.toml says
  recall agents set claude --parallel 3  three tasks at once
  recall agents set claude --reset       as recall.toml says again
  recall agents --type docs              who does best at one type of task
  recall agents weigh codex docs 0.9     trust it more than its record says
  recall agents forget codex docs        begin anew with it""",
)
@click.option("--type", "type_", metavar="T", help="Only the record of this task type, the best agent first.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
@click.pass_context
def agents(context: click.Context, type_: str | None, as_json: bool) -> None:
    """List the agents with their state and weights.

    A weight, from 0 to 1, is how much an agent is trusted with a task type; each starts at 0.5. Beside it stands
    how many of its runs landed, and where the true share lies with 95 % confidence. A share of the choices
    (`explore` in recall.toml) goes to others than the best, so that a record can change.
    """
    if context.invoked_subcommand is None:
        _list(as_json, type_)
    elif as_json or type_:
        raise click.UsageError("--json and --type go with the list: `recall agents --type T --json`")


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


@agents.command(epilog="Example: recall agents weigh codex docs 0.9")
@click.argument("name", shell_complete=complete_agent)
@click.argument("type_", metavar="TYPE")
@click.argument("weight", type=click.FloatRange(0, 1))
def weigh(name: str, type_: str, weight: float) -> None:
    """Trust an agent with a task type by so much, from 0 to 1; its record stays."""
    with opened_project() as project:
        known = known_agent(project, name)
        accept(interventions.set_weight(project.store, known, type_, weight, actor=ACTOR))
    say(f"{known} has weight {weight:.2f} for {type_}")


@agents.command(epilog="Example: recall agents forget codex docs")
@click.argument("name", shell_complete=complete_agent)
@click.argument("type_", metavar="TYPE")
def forget(name: str, type_: str) -> None:
    """Begin anew with an agent and a task type: weight 0.5, no runs."""
    with opened_project() as project:
        known = known_agent(project, name)
        accept(interventions.forget_record(project.store, known, type_, actor=ACTOR))
    say(f"{known} has no record of {type_} any more")


def _list(as_json: bool, type_: str | None) -> None:
    from recall.cli.summary import agent_json, observe
    from recall.domain.overview import agent_doing, agent_word
    from recall.domain.schedule import score

    with opened_project() as project:
        summary = observe(project)
    if type_ is not None:
        ranked = sorted(summary.agents, key=lambda agent: -score(agent.weight(type_)))
        only = [replace(agent, weights={type_: agent.weight(type_)}) for agent in ranked]
        summary = replace(summary, agents=tuple(only))
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
    shown = [f"{type_} {weight.value:.2f} ({_record(weight)})" for type_, weight in sorted(agent.weights.items())]
    return ", ".join(shown) or "no record yet"


def _record(weight: Weight) -> str:
    if not weight.runs:
        return "no runs"
    low, high = weight.interval
    return f"{weight.landed} of {weight.runs} landed, {low:.0%} to {high:.0%}"
