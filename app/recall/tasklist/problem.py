"""What is wrong, doubtful or worth knowing in a task list, with its place."""

from __future__ import annotations

from enum import StrEnum

from recall.domain.frozen import frozen


class Severity(StrEnum):
    """An error refuses the whole import. A warning was decided carefully; a note only says what was done."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@frozen
class Problem:
    """`line` and `column` count from 1, columns in characters. `message` says what was found, what was
    expected and what to do next."""

    type: str
    severity: Severity
    line: int
    column: int
    id: str | None
    message: str


def error(type: str, line: int, message: str, *, id: str | None = None, column: int = 0) -> Problem:
    """Make an error; `line` and `column` count from 0, as everything inside the parser does."""
    return Problem(type, Severity.ERROR, line + 1, column + 1, id, message)


def warning(type: str, line: int, message: str, *, id: str | None = None, column: int = 0) -> Problem:
    return Problem(type, Severity.WARNING, line + 1, column + 1, id, message)


def note(type: str, line: int, message: str, *, id: str | None = None, column: int = 0) -> Problem:
    return Problem(type, Severity.NOTE, line + 1, column + 1, id, message)
