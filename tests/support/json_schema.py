"""As much of JSON schema as recall.toml's schema uses. A word of it that is not known here fails the test."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, cast

Schema = Mapping[str, Any]

_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
_SAYS_NOTHING = {"$schema", "title", "description"}
#: What each word asks of values of its type; of others it asks nothing.
_ASKS: dict[str, tuple[str, Callable[[Any, Any, Schema], bool]]] = {
    "pattern": ("string", lambda pattern, value, _: re.search(pattern, value) is not None),
    "minimum": ("number", lambda least, value, _: value >= least),
    "maximum": ("number", lambda most, value, _: value <= most),
    "minItems": ("array", lambda least, value, _: len(value) >= least),
    "items": ("array", lambda form, value, _: all(fits(form, each) for each in value)),
    "minProperties": ("object", lambda least, value, _: len(value) >= least),
    "required": ("object", lambda names, value, _: set(names) <= set(value)),
    "propertyNames": ("object", lambda form, value, _: all(fits(form, name) for name in value)),
    "properties": ("object", lambda forms, value, _: all(
        fits(forms[name], value[name]) for name in forms if name in value)),
    "patternProperties": ("object", lambda forms, value, _: all(
        fits(form, value[name]) for pattern, form in forms.items() for name in value if re.search(pattern, name))),
    "additionalProperties": ("object", lambda form, value, schema: all(
        _may_be(form, each) for name, each in value.items() if not _is_named(name, schema))),
}  # fmt: skip


def fits(schema: Schema, value: Any) -> bool:
    """Tell whether a value is what the schema describes."""
    return all(_holds(word, said, value, schema) for word, said in schema.items() if word not in _SAYS_NOTHING)


def _holds(word: str, said: Any, value: Any, schema: Schema) -> bool:
    if word == "type":
        return any(_TYPES[kind](value) for kind in ([said] if isinstance(said, str) else said))
    if word == "enum":
        return value in said
    if word == "anyOf":
        return any(fits(way, value) for way in said)
    kind, asks = _ASKS[word]
    return not _TYPES[kind](value) or asks(said, value, schema)


def _may_be(form: Any, value: Any) -> bool:
    return form if isinstance(form, bool) else fits(cast("Schema", form), value)


def _is_named(name: str, schema: Schema) -> bool:
    patterns = schema.get("patternProperties", {})
    return name in schema.get("properties", {}) or any(re.search(pattern, name) for pattern in patterns)
