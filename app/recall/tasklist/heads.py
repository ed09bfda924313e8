"""The first line of an item or heading: its box, its signs, its id and its title."""

from __future__ import annotations

import re
from dataclasses import replace

from recall.domain.frozen import frozen
from recall.tasklist.ids import IdFault, Labelled, take_id
from recall.tasklist.inline import unwrapped, without_comments
from recall.tasklist.labels import Field, inline_fields
from recall.tasklist.status import BOXES, EMOJI, Kind, Meaning, leading_symbols, read_box, read_emoji, state_word

#: Signs that mean a status wherever they stand; other emoji only do in front of an id.
_STRONG = "✅✔☑❌⏸🚧🔄"

_BOX = re.compile(r"\[(?P<mark>[^\[\]\n]{0,14})\](?P<star>\*(?=\s|$))?(?![(\[:])")
_SPEC_KIT_MARK = re.compile(r"(?:\[(?:P|US\d{1,4})\]\s*)+")
_WORD_AT_END = re.compile(r"\[([^\[\]]{1,24})\]$|\(((?i:done|completed|wip|in progress|blocked|cancell?ed))\)$")
_STRUCK = re.compile(r"(?:\[[^\[\]]{0,3}\]\s*)?~~")
_DATE_AT_END = re.compile(r"\d{4}-\d\d-\d\d$")


@frozen
class Mark:
    """A sign found in a head; `text` is how it is written there."""

    kind: Kind
    meaning: Meaning
    text: str


@frozen
class Head:
    """What a first line says. `boxed` makes a list item a checklist item; `optional` is Kiro's `[ ]*`."""

    labelled: Labelled | None
    rest: str
    marks: tuple[Mark, ...] = ()
    boxed: bool = False
    optional: bool = False

    @property
    def id(self) -> str | None:
        return self.labelled.id if self.labelled and self.labelled.fault is None else None

    @property
    def fault(self) -> IdFault | None:
        return self.labelled.fault if self.labelled else None


@frozen
class Title:
    """A title without fields and marks. `dropped` is what stood there and is worth telling an agent."""

    text: str
    fields: tuple[Field, ...]
    marks: tuple[Mark, ...]
    dropped: str = ""


def may_have_a_box(text: str) -> bool:
    """Tell cheaply what cannot have a box or an emoji: most items of a list are no tasks."""
    return "[" in text or not text.isascii() or leading_symbols(text[:1]) > 0


def read_head(text: str) -> Head:
    """Read `[ ] T-1: Title`, `✅ T-1 Title`, `2.1 [ ] Title`, `**T-1** — Title`."""
    head = _read_head(text)
    settled = any(mark.meaning in {Meaning.DONE, Meaning.CANCELLED} for mark in head.marks)
    if settled or not _STRUCK.match(text):
        return head
    return replace(head, marks=(*head.marks, Mark(Kind.STRUCK, Meaning.UNKNOWN, "~~")))


def _read_head(text: str) -> Head:
    box = _BOX.match(text)
    if box is None:
        return _without_box(text)
    behind = text[box.end() :].lstrip()
    marks, rest = _leading_emoji(behind)
    labelled = take_id(rest)
    if not _is_box(box["mark"], with_id=labelled is not None and labelled.fault is not IdFault.PLACEHOLDER):
        return _without_box(text)
    mark = _box_mark(box)
    decided = tuple(m for m in marks if m.meaning is not Meaning.UNKNOWN) if labelled or _is_strong(marks) else ()
    title = rest if labelled or decided else behind
    return Head(labelled, labelled.rest if labelled else title, (mark, *decided), True, box["star"] is not None)


def is_decoration(mark: Mark) -> bool:
    """Tell whether a sign in front of a heading is there for its looks: one that means no status."""
    return mark.kind is Kind.EMOJI and mark.meaning is Meaning.UNKNOWN


def read_title(text: str) -> Title:
    """Take out of a title what is no title: comments, fields, spec-kit's marks, a status at its end."""
    plain = without_comments(text)
    titled = inline_fields(plain if plain == text else " ".join(plain.split()))
    spec_kit = _SPEC_KIT_MARK.match(titled.title)
    rest = titled.title[spec_kit.end() :] if spec_kit else titled.title
    mark, rest = _mark_at_end(rest)
    return Title(unwrapped(rest), titled.fields, (mark,) if mark else (), spec_kit[0].strip() if spec_kit else "")


def _without_box(text: str) -> Head:
    marks, rest = _leading_emoji(text)
    labelled = take_id(rest)
    if labelled is None:
        return Head(None, text)
    box = _BOX.match(labelled.rest)
    if box and _is_box(box["mark"], with_id=True):
        behind = labelled.rest[box.end() :].lstrip()
        return Head(labelled, behind, (*marks, _box_mark(box)), True, box["star"] is not None)
    behind_marks, behind = _leading_emoji(labelled.rest)
    if _is_strong(behind_marks):
        return Head(labelled, behind, (*marks, *behind_marks))
    return Head(labelled, labelled.rest, marks)


def _is_box(mark: str, *, with_id: bool) -> bool:
    """Tell `[x]` from `[1]` and `[link]`: letters and words are boxes only in front of an id."""
    bare = mark.strip()
    if not bare or bare in BOXES or bare.rstrip("\ufe0f") in BOXES:
        return bool(mark) or with_id
    if len(bare.rstrip("\ufe0f")) == 1 and not bare.isalnum():
        return True
    return with_id and (len(bare) == 1 or state_word(bare) is not None)


def _box_mark(box: re.Match[str]) -> Mark:
    word = state_word(box["mark"]) if len(box["mark"]) > 3 else None
    return Mark(Kind.BOX, word or read_box(box["mark"]), f"[{box['mark']}]")


def _leading_emoji(text: str) -> tuple[tuple[Mark, ...], str]:
    count = leading_symbols(text)
    if not count or not text[count : count + 1].isspace():
        return (), text
    return (Mark(Kind.EMOJI, read_emoji(text[:count]), text[:count]),), text[count:].lstrip()


def _is_strong(marks: tuple[Mark, ...]) -> bool:
    return bool(marks) and marks[0].text[0] in _STRONG


def _mark_at_end(title: str) -> tuple[Mark | None, str]:
    """Read `… ✅`, `… ✅ 2026-01-31`, `… [DONE]`, `… (wip)`."""
    undated = _DATE_AT_END.sub("", title).rstrip()
    sign = undated.rstrip("\ufe0f")[-1:]
    if sign and sign in _STRONG:
        return Mark(Kind.EMOJI, EMOJI[sign], sign), undated.rstrip("\ufe0f")[:-1].rstrip()
    match = _WORD_AT_END.search(title[-26:])
    meaning = state_word(match[1] or match[2]) if match else None
    if match and meaning:
        return Mark(Kind.WORD, meaning, match[0]), title[: len(title) - len(match[0])].rstrip()
    return None, title
