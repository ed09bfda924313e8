"""From the outline of a document to its tasks, as written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from recall.domain.frozen import frozen
from recall.domain.text import clean_line
from recall.tasklist import tables
from recall.tasklist.draft import Draft, Form
from recall.tasklist.heads import Head, Mark, is_decoration, may_have_a_box, read_head, read_title
from recall.tasklist.ids import IdFault, Labelled, is_id, is_number, of_one_family, take_id
from recall.tasklist.inline import unwrapped
from recall.tasklist.items import field_lines, head_text, id_below, is_emoji_task, values_below, with_inner_number
from recall.tasklist.labels import AFTER, LINKS, Field, field_name, fields_of_line, inline_fields, looks_like_a_link
from recall.tasklist.outline import Block, Outline
from recall.tasklist.problem import Problem, error, note, warning
from recall.tasklist.scope import Reads, Scope, is_criterion, is_label, is_task_of_its_own, nested_in
from recall.tasklist.slug import automatic_id
from recall.tasklist.source import Source
from recall.tasklist.status import Sign

_TASK_LEVELS = range(2, 6)
_ALMOST_A_BOX = re.compile(r"(?:[-*+]|\d{1,9}[.)])?\s?\\?\[[ xX]?\\?\](?![(\[:])")
_LINKS_HEADING = re.compile(r"(?:task )?(?:dependenc(?:y|ies)|prerequisites?)\b", re.IGNORECASE)
_BOX_IN_VALUE = re.compile(r"^\[.\]\s*", re.MULTILINE)
_LISTED_FIELDS = LINKS | {"touches"}


@dataclass(slots=True)
class Frame:
    """One level of the walk. `open_field` waits for the list or paragraph that holds its value."""

    blocks: Iterator[Block]
    scope: Scope
    labelled: bool = False
    open_field: Field | None = None


@frozen
class Section:
    level: int
    scope: Scope
    opened: Draft | None = None


@dataclass(slots=True)
class Reading:
    """What was read. `strays` are links that stand under no task."""

    drafts: list[Draft] = field(default_factory=list[Draft])
    problems: list[Problem] = field(default_factory=list[Problem])
    strays: list[Field] = field(default_factory=list[Field])


def read_drafts(source: Source, outline: Outline) -> Reading:
    reader = _Reader(source)
    reader.walk(outline.blocks)
    return reader.reading


class _Reader:
    """Walks the outline with a stack of its own: how deep a list nests never matters."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.reading = Reading()
        self.sections: list[Section] = [Section(0, Scope(top=True))]
        self.automatic_ids = Counter[str]()

    def walk(self, blocks: list[Block]) -> None:
        document = Frame(iter(blocks), self.sections[0].scope)
        stack = [document]
        while stack:
            frame = stack[-1]
            block = next(frame.blocks, None)
            if block is None:
                self._settle_open_field(frame)
                stack.pop()
                continue
            below = (
                self._heading(block, frame)
                if block.kind == "heading" and frame is document
                else self._block(block, frame)
            )
            stack += below
        self._close_sections(1, len(self.source.lines))

    def _block(self, block: Block, frame: Frame) -> list[Frame]:
        if frame.open_field:
            rest = self._take_listed_value(block, frame)
            return [Frame(iter(rest), frame.scope)] if rest else []
        match block.kind:
            case "item":
                return self._item(block, frame)
            case "list":
                scope = replace(frame.scope, labelled=frame.scope.labelled or frame.labelled)
                return [Frame(iter(block.children), scope)]
            case "paragraph":
                self._paragraph(block, frame)
            case "table":
                self._table(block, frame)
            case "heading":
                self._inner_heading(block)
            case _:
                pass
        return []

    # Headings

    def _heading(self, block: Block, frame: Frame) -> list[Frame]:
        self._settle_open_field(frame)
        self._close_sections(block.level, block.start)
        frame.labelled = False
        head = read_head(" ".join(block.text.split("\n")))
        outer = self.sections[-1].scope
        scope = self._section_scope(block, head, outer, frame)
        opened = scope.owner if scope.owner is not outer.owner else None
        self.sections.append(Section(block.level, scope, opened))
        frame.scope = scope
        return []

    def _section_scope(self, block: Block, head: Head, outer: Scope, frame: Frame) -> Scope:
        if head.labelled and self._is_heading_task(block, head, outer):
            if head.fault:
                self._fault(block, head.labelled)
                return replace(outer, skipped=head.fault is IdFault.PLACEHOLDER or outer.skipped, top=False)
            return Scope(self._draft(block, head, Form.HEADING, outer.owner))
        if _LINKS_HEADING.match(block.text) or field_name(block.text) in LINKS:
            frame.open_field = Field(field_name(block.text) or AFTER, block.text, "", block.start, 0, sure=False)
        if outer.owner is None:
            return replace(outer, labelled=is_label(block.text, heading=True))
        frame.open_field = self._field_line(block.start, block.text, outer) or frame.open_field
        labelled = outer.labelled or is_label(block.text, heading=True)
        return replace(outer, labelled=labelled, reads=Reads.LINKS)

    def _is_heading_task(self, block: Block, head: Head, outer: Scope) -> bool:
        if outer.owner and head.id and is_number(head.id) and not of_one_family(outer.owner.id, head.id):
            return False
        if block.level in _TASK_LEVELS:
            return True
        if head.id and not is_number(head.id):
            self.reading.problems.append(
                warning(
                    "heading_level",
                    block.start,
                    f"`{_short(block.text)}` is a heading of level {block.level} and was not read as a task; "
                    "expected level 2 to 5; change the number of `#`",
                    id=head.id,
                )
            )
        return False

    def _inner_heading(self, block: Block) -> None:
        head = read_head(block.text)
        if head.id and not is_number(head.id):
            self._unread(block.start, block.text, "a heading inside a list item; move it to the left margin", head.id)

    def _close_sections(self, level: int, line: int) -> None:
        while len(self.sections) > 1 and self.sections[-1].level >= level:
            section = self.sections.pop()
            if section.opened:
                section.opened.end = line
                if section.opened.parent:
                    section.opened.parent.taken.append((section.opened.line, line))

    # List items

    def _item(self, block: Block, frame: Frame) -> list[Frame]:
        block = with_inner_number(block)
        first = block.children[0] if block.children else None
        if first is None or first.kind != "paragraph":
            return [Frame(iter(block.children), nested_in(frame.scope))]
        text = head_text(first)[0]
        if not may_have_a_box(text):
            return self._plain_item(block, first, frame)
        head = read_head(text)
        if not head.boxed and not is_emoji_task(head):
            return self._plain_item(block, first, frame)
        if head.fault:
            return self._faulty_item(block, head, frame)
        id = head.id or id_below(block)
        return self._named_item(block, head, id, frame) if id else self._nameless_item(block, head, frame)

    def _faulty_item(self, block: Block, head: Head, frame: Frame) -> list[Frame]:
        assert head.labelled is not None, "a fault is the fault of an id"
        if not (frame.scope.owner and frame.scope.labelled):
            self._fault(block, head.labelled)
        skipped = frame.scope.skipped or head.fault is IdFault.PLACEHOLDER
        return [Frame(iter(block.children[1:]), replace(nested_in(frame.scope), reads=Reads.NONE, skipped=skipped))]

    def _named_item(self, block: Block, head: Head, id: str, frame: Frame) -> list[Frame]:
        scope = frame.scope
        if not is_task_of_its_own(scope, id):
            self._note_criterion(block, scope, id)
            return [Frame(iter(block.children[1:]), replace(nested_in(scope), reads=Reads.NONE))]
        draft = self._draft(block, head, Form.ITEM, scope.owner, id=id)
        return [self._inside_draft(block, draft)]

    def _nameless_item(self, block: Block, head: Head, frame: Frame) -> list[Frame]:
        scope = frame.scope
        if scope.owner or scope.skipped or (scope.labelled and scope.top):
            return [Frame(iter(block.children[1:]), replace(nested_in(scope), reads=Reads.NONE))]
        if not scope.top:
            self._unread(
                block.start, block.children[0].text, "a box without an id inside another item; give it an id"
            )
            return [Frame(iter(block.children[1:]), nested_in(scope))]
        title = clean_line(read_title(head.rest).text)
        if not title:
            self._unread(block.start, block.children[0].text, "a box without a text; write what is to be done")
            return []
        id = automatic_id(title, self.automatic_ids)
        draft = self._draft(block, head, Form.ITEM, None, id=id)
        draft.automatic = True
        return [self._inside_draft(block, draft)]

    def _inside_draft(self, block: Block, draft: Draft) -> Frame:
        inside = Frame(iter(block.children[1:]), Scope(draft))
        for line, text, end in field_lines(block.children[0], skip=draft.body_start - block.children[0].start):
            inside.open_field = self._field_line(line, text, inside.scope, span=(line, end))
            if not fields_of_line(text)[0]:
                draft.fields += self._placed(inline_fields(text).fields, line)
        return inside

    def _plain_item(self, block: Block, first: Block, frame: Frame) -> list[Frame]:
        inside = Frame(iter(block.children[1:]), nested_in(frame.scope))
        if is_label(first.text):
            inside.scope = replace(inside.scope, labelled=True)
        for line, text, end in field_lines(first):
            whole = end == first.end and line == first.start and len(block.children) == 1
            span = (block.start, block.end) if whole else (line, end)
            inside.open_field = self._field_line(line, text, frame.scope, span=span)
        return [inside]

    # Paragraphs and fields

    def _paragraph(self, block: Block, frame: Frame) -> None:
        frame.labelled = is_label(block.text)
        for line, text, end in field_lines(block):
            frame.open_field = self._field_line(line, text, frame.scope, span=(line, end))

    def _field_line(self, line: int, text: str, scope: Scope, span: tuple[int, int] | None = None) -> Field | None:
        """Read the fields of one line; give the one whose value is still to come."""
        if scope.reads is Reads.NONE or scope.skipped:
            return None
        found, complete = fields_of_line(text)
        fields = [
            Field(f.name, f.label, text[f.start : f.end], line, self._column(line, text[f.start : f.end]))
            for f in found
        ]
        if scope.reads is Reads.LINKS:
            fields = [each for each in fields if each.name in LINKS]
        if not fields:
            self._almost_a_task(line, text)
            return None
        if scope.owner is None:
            self._strays(fields)
            return None
        if complete and len(fields) == len(found) and any(each.name != "touches" for each in fields):
            scope.owner.taken.append(span or (line, line + 1))
        if not fields[-1].value and fields[-1].name in _LISTED_FIELDS:
            scope.owner.fields += fields[:-1]
            return fields[-1]
        scope.owner.fields += fields
        return None

    def _strays(self, fields: list[Field]) -> None:
        self.reading.strays += [each for each in fields if each.name in LINKS]
        for each in fields:
            if each.name == "id" and is_id(each.value):
                self._unread(
                    each.line, each.value, "an id below a heading; write it in front of the title", each.value
                )

    def _take_listed_value(self, block: Block, frame: Frame) -> list[Block]:
        """Give an open field the list below it, or the paragraph below its heading; give back what is left."""
        waiting, owner = frame.open_field, frame.scope.owner
        assert waiting is not None, "asked only while a field waits"
        if block.kind not in {"list", "paragraph"}:
            self._settle_open_field(frame)
            return [block]
        values, rest = values_below(block)
        filled = replace(waiting, value=_BOX_IN_VALUE.sub("", "\n".join(values)))
        frame.open_field = None
        if owner is None:
            self.reading.strays.append(filled)
            return [block]
        owner.fields.append(filled)
        if filled.name in LINKS and filled.sure:
            owner.taken.append((block.start, rest[0].start if rest else block.end))
        return rest

    def _settle_open_field(self, frame: Frame) -> None:
        if frame.open_field and frame.open_field.sure and frame.scope.owner:
            frame.scope.owner.fields.append(frame.open_field)
        frame.open_field = None

    # Tables

    def _table(self, block: Block, frame: Frame) -> None:
        scope = frame.scope
        columns = tables.task_columns(block)
        if columns:
            for row in block.children[1:]:
                self._row(row, columns, scope)
        elif scope.owner and scope.reads is Reads.ALL and len(block.children[0].cells) == 2:
            self._table_of_fields(block, scope.owner)
        elif scope.owner is None and tables.has_ids_without_plan(block):
            self._unread(
                block.start,
                block.children[1].cells[0],
                "a table without an id, a title and a status column; add them",
            )

    def _row(self, row: Block, columns: tables.Columns, scope: Scope) -> None:
        written = row.cells[columns.id].strip()
        labelled = take_id(written) if written else None
        bare = unwrapped(written).strip("`[] ")
        id = bare if is_id(bare) else labelled.id if labelled and not labelled.fault and not labelled.rest else None
        if id is None:
            self._nameless_row(row, written, labelled)
        elif is_task_of_its_own(scope, id):
            self._row_draft(row, columns, id, scope.owner)

    def _nameless_row(self, row: Block, written: str, labelled: Labelled | None) -> None:
        if labelled and labelled.fault:
            self._fault(row, labelled)
        elif any(map(str.isdigit, written)):
            self._fault(row, Labelled(written, "", IdFault.UNSAFE))
        elif any(cell.strip() for cell in row.cells):
            self._unread(row.start, " ".join(row.cells), "a row without an id; write one into its id column")

    def _row_draft(self, row: Block, columns: tables.Columns, id: str, owner: Draft | None) -> None:
        title = read_title(row.cells[columns.title])
        draft = Draft(
            id,
            clean_line(title.text) or id,
            Form.ROW,
            row.start,
            self._column(row.start, id),
            row.end,
            row.end,
            parent=owner,
        )
        line = self.source.lines[row.start]
        for at, name in columns.fields.items():
            draft.fields.append(
                Field(name, columns.labels[at], row.cells[at], row.start, tables.cell_column(line, at))
            )
        draft.fields += self._placed(title.fields, row.start)
        draft.details = [f"{columns.labels[at]}: {row.cells[at]}" for at in columns.others if row.cells[at].strip()]
        draft.signs += self._signs(title.marks, row.start)
        self._add(draft)
        if owner:
            owner.taken.append((row.start, row.end))

    def _table_of_fields(self, block: Block, owner: Draft) -> None:
        for row in block.children:
            name = field_name(row.cells[0]) if row.cells else None
            if name:
                column = tables.cell_column(self.source.lines[row.start], 1)
                owner.fields.append(Field(name, row.cells[0], row.cells[1], row.start, column))

    # Drafts

    def _draft(self, block: Block, head: Head, form: Form, owner: Draft | None, *, id: str | None = None) -> Draft:
        title = read_title(head.rest)
        name = id or head.id
        assert name is not None, "only what has an id becomes a draft"
        line, body_start = block.start, block.end
        if form is Form.ITEM:
            line = block.children[0].start
            body_start = line + head_text(block.children[0])[1]
        draft = Draft(
            name,
            clean_line(title.text) or name,
            form,
            line,
            self._column(line, name),
            body_start,
            block.end,
            owner,
            optional=head.optional,
        )
        marks = [mark for mark in head.marks if form is Form.ITEM or not is_decoration(mark)]
        draft.signs += self._signs((*marks, *title.marks), line)
        draft.fields += self._placed(title.fields, line)
        if title.dropped:
            draft.details.append(title.dropped)
        if looks_like_a_link(title.text):
            self._loose_link(draft)
        if form is Form.ITEM and owner:
            owner.taken.append((block.start, self._without_blanks(block)))
        self._add(draft)
        return draft

    def _without_blanks(self, block: Block) -> int:
        end = block.end
        while end > block.start + 1 and not self.source.lines[end - 1].strip():
            end -= 1
        return end

    def _add(self, draft: Draft) -> None:
        if draft.parent:
            draft.parent.is_group = True
        self.reading.drafts.append(draft)

    def _signs(self, marks: tuple[Mark, ...], line: int) -> list[Sign]:
        return [Sign(mark.kind, mark.meaning, mark.text, line, self._column(line, mark.text)) for mark in marks]

    def _placed(self, fields: tuple[Field, ...], line: int) -> list[Field]:
        return [Field(f.name, f.label, f.value, line, self._column(line, f.value)) for f in fields]

    def _column(self, line: int, fragment: str) -> int:
        return self.source.column(line, fragment) if line < len(self.source.lines) else 0

    # Problems

    def _fault(self, block: Block, labelled: Labelled) -> None:
        found = _short(labelled.id)
        if labelled.fault is IdFault.PLACEHOLDER:
            self.reading.problems.append(
                note("placeholder", block.start, f"`{found}` is a template's placeholder; skipped")
            )
        elif labelled.fault is IdFault.SEVERAL:
            self._unread(
                block.start, f"{labelled.id} {labelled.rest}", "several ids at once; write one line for each task"
            )
        else:
            self.reading.problems.append(
                error(
                    "unsafe_id",
                    block.start,
                    f"found the id `{found}`; expected at most 64 of A-Z a-z 0-9 . _ -, a letter or digit first, "
                    "a digit in it, no `..`, and no `.lock` or `.` at the end; rename the task",
                    id=found,
                    column=self._column(block.start, labelled.id),
                )
            )

    def _unread(self, line: int, text: str, what: str, id: str | None = None) -> None:
        message = f"`{_short(text)}` was not read as a task: it is {what}"
        self.reading.problems.append(warning("not_a_task", line, message, id=id))

    def _almost_a_task(self, line: int, text: str) -> None:
        if _ALMOST_A_BOX.match(text):
            self._unread(
                line, text, "no list item with a box; expected `- [ ] ` with its blanks at the start of a line"
            )

    def _loose_link(self, draft: Draft) -> None:
        message = (
            f"the title of {draft.id} speaks of prerequisites, but holds nothing back: `{_short(draft.title)}`; "
            "expected them in parentheses at its end, such as `(after: T-1)`"
        )
        self.reading.problems.append(warning("link_in_title", draft.line, message, id=draft.id))

    def _note_criterion(self, block: Block, scope: Scope, id: str) -> None:
        owner = scope.owner
        if owner and not scope.labelled and not is_number(id) and not is_criterion(id):
            message = (
                f"`{id}` stands below {owner.id} and was read as one of its criteria: it starts with other letters"
            )
            self.reading.problems.append(note("read_as_criterion", block.start, message, id=id))


def _short(text: str) -> str:
    line = clean_line(text.partition("\n")[0])
    return line if len(line) <= 60 else f"{line[:59]}…"
