"""What Recall knows of each agent CLI, as data: one TOML file each beside this module."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import field, fields
from functools import lru_cache
from importlib import resources
from typing import Any, cast

from recall.domain.errors import ConfigError
from recall.domain.frozen import frozen
from recall.domain.stream.dialect import Dialect, dialect_of
from recall.domain.usage import LimitPatterns


@frozen
class Preset:
    """One agent CLI.

    `command` starts an unattended run; `model_args` (with `{model}`) and then `prompt_args` follow it, then the
    prompt as `prompt` says: `stdin`, `arg` (the text) or `file` (the path). `resume_args` (with `{id}`) continue
    a session and stand before `prompt_args`; empty means that it cannot be continued. `session_fields`
    say where an event names it (event type -> dotted field). `output` is `stream-json` (an object a line),
    `final-json` or `text`; `final` are the events that end a run and `error_fields` where they carry an error.
    `refuses_root` is None where nobody knows. `partial` marks a CLI of which less is known, `stream` says how its
    events are read. All of it comes from the CLIs' own help, sources and documentation: none was run against a
    model, so every field can be overridden.
    """

    name: str
    title: str
    command: tuple[str, ...]
    prompt: str = "stdin"
    prompt_args: tuple[str, ...] = ()
    output: str = "text"
    model_args: tuple[str, ...] = ()
    resume_args: tuple[str, ...] = ()
    budget_args: tuple[str, ...] = ()
    session_fields: Mapping[str, str] = field(default_factory=dict[str, str])
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    env_unset: tuple[str, ...] = ()
    env_pass: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    final: tuple[str, ...] = ()
    error_fields: tuple[str, ...] = ()
    refuses_root: bool | None = None
    root_env: Mapping[str, str] = field(default_factory=dict[str, str])
    patterns: LimitPatterns = LimitPatterns()
    partial: bool = False
    notes: tuple[str, ...] = ()
    stream: Dialect | None = None

    def argv(self, model: str = "", session: str = "", usd: float = 0.0) -> tuple[str, ...]:
        """Put together the command of one run, up to where the prompt goes. `session` continues that one, `usd` is
        the most that it may cost, where the CLI knows such a limit."""
        budget = _filled(self.budget_args, "{usd}", f"{usd:g}" if usd else "")
        chosen = _filled(self.model_args, "{model}", model) + budget + _filled(self.resume_args, "{id}", session)
        return self.command + chosen + self.prompt_args


@lru_cache(maxsize=1)
def preset_names() -> tuple[str, ...]:
    """Give the names of all presets, sorted."""
    files = resources.files(__name__).iterdir()
    return tuple(sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml")))


@lru_cache(maxsize=32)
def load_preset(name: str) -> Preset:
    """Read a preset. Raises ConfigError for a name that there is none for."""
    if name not in preset_names():
        raise ConfigError(f'there is no preset "{name}"; there are {", ".join(preset_names())}')
    table = tomllib.loads(resources.files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
    known = {one.name for one in fields(Preset)}
    values = {key: _frozen(value) for key, value in table.items() if key in known}
    values["patterns"] = LimitPatterns(**{key: tuple(value) for key, value in table.get("patterns", {}).items()})
    values["stream"] = _dialect(name, table.get("stream"))
    return Preset(name=name, **values)


def _dialect(name: str, stream: Mapping[str, Any] | None) -> Dialect | None:
    """Read how events look; `like` names a preset whose rules hold too."""
    if stream is None:
        return None
    like = str(stream.get("like", ""))
    if like == name:
        raise ConfigError(f'preset "{name}" cannot read its events like itself; take `like` out')
    return dialect_of(stream, load_preset(like).stream if like else None)


def _frozen(value: Any) -> Any:
    return tuple(cast(list[str], value)) if isinstance(value, list) else value


def _filled(args: tuple[str, ...], mark: str, value: str) -> tuple[str, ...]:
    return tuple(arg.replace(mark, value) for arg in args) if value else ()
