"""Tables: which are task tables, and what their columns mean."""

from __future__ import annotations

import re

from recall.domain.frozen import frozen
from recall.tasklist.ids import is_id
from recall.tasklist.labels import field_name
from recall.tasklist.outline import Block

_ID_COLUMNS = {"id", "#", "task id", "no", "no.", "nr", "task #", "編號", "编号"}
_TITLE_COLUMNS = ("task", "title", "name", "description", "任務", "任务", "標題", "标题", "名稱", "名称")
_DECORATION = " *_`"
_CELL_END = re.compile(r"(?<!\\)\|")


@frozen
class Columns:
    """Where a task table keeps what. `fields` are the columns that are fields; `labels` all headings as written."""

    id: int
    title: int
    fields: dict[int, str]
    labels: tuple[str, ...]

    @property
    def others(self) -> list[int]:
        known = {self.id, self.title, *self.fields}
        return [at for at in range(len(self.labels)) if at not in known]


def task_columns(table: Block) -> Columns | None:
    """Read the header. Legends and approvals lack an id, a title or everything that a plan is made of."""
    header = [cell.strip(_DECORATION) for cell in table.children[0].cells]
    names = [cell.casefold() for cell in header]
    id_column = _id_column(table, names)
    if id_column is None:
        return None
    title_column = _title_column(names, id_column)
    fields = {
        at: name
        for at, cell in enumerate(header)
        if at not in (id_column, title_column) and (name := field_name(cell))
    }
    if title_column is None or not fields:
        return None
    return Columns(id_column, title_column, fields, tuple(header))


def has_ids_without_plan(table: Block) -> bool:
    """Tell whether a table that is no task table looks as if its writer meant one."""
    rows = table.children[1:]
    first = [row.cells[0].strip(_DECORATION) for row in rows if row.cells]
    return bool(first) and all(is_id(cell) and not cell.isdigit() for cell in first)


def cell_column(line: str, wanted: int) -> int:
    """Find the character at which a cell of a table line begins, blanks left out."""
    start = len(line) - len(line.lstrip())
    start += line[start : start + 1] == "|"
    for _ in range(wanted):
        bar = _CELL_END.search(line, start)
        if bar is None:
            return 0
        start = bar.end()
    return start + len(line[start:]) - len(line[start:].lstrip())


def _id_column(table: Block, names: list[str]) -> int | None:
    for at, name in enumerate(names):
        if name in _ID_COLUMNS:
            return at
    if "task" in names and len(set(names) & set(_TITLE_COLUMNS)) > 1:
        at = names.index("task")
        cells = [row.cells[at].strip(_DECORATION) for row in table.children[1:]]
        return at if cells and all(map(is_id, cells)) else None
    return None


def _title_column(names: list[str], id_column: int) -> int | None:
    for title in _TITLE_COLUMNS:
        if title in names and names.index(title) != id_column:
            return names.index(title)
    return None
