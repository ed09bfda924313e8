"""`recall explain-log`: what Recall makes of an agent's output, by the code that judges finished runs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING
from zoneinfo import ZoneInfo

import click

from recall.cli.names import complete_agent_or_preset
from recall.cli.report import Refusal, say, say_json
from recall.domain.errors import RecallError
from recall.domain.limits import TAIL_BYTES, TAIL_LINES, read_run
from recall.domain.run import Report
from recall.domain.usage import LimitFinding

if TYPE_CHECKING:
    from recall.config.settings import AgentSettings
    from recall.domain.usage import LimitPatterns

_CHUNK = 1024 * 1024


@click.command(
    "explain-log",
    epilog="""\b
Examples:
  recall explain-log --agent claude run.log             a run that failed with exit code 1
  claude -p … | recall explain-log --agent claude -     what another program prints
  recall explain-log --agent codex --exit-code 0 --reported run.log
  recall explain-log --agent claude --now 2026-03-16T14:10Z --tz Europe/Paris --json run.log""",
)
@click.option("--agent", required=True, metavar="NAME", shell_complete=complete_agent_or_preset, help="Whose log.")
@click.option("--exit-code", default=1, show_default=True, metavar="N", help="How the agent's process ended.")
@click.option("--reported", is_flag=True, help="The run reported success.")
@click.option("--now", "ended", metavar="ISO", help="When the run ended; the current time if left out.")
@click.option("--tz", "zone", metavar="ZONE", help="The zone of times that name none; this machine's if left out.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.argument("log", metavar="FILE|-", type=click.File("rb"))
def explain_log(
    agent: str, exit_code: int, reported: bool, ended: str | None, zone: str | None, as_json: bool, log: IO[bytes]
) -> None:
    """Say what Recall makes of an agent's log: a usage limit or none.

    NAME is a preset's name, or that of an agent in recall.toml. No repository is needed, and nothing is changed.
    """
    tz = _zone(zone)
    now = _moment(ended, tz)
    finding = read_run(
        _tail(log),
        exit_code=exit_code,
        report=Report("success") if reported else None,
        now=now,
        tz=tz,
        patterns=_patterns(agent),
    )
    if as_json:
        say_json(_values(finding))
    else:
        say(_words(finding, now))


def _values(finding: LimitFinding) -> dict[str, object]:
    return {
        "class": str(finding.kind),
        "limited": finding.limited,
        "reset_at": None if finding.reset_at is None else _iso(finding.reset_at),
        "matched": finding.matched,
        "source": finding.source,
        "reason": finding.reason,
    }


def _words(finding: LimitFinding, now: float) -> str:
    from recall.domain.words import until

    lines = [f"{finding.kind}: {finding.reason}"]
    if finding.matched:
        lines.append(f'read from {_SOURCES[finding.source]}: "{finding.matched}"')
    if finding.limited:
        when = "" if finding.reset_at is None else f" before {until(finding.reset_at, now)}"
        lines.append(f"the agent starts nothing new{when or ' for limits.default, longer each time'}")
    return "\n".join(lines)


_SOURCES = {"event": "an event", "text": "a line"}


def _iso(wall: float) -> str:
    return datetime.fromtimestamp(wall, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _tail(log: IO[bytes]) -> str:
    """Read on to the end, keep what the engine would look at."""
    kept = b""
    while chunk := log.read(_CHUNK):
        kept = (kept + chunk)[-TAIL_BYTES:]
    return b"".join(kept.splitlines(keepends=True)[-TAIL_LINES:]).decode("utf-8", "replace")


def _zone(name: str | None) -> str:
    if name is None:
        from recall.system import local_zone

        return local_zone()
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise click.BadParameter(f"{name!r} is no time zone; give one such as Europe/Paris or UTC") from None
    return name


def _moment(text: str | None, zone: str) -> float:
    if text is None:
        from recall.system import SystemClock

        return SystemClock().now().wall
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is no moment; give one such as 2026-03-16T14:10:00Z") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(zone))).timestamp()


def _patterns(name: str) -> LimitPatterns:
    """Give the patterns of an agent of recall.toml, else of a preset; a recall.toml that cannot be read does not
    keep anybody from asking about a preset."""
    from recall.agents.presets import load_preset, preset_names

    agents = _agents_here()
    found = next((agent for agent in agents if agent.name == name), None)
    if found is not None:
        return found.patterns
    if name in preset_names():
        return load_preset(name).patterns
    known = sorted({*preset_names(), *(agent.name for agent in agents)})
    raise Refusal(f"there is no agent or preset {name}; there are {', '.join(known)}")


def _agents_here() -> tuple[AgentSettings, ...]:
    from recall.bootstrap import settings_at, with_presets
    from recall.gitops.locate import locate

    try:
        return with_presets(settings_at(locate(Path.cwd()))).agents
    except RecallError:
        return ()
