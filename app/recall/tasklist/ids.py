"""Task ids: which are valid, and how one is told from the words after it."""

from __future__ import annotations

import re
from enum import StrEnum

from recall.domain.frozen import frozen

MAX_ID = 64

_VALID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,9})*")
_PREFIX = re.compile(r"[A-Za-z]*")
_PLACEHOLDER = re.compile(r"[A-Za-z]{0,8}[-_]?(?:X{2,6}|#{1,6}|N{3,6}|\?{1,6})|[A-Z]{1,8}-[XN]")
_TEMPLATE = re.compile(r"\{\{.*?\}\}|<[a-z][a-z _-]*>")
_OPENERS = re.compile(r"[*_`~\[(]{1,6}")
_TASK_WORD = re.compile(r"(?P<opener>[*_]{0,3})(?:task|任務|任务)\s+(?=[#*`\[]{0,3}[A-Za-z]*[-_]?\d)", re.IGNORECASE)
_TOKEN = re.compile(r"#?[^\s:：,，;；、*`\[\](){}<>|~\"'!=—–…]+")
_AFTER = re.compile(r"(?P<close>[*_`~\])>]*)(?P<sep>\s*(?:[:：—–|·•]|-{1,3}(?=\s|$))?)(?P<late>[*_`~]*)")
_LINK_TARGET = re.compile(r"\([^()\s]*\)")
_BARE = re.compile(r"[A-Za-z][A-Za-z0-9]*[-_.].*|[A-Z]{1,8}\d+[a-z]?|(?:[a-z]|[Tt]ask)\d+")
_VERSION = re.compile(r"[vV]\d+(?:\.\d+)*")
_LINK_END = re.compile(r"\](?:\([^()\s]*\))?")
_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d)?")
_ATTEMPT = re.compile(r"[A-Za-z]{1,12}-[A-Za-z]{0,4}\d\S*|[^\W\d_]{1,12}-\d+[a-z]?")
_SEVERAL = re.compile(
    r"\s*(?:[,，、/&+]|\.\.\.?|…|[–—]|\b(?:and|or|to|through|und)\b)\s*[*`\[]{0,3}([A-Za-z]+)-?\d", re.IGNORECASE
)


class IdFault(StrEnum):
    """Why something that stands where an id stands is none."""

    UNSAFE = "unsafe"
    PLACEHOLDER = "placeholder"
    SEVERAL = "several"


@frozen
class Labelled:
    """A text split into its id and the rest. With a `fault` the id is what was found in its place."""

    id: str
    rest: str
    fault: IdFault | None = None


def is_id(text: str) -> bool:
    """Tell whether a text may be the name of a task: it also becomes part of branches and folders."""
    return (
        len(text) <= MAX_ID
        and _VALID.fullmatch(text) is not None
        and any(map(str.isdigit, text))
        and ".." not in text
        and not text.endswith(".")
        and not text.lower().endswith(".lock")
    )


def is_number(id: str) -> bool:
    """Tell whether an id is a plain or dotted number."""
    return _NUMBER.fullmatch(id) is not None


def is_placeholder(text: str) -> bool:
    return _PLACEHOLDER.fullmatch(text) is not None or _TEMPLATE.fullmatch(text) is not None


def of_one_family(parent: str, child: str) -> bool:
    """Tell whether a box below a heading task is a task too: same letters in front, or the number continued."""
    if is_number(parent):
        return child.startswith(f"{parent}.")
    letters = _prefix(parent)
    return letters != "" and letters == _prefix(child)


def take_id(text: str) -> Labelled | None:
    """Split `**T-1** — Title` and its like into id and title; None when the text starts with no id."""
    template = _TEMPLATE.match(text.lstrip("*_`[ "))
    if template:
        return Labelled(template[0], "", IdFault.PLACEHOLDER)
    task_word = _TASK_WORD.match(text)
    text = task_word["opener"] + text[task_word.end() :] if task_word else text
    opened = _OPENERS.match(text)
    opener = opened[0] if opened else ""
    token = _TOKEN.match(text, len(opener))
    if token is None:
        return None
    return _judge(text, opener, token, named=task_word is not None)


def _judge(text: str, opener: str, token: re.Match[str], *, named: bool) -> Labelled | None:
    bare = token[0].rstrip(".")
    if "_" in opener:
        bare = bare.rstrip("_")
    dotted = token.start() + len(bare) < token.end()
    after = _AFTER.match(text, token.end())
    assert after is not None, "every part of the pattern may be empty"
    id = bare.lstrip("#") if not is_placeholder(bare) else bare
    behind = text[token.start() + len(bare) :]
    if _names_several(id, behind) or _is_range(bare):
        return Labelled(id, behind, IdFault.SEVERAL)
    rest = _rest(text, opener, after)
    if rest is None:
        return None
    if is_placeholder(id):
        return Labelled(id, rest, IdFault.PLACEHOLDER)
    marked = dotted or named or bool(opener) or bool(after["sep"].strip()) or ")" in after["close"] or bare != id
    if is_id(id):
        return Labelled(id, rest) if _stands_for_a_task(id, marked=marked) else None
    return Labelled(id, rest, IdFault.UNSAFE) if _was_meant_as_id(id) else None


def _rest(text: str, opener: str, after: re.Match[str]) -> str | None:
    end = after.end("close")
    link = _LINK_TARGET.match(text, end) if "[" in opener and text[end - 1 : end] == "]" else None
    if link:
        after = _AFTER.match(text, link.end()) or after
        end = link.end()
    following = text[end : end + 1]
    if following and not (following.isspace() or following in ":：—–|·([{." or after["late"] or after["sep"]):
        return None
    stop = after.end() if _still_open(opener, after["close"]) else after.end("sep")
    return _close(text[stop:].strip(), opener, after["close"] + (after["late"] if stop == after.end() else ""))


def _still_open(opener: str, closers: str) -> bool:
    return any(opener.count(mark) > closers.count(mark) for mark in "*_~`")


def _close(rest: str, opener: str, closers: str) -> str:
    """Take the closing mark of `**T-1: Title**` out of the title."""
    if opener.count("[") > closers.count("]"):
        rest = _LINK_END.sub("", rest, count=1)
    for mark in ("**", "__", "~~", "*", "`"):
        if opener.count(mark) > closers.count(mark) and mark in rest:
            before, _, behind = rest.partition(mark)
            return (before + behind).strip()
    return rest


def _stands_for_a_task(id: str, *, marked: bool) -> bool:
    """Tell `T003 Title` from `e2e tests`. A mark, such as a colon or bold type, makes anything valid an id."""
    if _DATE.fullmatch(id):
        return False
    if is_number(id):
        return marked or "." in id
    return marked or (_BARE.fullmatch(id) is not None and not _VERSION.fullmatch(id))


def _was_meant_as_id(token: str) -> bool:
    too_long = len(token) > MAX_ID and _VALID.fullmatch(token) is not None
    return too_long or _ATTEMPT.fullmatch(token) is not None


def _is_range(token: str) -> bool:
    first, dots, last = token.partition("..")
    return bool(dots) and is_id(first) and is_id(last.lstrip(".")) and _prefix(first) == _prefix(last.lstrip("."))


def _names_several(id: str, behind: str) -> bool:
    other = _SEVERAL.match(behind.lstrip("*`]"))
    return other is not None and bool(_prefix(id)) and other[1].lower() == _prefix(id).lower()


def _prefix(id: str) -> str:
    match = _PREFIX.match(id)
    return match[0] if match else ""
