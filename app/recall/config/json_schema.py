"""recall.toml as a JSON schema, for editors that complete and check TOML by one. Made from the table of keys; what
only reading can tell, as whether a regular expression is one, it lets pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from recall.config import values
from recall.config.schema import AGENT, SECTIONS, TOP, Key
from recall.config.values import Count, OneOf, Reader
from recall.domain.signals import SignalKind

Form: TypeAlias = dict[str, object]

_TEXT: Form = {"type": "string"}
_SOME_TEXT: Form = {"type": "string", "pattern": r"\S"}
_TEXTS: Form = {"type": "array", "items": _TEXT}
_ARGV: Form = {"type": "array", "items": _TEXT, "minItems": 1}
_DURATION: Form = {"type": "string", "pattern": r"^\s*(?=\d)(\d+d)?(\d+h)?(\d+m)?(\d+(\.\d+)?s)?\s*$"}
_NAME = r"^(?!.*\.\.)(?!.*(\.|\.lock)$)[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
_KEYS: Form = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1}]}
_FORMS: Mapping[Reader, Form] = {
    values.text: _TEXT,
    values.some_text: _SOME_TEXT,
    values.verify_command: _SOME_TEXT,
    values.quiet_hours: _TEXT,
    values.remote: {"type": "string", "pattern": rf"{_NAME}|^$"},
    values.flag: {"type": "boolean"},
    values.amount: {"type": "number", "minimum": 0, "maximum": 1_000_000_000},
    values.share: {"type": "number", "minimum": 0, "maximum": 1},
    values.duration: _DURATION,
    values.positive_duration: _DURATION,
    values.size: {"type": "string", "pattern": r"^\d+ ?(B|KiB|MiB|GiB)$"},
    values.texts: _TEXTS,
    values.kept_paths: _TEXTS,
    values.ignore_patterns: {"type": "array", "items": _SOME_TEXT},
    values.repository_paths: _TEXTS,
    values.command: _ARGV,
    values.variables: {"type": "object", "additionalProperties": _TEXT},
    values.occasions: {"type": "array", "items": {"enum": [kind.value for kind in SignalKind]}},
    values.stream: {"type": ["string", "object"]},
    values.patterns: {
        "type": "object",
        "properties": dict.fromkeys(("limit", "credit", "auth", "transient"), _TEXTS),
        "additionalProperties": False,
    },
    values.task_lists: {
        "anyOf": [_ARGV, {"type": "object", "additionalProperties": _TEXT, "minProperties": 1}],
    },
}


def json_schema(commands: Iterable[str] = ()) -> Form:
    """Give the schema of the whole file; `commands` are the names that `[ui.keys]` knows."""
    names = sorted(commands)

    def form_of(key: Key) -> Form:
        if key.read is values.keys_of_commands:
            form: Form = {"type": "object", "additionalProperties": _KEYS, "propertyNames": {"enum": names}}
        else:
            form = _form(key.read)
        return {"description": key.meaning, **form}

    tables = {section.name: _table(section.keys, form_of) for section in SECTIONS}
    agent = _table(AGENT, form_of) | {"anyOf": [{"required": ["preset"]}, {"required": ["command"]}]}
    agents: Form = {"type": "object", "patternProperties": {_NAME: agent}, "additionalProperties": False}
    whole = _table(TOP, form_of, {**tables, "agents": agents})
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "recall.toml",
        **whole,
        "required": ["verify"],
    }


def _table(keys: Iterable[Key], form_of: Callable[[Key], Form], tables: Mapping[str, Form] | None = None) -> Form:
    properties = {key.name: form_of(key) for key in keys}
    return {"type": "object", "properties": {**properties, **(tables or {})}, "additionalProperties": False}


def _form(read: Reader) -> Form:
    if isinstance(read, Count):
        most = {"maximum": read.most} if read.most is not None else {}
        return {"type": "integer", "minimum": read.least, **most}
    if isinstance(read, OneOf):
        return {"enum": list(read.words)}
    return _FORMS[read]
