"""What boxes, signs and words say about a task's status."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from unicodedata import category

from recall.domain.frozen import frozen
from recall.domain.task import TaskState


class Meaning(StrEnum):
    """What somebody meant with a mark. Finer than the states that a first import knows."""

    TODO = "todo"
    IN_PROGRESS = "in progress"
    BLOCKED = "blocked"
    HELD = "on hold"
    DONE = "done"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


class Kind(StrEnum):
    BOX = "box"
    EMOJI = "emoji"
    WORD = "word"
    STRUCK = "struck through"


@frozen
class Sign:
    """One place that says something about the status. `text` stands at `line` and `column` (from 0)."""

    kind: Kind
    meaning: Meaning
    text: str
    line: int
    column: int


STATES: dict[Meaning, TaskState] = {
    Meaning.TODO: TaskState.TODO,
    Meaning.IN_PROGRESS: TaskState.ON_HOLD,
    Meaning.BLOCKED: TaskState.ON_HOLD,
    Meaning.HELD: TaskState.ON_HOLD,
    Meaning.DONE: TaskState.DONE,
    Meaning.CANCELLED: TaskState.CANCELLED,
    Meaning.UNKNOWN: TaskState.ON_HOLD,
}

EMOJI: dict[str, Meaning] = {
    **dict.fromkeys("✅✔☑", Meaning.DONE),
    **dict.fromkeys("❌", Meaning.CANCELLED),
    **dict.fromkeys("⏸", Meaning.HELD),
    **dict.fromkeys("🔵🔄🚧🏃▶🟡", Meaning.IN_PROGRESS),
    **dict.fromkeys("🚫⛔🔴🛑", Meaning.BLOCKED),
    **dict.fromkeys("🟢⬜⏳☐🔲🆕⚪", Meaning.TODO),
}

BOXES: dict[str, Meaning] = {
    **dict.fromkeys(("x", "X", "✓", "✔", "☑", "✅"), Meaning.DONE),
    **dict.fromkeys(("-", "❌"), Meaning.CANCELLED),
    **dict.fromkeys(("~", "⏸"), Meaning.HELD),
    " ": Meaning.TODO,
}

_WORDS: dict[Meaning, str] = {
    Meaning.TODO: "todo|to do|open|ready|new|pending|not started|unstarted|backlog|planned|queued"
    "|待辦|待办|待處理|待处理|未開始|未开始",
    Meaning.IN_PROGRESS: "in progress|inprogress|doing|wip|started|active|ongoing|in review|review|claimed|working"
    "|進行中|进行中",
    Meaning.BLOCKED: "blocked|stuck|waiting|受阻|阻塞",
    Meaning.HELD: "on hold|hold|paused|deferred|postponed|optional|暫停|暂停|擱置|搁置",
    Meaning.DONE: "done|closed|complete|completed|finished|merged|landed|shipped|fixed|已完成|完成",
    Meaning.CANCELLED: "cancelled|canceled|dropped|wontfix|won't do|abandoned|rejected|obsolete|skipped|given up"
    "|已取消|取消",
}
WORDS = {word: meaning for meaning, words in _WORDS.items() for word in words.split("|")}

_ANY_WORD = "|".join(re.escape(word).replace(r"\ ", r"[\s_-]+") for word in sorted(WORDS, key=len, reverse=True))
_WORD = re.compile(rf"({_ANY_WORD})(?!\w)", re.IGNORECASE)
_ENDS_THE_WORD = re.compile(r"[*_`~\s\]]*(?:$|[^\w\s]|\d|on\b|by\b|in\b|since\b|for\b)", re.IGNORECASE)
_BOX_ALONE = re.compile(r"[\s*_`]{0,4}\[(.)\]")
_DECORATION = " \t*_`~\"'[]"
_JOINERS = "\ufe0e\ufe0f\u200d"
_BLANK = {"", "-", "—", "–"}


@frozen
class Words:
    """The status in a field or table cell: its meaning, and the part of the text that says so."""

    meaning: Meaning
    start: int
    end: int
    kind: Kind = Kind.WORD


def read_box(mark: str) -> Meaning:
    """Read what stands between the brackets. An unknown mark is never open work, nor done."""
    if mark == "":
        return Meaning.UNKNOWN
    return BOXES.get(mark.strip().rstrip(_JOINERS) or " ", Meaning.UNKNOWN)


def leading_symbols(text: str) -> int:
    """Count the characters of the emoji a text starts with, joiners and skin tones among them."""
    count = 0
    for character in text:
        if category(character) not in {"So", "Sk"} and character not in _JOINERS:
            break
        count += 1
    return count


def read_emoji(symbols: str) -> Meaning:
    return next((EMOJI[symbol] for symbol in symbols if symbol in EMOJI), Meaning.UNKNOWN)


def read_words(text: str) -> Words:
    """Read a status field: `✅ Done`, `**TODO**`, `In progress (50 %)`. Nothing there means todo."""
    box = _BOX_ALONE.match(text)
    if box:
        return Words(read_box(box[1]), box.start(1), box.end(1), Kind.BOX)
    if text.strip(_DECORATION) in _BLANK:
        return Words(Meaning.TODO, 0, 0)
    start = len(text) - len(text.lstrip(_DECORATION))
    symbols = leading_symbols(text[start:])
    after = start + symbols
    after += len(text[after:]) - len(text[after:].lstrip(_DECORATION))
    match = _WORD.match(text, after)
    if match and (not match[0].isascii() or _ends(match, text)):
        return Words(WORDS[_normal(match[1])], start, match.end())
    if symbols and after >= len(text):
        return Words(read_emoji(text[start : start + symbols]), start, start + symbols, Kind.EMOJI)
    return Words(Meaning.UNKNOWN, start, len(text))


def state_word(text: str) -> Meaning | None:
    """Read a text that is nothing but a status word, such as the `DONE` in `[DONE]`."""
    found = WORDS.get(_normal(text.strip().lstrip(_JOINERS)))
    return found if found is not None else _emoji_and_word(text.strip())


def settle(signs: Iterable[Sign], *, optional: bool = False) -> TaskState:
    """Make one state of all signs. They must agree, or the task waits for a person."""
    meanings = {sign.meaning for sign in signs}
    states = {STATES[meaning] for meaning in meanings} - {TaskState.TODO}
    if not states:
        return TaskState.ON_HOLD if optional else TaskState.TODO
    if len(states) > 1 or (states == {TaskState.DONE} and Meaning.TODO in meanings):
        return TaskState.ON_HOLD
    return states.pop()


def _emoji_and_word(text: str) -> Meaning | None:
    symbols = leading_symbols(text)
    return WORDS.get(_normal(text[symbols:].strip())) if symbols else None


def _ends(match: re.Match[str], text: str) -> bool:
    return WORDS[_normal(match[1])] is Meaning.BLOCKED or _ENDS_THE_WORD.match(text, match.end()) is not None


def _normal(word: str) -> str:
    return " ".join(re.split(r"[\s_-]+", word.casefold()))
