"""Every setting with its value, where that value comes from, and what it means."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from recall.config.document import Document, KeyPath, read_document
from recall.config.load import load_settings
from recall.config.schema import AGENT, SECTIONS, TOP, Key
from recall.config.settings import AgentSettings, Settings, TaskList
from recall.config.values import duration, duration_text, positive_duration, size, size_text
from recall.domain.usage import LimitPatterns

Explained = tuple[str, str, str, str]


def explain(file: Path) -> list[Explained]:
    """Give (key, value as recall.toml would write it, `FILE:LINE` or `default`, meaning) for each setting.
    Raises ConfigError as loading does."""
    return list(explain_settings(load_settings(file), read_document(file)))


def explain_settings(settings: Settings, document: Document) -> Iterator[Explained]:
    """The same for settings that were read, and perhaps completed, already."""
    yield from _rows((), settings, TOP, document)
    for section in SECTIONS:
        yield from _rows((section.name,), getattr(settings, section.name), section.keys, document)
    for agent in settings.agents:
        yield from _agent_rows(agent, document)


def toml_text(key: Key, value: object) -> str:
    """Write a value the way this key reads it."""
    if key.read in {duration, positive_duration} and isinstance(value, float):
        return json.dumps(duration_text(value))
    if key.read is size and isinstance(value, int):
        return json.dumps(size_text(value))
    return _literal(value)


def _rows(at: KeyPath, holder: object, keys: tuple[Key, ...], document: Document) -> Iterator[Explained]:
    for key in keys:
        path = (*at, key.name)
        source = document.where(path) if path in document.lines else "default"
        yield ".".join(path), toml_text(key, getattr(holder, key.name)), source, key.meaning


def _agent_rows(agent: AgentSettings, document: Document) -> Iterator[Explained]:
    for name, value, source, meaning in _rows(("agents", agent.name), agent, AGENT, document):
        key = name.rpartition(".")[2]
        if key in agent.given and source == "default":
            yield name, value, document.where(("agents", agent.name, key)), meaning
        else:
            yield name, value, f'preset "{agent.preset}"' if _from_preset(agent, key) else source, meaning


def _from_preset(agent: AgentSettings, key: str) -> bool:
    return bool(agent.preset) and key in {"command", "prompt"} and key not in agent.given and bool(agent.command)


def _literal(value: object) -> str:
    if value is None:
        return '"none"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, TaskList):
        return f"{value.region} = {_literal(value.path)}"
    if isinstance(value, LimitPatterns):
        return _table({name: getattr(value, name) for name in ("limit", "credit", "auth", "transient")})
    if isinstance(value, Mapping):
        return _table(cast("Mapping[str, object]", value))
    return _list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else str(value)


def _table(values: Mapping[str, object]) -> str:
    return "{ " + ", ".join(f"{name} = {_literal(each)}" for name, each in values.items()) + " }" if values else "{}"


def _list(values: tuple[object, ...]) -> str:
    inner = ", ".join(_literal(each) for each in values)
    return f"{{ {inner} }}" if values and isinstance(values[0], TaskList) else f"[{inner}]"
