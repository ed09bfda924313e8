"""Writing states back into a task list: boxes and status fields change, no other byte does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from recall.domain.task import DEFAULT_REGION, TaskState
from recall.tasklist.outline import read_outline
from recall.tasklist.reading import read_drafts
from recall.tasklist.resolve import Resolved, resolve
from recall.tasklist.source import Source, read_source
from recall.tasklist.status import STATES, Kind, Meaning, Sign, leading_symbols

_BOXES = {
    Meaning.TODO: " ",
    Meaning.IN_PROGRESS: "~",
    Meaning.BLOCKED: "~",
    Meaning.HELD: "~",
    Meaning.DONE: "x",
    Meaning.CANCELLED: "-",
}
_EMOJI = {
    Meaning.TODO: "⏳",
    Meaning.IN_PROGRESS: "🔄",
    Meaning.BLOCKED: "🚫",
    Meaning.HELD: "⏸",
    Meaning.DONE: "✅",
    Meaning.CANCELLED: "❌",
}
_MEANINGS = {
    TaskState.TODO: Meaning.TODO,
    TaskState.IN_PROGRESS: Meaning.IN_PROGRESS,
    TaskState.LANDING: Meaning.IN_PROGRESS,
    TaskState.NEEDS_PERSON: Meaning.BLOCKED,
    TaskState.ON_HOLD: Meaning.HELD,
    TaskState.DONE: Meaning.DONE,
    TaskState.CANCELLED: Meaning.CANCELLED,
}


def render_status(data: bytes, states: Mapping[str, TaskState]) -> bytes:
    """Give the file with the boxes, signs and status fields of the named tasks brought up to date.

    A place that already says so, in whatever words, stays as it is; so does a task without such a place, one
    that is not named, and one whose id stands in the file twice.
    """
    source = read_source(data)
    resolved, _ = resolve(read_drafts(source, read_outline(source)).drafts, DEFAULT_REGION, ())
    times = Counter(task.draft.id for task in resolved)
    edits: list[tuple[int, int, bytes]] = []
    for task in resolved:
        state = states.get(task.draft.id)
        if state is not None and state is not task.state and times[task.draft.id] == 1:
            edits += _edits(source, task, state)
    return _applied(data, edits)


def _edits(source: Source, task: Resolved, state: TaskState) -> Iterator[tuple[int, int, bytes]]:
    meaning = _MEANINGS[state]
    for sign in task.signs:
        if sign.kind is Kind.STRUCK or (
            STATES[sign.meaning] is STATES[meaning] and sign.meaning is not Meaning.UNKNOWN
        ):
            continue
        if not sign.text or source.lines[sign.line][sign.column : sign.column + len(sign.text)] != sign.text:
            continue
        start = source.offset(sign.line, sign.column)
        end = source.offset(sign.line, sign.column + len(sign.text))
        yield start, end, _written(sign, meaning).encode()


def _written(sign: Sign, meaning: Meaning) -> str:
    if sign.kind is Kind.EMOJI:
        return _EMOJI[meaning]
    if sign.kind is Kind.BOX:
        return f"[{_BOXES[meaning]}]" if sign.text.startswith("[") else _BOXES[meaning]
    brackets = sign.text[0] in "[(（"
    inside = sign.text[1:-1] if brackets else sign.text
    symbols = leading_symbols(inside)
    word = _cased(meaning.value, inside[symbols:].strip())
    spoken = f"{_EMOJI[meaning]} {word}" if symbols else word
    return f"{sign.text[0]}{spoken}{sign.text[-1]}" if brackets else spoken


def _cased(word: str, like: str) -> str:
    if like.isupper():
        return word.upper()
    return word.capitalize() if like[:1].isupper() else word


def _applied(data: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    pieces: list[bytes] = []
    position = 0
    for start, end, new in sorted(edits):
        if start < position:
            continue
        pieces += (data[position:start], new)
        position = end
    return b"".join((*pieces, data[position:]))
