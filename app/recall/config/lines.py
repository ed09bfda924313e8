"""On which line of a TOML text each key stands: the parser keeps no lines. Wanted for messages only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

KeyPath = tuple[str, ...]

_TOKEN = re.compile(
    r"""
      (?P<string>\"{3}(?:\\.|[^\\])*?\"{3,5}|'{3}.*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*')
    | (?P<comment>\#[^\n]*)
    | (?P<newline>\n)
    | (?P<open>[\[{])
    | (?P<close>[\]}])
    | (?P<equals>=)
    | (?P<bare>[^\s\[\]{}=.,#"']+)
    | (?P<rest>.)
    """,
    re.VERBOSE | re.DOTALL,
)


@lru_cache(maxsize=4)
def key_lines(text: str) -> Mapping[KeyPath, int]:
    """Give the lines, from 1, of headers and keys of a text that is valid TOML; not of what inline tables hold."""
    return dict(_key_lines(text))


def _key_lines(text: str) -> Iterator[tuple[KeyPath, int]]:
    header: KeyPath = ()
    line = 1
    statement: list[tuple[str, str]] = []
    first_line, depth = 1, 0
    for match in _TOKEN.finditer(text + "\n"):
        kind, token = str(match.lastgroup), match[0]
        if kind == "newline" and depth == 0:
            if statement:
                path = header + _names(statement) if statement[0][0] != "open" else _names(statement)
                header = path if statement[0][0] == "open" else header
                yield path, first_line
            statement = []
        elif kind in {"string", "bare", "equals", "open", "close"}:
            first_line = first_line if statement else line
            statement.append((kind, token))
            depth += {"open": 1, "close": -1}.get(kind, 0)
        line += token.count("\n")


def _names(statement: list[tuple[str, str]]) -> KeyPath:
    names: list[str] = []
    for kind, token in statement:
        if kind == "equals":
            break
        if kind in {"string", "bare"}:
            names.append(token[1:-1] if kind == "string" else token)
    return tuple(names)
