"""How a person arranged the screen, kept in the state folder from one start to the next."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar, cast

from recall.domain.frozen import frozen
from recall.whole_files import replace_file

KindT = TypeVar("KindT")

NAME = "ui.json"


SplitName: TypeAlias = Literal["upper", "tasks", "columns", "agents"]
_SPLITS: tuple[SplitName, ...] = ("upper", "tasks", "columns", "agents")
_LEAST = {"width": 24, "height": 4}
_SMALLEST_SHARE = 15


@frozen
class Splits:
    """Where the borders are, in percent for the first part: all that is above the log; the tasks beside agents and
    queue, and as columns above them; the agents by the queue."""

    upper: int = 60
    tasks: int = 50
    columns: int = 62
    agents: int = 50

    def of(self, name: SplitName) -> int:
        return {"upper": self.upper, "tasks": self.tasks, "columns": self.columns, "agents": self.agents}[name]

    def moved(self, name: SplitName, share: int, size: int, axis: Literal["width", "height"]) -> Splits:
        """Put a border elsewhere; both parts keep what they need of `size` cells."""
        least = min(max(_SMALLEST_SHARE, -(-100 * _LEAST[axis] // max(size, 1))), 50)
        share = min(max(share, least), 100 - least)
        match name:
            case "upper":
                return replace(self, upper=share)
            case "tasks":
                return replace(self, tasks=share)
            case "columns":
                return replace(self, columns=share)
            case "agents":
                return replace(self, agents=share)


@frozen
class Layout:
    """`view` is how the tasks are shown; `folded` holds the keys of headings; `zoomed` is the pane that has the whole
    screen, "" when none has."""

    theme: str = ""
    view: str = "list"
    folded: tuple[str, ...] = ("group:cancelled", "group:done")
    zoomed: str = ""
    splits: Splits = field(default_factory=Splits)


def load_layout(state: Path) -> Layout:
    """Read what was kept; whatever cannot be read, or is not what it should be, is as at the first start."""
    try:
        kept: object = json.loads((state / NAME).read_text("utf-8"))
    except (OSError, ValueError):
        return Layout()
    fields = cast("dict[str, Any]", kept) if isinstance(kept, dict) else {}
    first = Layout()
    folded = fields.get("folded")
    return Layout(
        theme=_of(str, fields.get("theme"), first.theme),
        view=_of(str, fields.get("view"), first.view),
        folded=_texts(cast("list[object]", folded)) if isinstance(folded, list) else first.folded,
        zoomed=_of(str, fields.get("zoomed"), first.zoomed),
        splits=_splits(fields.get("splits")),
    )


def save_layout(state: Path, layout: Layout) -> None:
    """Keep it, whole or not at all. A state folder that cannot be written costs nothing but the memory."""
    with contextlib.suppress(OSError):
        replace_file(state / NAME, (json.dumps(asdict(layout)) + "\n").encode(), durable=False)


def _splits(kept: object) -> Splits:
    fields = cast("dict[str, Any]", kept) if isinstance(kept, dict) else {}
    first = Splits()
    return Splits(*(_share(fields.get(name), first.of(name)) for name in _SPLITS))


def _share(value: object, otherwise: int) -> int:
    fits = isinstance(value, int) and _SMALLEST_SHARE <= value <= 100 - _SMALLEST_SHARE
    return value if fits and isinstance(value, int) else otherwise


def _of(kind: type[KindT], value: object, otherwise: KindT) -> KindT:
    return value if isinstance(value, kind) else otherwise


def _texts(values: list[object]) -> tuple[str, ...]:
    return tuple(value for value in values if isinstance(value, str))
