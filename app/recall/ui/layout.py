"""How a person arranged the screen, kept in the state folder from one start to the next."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

KindT = TypeVar("KindT")

NAME = "ui.json"


@dataclass(frozen=True, slots=True)
class Layout:
    """`folded` holds group keys; `zoomed` is the pane that has the whole screen, "" when none has."""

    theme: str = ""
    tree: bool = False
    folded: tuple[str, ...] = ("group:cancelled", "group:done")
    zoomed: str = ""


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
        tree=_of(bool, fields.get("tree"), first.tree),
        folded=_texts(cast("list[object]", folded)) if isinstance(folded, list) else first.folded,
        zoomed=_of(str, fields.get("zoomed"), first.zoomed),
    )


def save_layout(state: Path, layout: Layout) -> None:
    """Keep it, whole or not at all. A state folder that cannot be written costs nothing but the memory."""
    draft = state / f"{NAME}.{os.getpid()}"
    try:
        draft.write_text(json.dumps(asdict(layout)) + "\n", "utf-8")
        draft.replace(state / NAME)
    except OSError:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def _of(kind: type[KindT], value: object, otherwise: KindT) -> KindT:
    return value if isinstance(value, kind) else otherwise


def _texts(values: list[object]) -> tuple[str, ...]:
    return tuple(value for value in values if isinstance(value, str))
