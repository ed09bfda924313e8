"""recall.toml as read: its values, and where each key stands."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from recall.domain.errors import ConfigError

KeyPath = tuple[str, ...]

_WHERE = r"(?P<what>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)"


class Document(NamedTuple):
    """One recall.toml: its values, and the text they were read from."""

    file: Path
    table: Mapping[str, Any]
    text: str

    @property
    def lines(self) -> Mapping[KeyPath, int]:
        """From 1, of headers and keys, not of what inline tables hold."""
        from recall.config.lines import key_lines

        return key_lines(self.text)

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
    return Document(file, table, text)


def _syntax_problem(file: Path, message: str, text: str) -> str:
    match = re.fullmatch(_WHERE, message)
    if match is None:
        return f"{file}: {message}"
    line = int(match["line"] or text.count("\n") + 1)
    hint = _name_hint(text.split("\n")[line - 1])
    return f"{file}:{line}:{match['column'] or '1'}: not TOML: {match['what']}{hint}"


def _name_hint(line: str) -> str:
    """Say which name in the heading of a table TOML does not take as it stands, or ""."""
    head = re.fullmatch(r"\s*\[([^\[\]\"'#]+)\]\s*(?:#.*)?", line)
    names = [name.strip() for name in head[1].split(".")] if head is not None else []
    odd = next((name for name in names if name and not re.fullmatch(r"[A-Za-z0-9_-]+", name)), "")
    return f'; name it with plain letters, digits, - and _ only, unlike "{odd}"' if odd else ""
