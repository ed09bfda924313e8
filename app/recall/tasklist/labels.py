"""Fields: the names people give them, and where in a line one begins."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from recall.domain.frozen import frozen

AFTER = "after"
BLOCKS = "blocks"
LINKS = frozenset({AFTER, BLOCKS})

_SYNONYMS = {
    AFTER: "after|depends on|depends|depend on|deps|dependencies|dependency|requires|needs|prereq|prereqs"
    "|prerequisite|prerequisites|blocked by|前置|前置任務|前置任务|依賴|依赖",
    BLOCKS: "blocks",
    "type": "type|kind|area|label",
    "priority": "priority|prio|優先|優先級|优先|优先级",
    "agent": "agent|agents|assignee|owner",
    "verify": "verify|check",
    "touches": "touches|files|paths",
    "timeout": "timeout",
    "attempts": "attempts|max attempts",
    "status": "status|狀態|状态",
    "id": "id|task id",
}
LABELS = {word: name for name, words in _SYNONYMS.items() for word in words.split("|")}

#: Fields that say nothing without a colon, unless the words are these and an id follows.
_WITHOUT_COLON = re.compile(
    r"[*_`]{0,3}(?P<label>depends[\s_-]on|blocked[\s_-]by|depends|prereqs?|prerequisites?|dependencies)[*_`]{0,3}\s+"
    r"(?=[*_`\[#]{0,4}[A-Za-z0-9]*[-_]?\d)",
    re.IGNORECASE,
)
_GROUP_WITHOUT_COLON = re.compile(
    r"(depends[\s_-]on|blocked[\s_-]by|depends|deps|prereqs?|prerequisites?|dependencies|after|requires|needs|blocks)\s+"
    r"(?=[*_`\[#]{0,4}[A-Za-z0-9]*[-_]?\d)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"(?P<label>[^:：=\n]{1,48}?)\s*[:：=]\s*")
_BOLD_LABEL = re.compile(r"(\*\*|__)(?P<label>[^*_:：]{2,40})\1\s+")
_CLOSING = " .*_`"
_MARKS_READ = 10
_MARK_AT_END = re.compile(r"\s(?:\[[^\[\]]{1,12}\]|[#@]\w{1,20})$")
_LINK_IN_PROSE = re.compile(
    r"\b(?:(?:depends[ _-]on|blocked[ _-]by)\s*[:：]?"
    r"|(?:after|depends|deps|prereqs?|prerequisites?|requires|needs)\s*[:：])"
    r"\s*[*`\[#]{0,4}[A-Za-z]{0,8}[-_]?\d",
    re.IGNORECASE,
)
_REMARK = re.compile(r"\s*\([^()]*\)\s*$")
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")
_BETWEEN = re.compile(r"(?<=\s)[|·•](?=\s)")
_NEXT_IN_GROUP = re.compile(r"[;；]\s*|[,，]\s*(?=[\w\s-]{2,20}[:：=])")
_PAIRS = {"(": ")", "{": "}", "（": "）"}
_OPEN = re.compile(r"[({（]")
_MAY_HOLD_FIELDS = re.compile(r"[:：*_]|depend|blocked|prereq", re.IGNORECASE)
_OPEN_OR_CLOSE = re.compile(r"[(){}（）]")


@frozen
class Field:
    """`name` is ours, `label` what was written; `line` and `column` (from 0) say where the value stands.

    An unsure one is a sub-heading such as `Dependencies`, which may as well stand above prose.
    """

    name: str
    label: str
    value: str
    line: int
    column: int
    sure: bool = True


@frozen
class Found:
    """A field inside some text: the value stands at `text[start:end]`."""

    name: str
    label: str
    start: int
    end: int


@lru_cache(maxsize=1024)
def field_name(label: str) -> str | None:
    """Look up a label as written: any case, `_` or `-` for a space, emphasis and a remark around it."""
    bare = _EDGES.sub("", _REMARK.sub("", label.strip().strip("*_`")))
    return LABELS.get(" ".join(re.split(r"[\s_-]+", bare.casefold())))


def fields_of_line(line: str) -> tuple[list[Found], bool]:
    """Find the fields of a line such as `**Type:** ui | **After:** T-1`. The flag says that it holds nothing else."""
    if not _MAY_HOLD_FIELDS.search(line):
        return [], False
    found: list[Found] = []
    complete = True
    for start, end in _segments(line):
        field = _field_at(line, start, end)
        if field:
            found.append(field)
        else:
            complete = False
    return found, complete and bool(found)


@frozen
class Titled:
    """A title without its inline fields. Those know no place yet: line and column are 0."""

    title: str
    fields: tuple[Field, ...]


def inline_fields(text: str) -> Titled:
    """Take `(after: T-1; type: ui)` and `{…}` out of a title. Without a colon only a group at the end counts."""
    if not _OPEN.search(text):
        return Titled(text.strip(), ())
    kept: list[str] = []
    fields: list[Field] = []
    position = 0
    stop = _end_before_marks(text)
    for start, end in _groups(text):
        inside, unknown = _fields_of_group(text, start + 1, min(end - 1, len(text)), last=end >= stop)
        if not inside:
            continue
        fields += [Field(each.name, each.label, text[each.start : each.end], 0, 0) for each in inside]
        kept.append(text[position:start])
        kept.extend(f"({text[a:b]})" for a, b in unknown)
        position = end
    kept.append(text[position:])
    title = "".join(kept) if fields else text
    return Titled(re.sub(r"[ \t]{2,}", " ", title).strip() if fields else title.strip(), tuple(fields))


def has_open_group(text: str) -> bool:
    """Tell whether a bracket that holds fields is still open at the end, so that the next line belongs to it."""
    groups = _groups(text) if _OPEN.search(text) else []
    return bool(groups) and groups[-1][1] > len(text)


def looks_like_a_link(title: str) -> bool:
    """Tell whether a title still says `depends on T-1` or `after: T-1` somewhere."""
    return _LINK_IN_PROSE.search(title) is not None


def _end_before_marks(text: str) -> int:
    """Find where a title ends before marks such as `[P]`, `#tag` or `@name`."""
    end = len(text.rstrip(_CLOSING))
    for _ in range(_MARKS_READ):
        mark = _MARK_AT_END.search(text, max(end - 24, 0), end)
        if mark is None:
            break
        end = len(text[: mark.start()].rstrip(_CLOSING))
    return end


def _segments(line: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _BETWEEN.finditer(line):
        following = _LABEL.match(line, match.end())
        if following and len(following[1]) <= 40:
            yield start, match.start()
            start = match.end()
    yield start, len(line)


def _field_at(line: str, start: int, end: int) -> Found | None:
    label = _label_at(line, start, end)
    if label is None:
        return None
    name, written, value = label
    return _found(line, name, written.strip("*_` "), value, end, emphasised=line[start : start + 1] in {"*", "_"})


def _label_at(line: str, start: int, end: int) -> tuple[str, str, int] | None:
    start += len(line[start:end]) - len(line[start:end].lstrip())
    for pattern in (_LABEL, _BOLD_LABEL, _WITHOUT_COLON):
        match = pattern.match(line, start, end)
        name = field_name(match["label"]) if match else None
        if match and name and "=" not in match[0]:
            return name, match["label"], match.end()
    return None


def _found(line: str, name: str, label: str, start: int, end: int, *, emphasised: bool) -> Found:
    """Trim what closes an emphasis that began before the value: `**After:** T-1`, `_After: T-1_`."""
    while start < end and emphasised and line[start] in "*_":
        start += 1
    while start < end and line[start].isspace():
        start += 1
    while start < end and (
        line[end - 1].isspace() or (emphasised and line[end - 1] in "*_" and line[start] not in "*_`")
    ):
        end -= 1
    return Found(name, label, start, end)


def _groups(text: str) -> list[tuple[int, int]]:
    """Give the outermost brackets. One that holds fields and never closes reaches to the end of the text."""
    closed, start = _paired(text)
    if start is None or not _fields_of_group(text, start + 1, len(text), last=False)[0]:
        return closed
    return [*(group for group in closed if group[1] <= start), (start, len(text) + 1)]


def _paired(text: str) -> tuple[list[tuple[int, int]], int | None]:
    """Pair brackets in one pass; also give the last of those that stay open."""
    open_at: list[int] = []
    closed: list[tuple[int, int]] = []
    for match in _OPEN_OR_CLOSE.finditer(text):
        if match[0] in _PAIRS:
            open_at.append(match.start())
        elif open_at and _PAIRS[text[open_at[-1]]] == match[0]:
            start = open_at.pop()
            while closed and closed[-1][0] > start:
                closed.pop()
            closed.append((start, match.end()))
    return closed, open_at[-1] if open_at else None


def _fields_of_group(text: str, start: int, end: int, *, last: bool) -> tuple[list[Found], list[tuple[int, int]]]:
    fields: list[Found] = []
    unknown: list[tuple[int, int]] = []
    for part_start, part_end in _parts(text, start, end):
        match = _LABEL.match(text, part_start, part_end)
        name = field_name(match[1]) if match else None
        label = match[1] if match else ""
        if name is None and last:
            match = _GROUP_WITHOUT_COLON.match(text, part_start, part_end)
            name, label = (field_name(match[1]), match[1]) if match else (None, "")
        if match is None or name is None or name == "id":
            unknown.append((part_start, part_end))
            continue
        fields.append(
            _found(text, name, label.strip("*_` "), match.end(), part_end, emphasised=text[part_start] in "*_")
        )
    return fields, unknown


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for match in _NEXT_IN_GROUP.finditer(text, start, end):
        if text[start : match.start()].strip():
            yield start, match.start()
        start = match.end()
    if text[start:end].strip():
        yield start + (len(text[start:end]) - len(text[start:end].lstrip())), end
