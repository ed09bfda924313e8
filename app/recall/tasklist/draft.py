"""A task while its list is being read: what stands where, before anything is resolved."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from enum import StrEnum

from recall.tasklist.labels import Field
from recall.tasklist.source import Source
from recall.tasklist.status import Sign


class Form(StrEnum):
    HEADING = "heading"
    ITEM = "item"
    ROW = "row"


@dataclass(slots=True)
class Draft:
    """Lines count from 0. Its text is `body_start` to `end` without `taken`: the spans of its fields and of
    tasks of their own. `details` come first in the body."""

    id: str
    title: str
    form: Form
    line: int
    column: int
    body_start: int
    end: int
    parent: Draft | None = None
    signs: list[Sign] = field(default_factory=list[Sign])
    fields: list[Field] = field(default_factory=list[Field])
    taken: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    details: list[str] = field(default_factory=list[str])
    optional: bool = False
    automatic: bool = False
    is_group: bool = False

    def body(self, source: Source) -> str:
        """Give the raw text that belongs to the task and to no other."""
        lines: list[str] = []
        position = self.body_start
        for start, end in sorted(self.taken):
            lines += source.lines[position : max(start, position)]
            position = max(position, end)
        lines += source.lines[position : self.end]
        text = textwrap.dedent("\n".join(lines)).strip("\n")
        return "\n".join(filter(None, (*self.details, text))).strip()
