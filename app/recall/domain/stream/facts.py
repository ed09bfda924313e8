"""What an agent's event says, whichever program printed it."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

from recall.domain.frozen import frozen


class ToolKind(StrEnum):
    """What a tool is used for, as far as its name and arguments tell."""

    COMMAND = "command"
    READ = "read"
    EDIT = "edit"
    WRITE = "write"
    DELETE = "delete"
    SEARCH = "search"
    FETCH = "fetch"
    OTHER = "other"


@frozen
class Tool:
    """A use of a tool. `subject` is the one argument that matters: a command, a path, a pattern, an address.
    `added` and `removed` count lines, None where the event does not tell."""

    kind: ToolKind
    name: str
    subject: str = ""
    added: int | None = None
    removed: int | None = None


@frozen
class Said:
    """Words to the person. `part`: the next ones go on where these end."""

    text: str
    part: bool = False


@frozen
class Thought:
    text: str


@frozen
class Called:
    """`id` ties a later result to it; "" where the program gives none."""

    id: str
    tool: Tool


@frozen
class Returned:
    """What a tool gave back; `lines` counts all of its lines, also those that a cap took from `text`."""

    id: str
    text: str
    lines: int
    failed: bool = False


@frozen
class SessionNamed:
    """The session's id; `folder` is where the agent says that it works."""

    id: str
    folder: str = ""


@frozen
class Used:
    """Tokens and US dollars; None: not told. `input_tokens` includes `cached_tokens`. `total`: of the whole run so
    far, otherwise to be added, once for each `key` ("" is a key of its own every time)."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None
    total: bool = False
    key: str = ""


@frozen
class Failed:
    """An error that the agent reports of itself."""

    text: str


@frozen
class Limited:
    """The provider refused a request. `reset_at` is in wall seconds UTC, None when it is not told."""

    window: str = ""
    reset_at: float | None = None


@frozen
class Ended:
    """The agent's last event; `text` is its final answer or, if it `failed`, the reason."""

    text: str = ""
    failed: bool = False


Fact: TypeAlias = Said | Thought | Called | Returned | SessionNamed | Used | Failed | Limited | Ended
