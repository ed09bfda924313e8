"""What a built-in preset adds to what the user wrote about an agent. The presets themselves live with the agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from recall.config.settings import AgentSettings
from recall.domain.usage import LimitPatterns


@dataclass(frozen=True, slots=True)
class PresetFields:
    """The part of a preset that settings hold. `model_args` is added to the command when a model is chosen, with
    `{model}` replaced by it."""

    command: tuple[str, ...]
    prompt: str = "stdin"
    model_args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    env_unset: tuple[str, ...] = ()
    env_pass: tuple[str, ...] = ()
    patterns: LimitPatterns = LimitPatterns()


def with_preset(agent: AgentSettings, preset: PresetFields) -> AgentSettings:
    """Fill in what the user left open. Lists of variables and patterns add up; the user's value of a variable
    wins. A command of the user's own is taken as it stands, without the preset's way of naming a model."""
    own_command = "command" in agent.given
    return replace(
        agent,
        command=agent.command if own_command else preset.command + _model_args(agent.model, preset.model_args),
        prompt=agent.prompt if "prompt" in agent.given else preset.prompt,
        env={**preset.env, **agent.env},
        env_unset=_joined(preset.env_unset, agent.env_unset),
        env_pass=_joined(preset.env_pass, agent.env_pass),
        patterns=LimitPatterns(
            limit=_joined(preset.patterns.limit, agent.patterns.limit),
            credit=_joined(preset.patterns.credit, agent.patterns.credit),
            auth=_joined(preset.patterns.auth, agent.patterns.auth),
            transient=_joined(preset.patterns.transient, agent.patterns.transient),
        ),
    )


def _model_args(model: str, args: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(arg.replace("{model}", model) for arg in args) if model else ()


def _joined(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(first + second))
