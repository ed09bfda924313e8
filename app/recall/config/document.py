"""recall.toml as read: its values, and on which line each key stands (the TOML parser keeps no lines)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recall.domain.errors import ConfigError
from recall.domain.frozen import frozen

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
_WHERE = re.compile(r"(?P<what>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)")


@frozen
class Document:
    """One recall.toml. `lines` counts from 1 and holds headers and keys, not what inline tables hold."""

    file: Path
    table: Mapping[str, Any]
    lines: Mapping[KeyPath, int]

    def where(self, path: KeyPath) -> str:
        """Give `FILE:LINE` of a key, of the first thing below it, or of the nearest one above it with a line."""
        for length in range(len(path), 0, -1):
            line = next((line for key, line in self.lines.items() if key[:length] == path[:length]), None)
            if line is not None:
                return f"{self.file}:{line}"
        return str(self.file)


def read_document(file: Path) -> Document:
    """Read and parse. Raises ConfigError when the file is missing, no UTF-8, or no TOML."""
    try:
        text = file.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError as missing:
        raise ConfigError(f"{file} does not exist; `recall init` writes one") from missing
    except UnicodeDecodeError as broken:
        raise ConfigError(f"{file}: byte {broken.start} is not UTF-8; save the file as UTF-8") from broken
    except OSError as broken:
        raise ConfigError(f"{file} cannot be read: {broken.strerror}") from broken
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as broken:
        raise ConfigError(_syntax_problem(file, str(broken), text)) from broken
    return Document(file, table, dict(_key_lines(text)))


def _syntax_problem(file: Path, message: str, text: str) -> str:
    match = _WHERE.fullmatch(message)
    if match is None:
        return f"{file}: {message}"
    line = match["line"] or str(text.count("\n") + 1)
    return f"{file}:{line}:{match['column'] or '1'}: not TOML: {match['what']}"


def _key_lines(text: str) -> Iterator[tuple[KeyPath, int]]:
    """Walk the statements of a text that is known to be valid TOML."""
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
