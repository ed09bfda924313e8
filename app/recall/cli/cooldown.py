"""`recall cooldown`: let an agent wait, or end its waiting."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import click

from recall.cli.names import complete_agent
from recall.cli.project import Project, known_agent, opened_project
from recall.cli.report import ACTOR, accept, say, say_json
from recall.config.values import Unfit, positive_duration
from recall.domain.agent import Agent
from recall.domain.words import until
from recall.engine import interventions

_CLOCK_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")


@click.command(
    epilog="""\b
Examples:
  recall cooldown gemini                      how long it cools, and why
  recall cooldown gemini 2h                   for two hours from now; also "90s", "1h30m", "1d"
  recall cooldown gemini 23:30                until the next 23:30 of this machine's clock
  recall cooldown gemini 2026-12-24T18:00     until a date and time; with an offset (+08:00), or this machine's
  recall cooldown gemini --lift               it may start again at once"""
)
@click.argument("agent", shell_complete=complete_agent)
@click.argument("time", required=False)
@click.option("--lift", is_flag=True, help="End the cooldown now; a pause stays.")
@click.option("--reason", default="", metavar="TEXT", help="Why; kept in the event log.")
@click.option("--json", "as_json", is_flag=True, help="Print the agent's cooldown as JSON.")
def cooldown(agent: str, time: str | None, lift: bool, reason: str, as_json: bool) -> None:
    """Let an agent start nothing for a while, or end that.

    It holds for every agent of the same account, since they share their limits. What runs goes on.
    """
    if lift and time is not None:
        raise click.UsageError("give a time or --lift, not both")
    with opened_project() as project:
        name = known_agent(project, agent)
        if lift:
            accept(interventions.lift_cooldown(project.store, name, actor=ACTOR))
        elif time is not None:
            end = _moment(time, project.clock.now().wall)
            accept(interventions.set_cooldown(project.store, name, end, actor=ACTOR, reason=reason))
        _show(project, name, as_json)


def _show(project: Project, name: str, as_json: bool) -> None:
    now = project.clock.now().wall
    agents = project.store.agents()
    agent = next(one for one in agents if one.name == name)
    end = agent.cooling_until if agent.cooling_until is not None and agent.cooling_until > now else None
    mates = [one.name for one in agents if one.name != name and agent.account and one.account == agent.account]
    if as_json:
        say_json(
            {
                "agent": name,
                "cooling_until": end,
                "reason": agent.cooling_reason if end else "",
                "line": agent.cooling_line if end else "",
                "same_account": mates,
            }
        )
        return
    say(_sentence(agent, end, now) + (f" (same account: {', '.join(mates)})" if mates else ""))


def _sentence(agent: Agent, end: float | None, now: float) -> str:
    if end is None:
        return f"{agent.name} is not cooling"
    why = agent.cooling_line or agent.cooling_reason
    return f"{agent.name} is cooling until {until(end, now)}" + (f": {why}" if why else "")


def _moment(text: str, now: float) -> float:
    """Read a duration, a time of day or a date with time as wall seconds UTC."""
    clock = _CLOCK_TIME.fullmatch(text)
    if clock is not None:
        return _next(int(clock[1]), int(clock[2]), now)
    try:
        return now + positive_duration(text)
    except Unfit:
        pass
    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is no time: give a duration (2h, 90s, 1h30m), a time of day (23:30) "
            "or a date with time (2026-12-24T18:00)"
        ) from None


def _next(hour: int, minute: int, now: float) -> float:
    local = datetime.fromtimestamp(now).astimezone()
    moment = local.replace(hour=hour, minute=minute, second=0, microsecond=0)
    if moment <= local:
        moment += timedelta(days=1)
    return moment.replace(tzinfo=None).astimezone().timestamp()
