"""What a built-in preset adds to what the user wrote about an agent. The presets themselves live with the agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from recall.config.settings import AgentSettings
from recall.domain.frozen import frozen
from recall.domain.usage import LimitPatterns


@frozen
class PresetFields:
    """The part of a preset that settings hold. Its commands name the chosen model already."""

    command: tuple[str, ...]
    prompt: str = "stdin"
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    env_unset: tuple[str, ...] = ()
    env_pass: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    patterns: LimitPatterns = LimitPatterns()
    resume_command: tuple[str, ...] = ()


def with_preset(agent: AgentSettings, preset: PresetFields) -> AgentSettings:
    """Fill in what the user left open. Lists of variables and patterns add up; the user's value of a variable
    wins. A command of the user's own is taken as it stands, without the preset's way of naming a model."""
    return replace(
        agent,
        command=agent.command if "command" in agent.given else preset.command,
        resume_command=_resume_command(agent, preset),
        prompt=agent.prompt if "prompt" in agent.given else preset.prompt,
        env={**preset.env, **agent.env},
        env_unset=_joined(preset.env_unset, agent.env_unset),
        env_pass=_joined(preset.env_pass, agent.env_pass),
        state=_joined(preset.state, agent.state),
        patterns=LimitPatterns(
            limit=_joined(preset.patterns.limit, agent.patterns.limit),
            credit=_joined(preset.patterns.credit, agent.patterns.credit),
            auth=_joined(preset.patterns.auth, agent.patterns.auth),
            transient=_joined(preset.patterns.transient, agent.patterns.transient),
        ),
    )


def _joined(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(first + second))


def _resume_command(agent: AgentSettings, preset: PresetFields) -> tuple[str, ...]:
    """A command of the user's own may be another program or another way to run it: only the user knows how a session
    of that one is continued."""
    written = {"command", "resume_command"}.intersection(agent.given)
    return agent.resume_command if written else preset.resume_command
