"""What one statement of an agent means: the account's limit, its credit, its sign-in, or passing trouble."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from recall.domain.frozen import frozen
from recall.domain.limits import vocabulary
from recall.domain.usage import LimitClass, LimitPatterns

_SPACES = re.compile(r"\s+")
_ESCAPED = re.compile(r"\\u(?P<code>[0-9a-fA-F]{4})|\\(?P<letter>[nrt\"/])|\\x1[bB]\[[0-9;]*m|\\u001[bB]\[[0-9;]*m")


@frozen
class Meaning:
    """A class and the words, from `start` to `end`, that say so. `rate`: too fast rather than used up."""

    kind: LimitClass
    start: int
    end: int
    rate: bool = False


def normal(text: str) -> str:
    """Bring text into the form that patterns are matched on: JSON escapes resolved, one kind of space and of
    apostrophe."""
    if "\\" in text:
        text = _ESCAPED.sub(_unescape, text)
    return _SPACES.sub(" ", text.replace("’", "'").replace("‘", "'").replace("\u02bc", "'")).strip()


def meaning(statement: str, patterns: LimitPatterns) -> Meaning | None:
    """Read one normalised statement. An agent's own patterns go before the common ones."""
    masked = statement
    if _may_match(vocabulary.OTHER_LIMITS, statement.lower()):
        masked = _compiled(vocabulary.OTHER_LIMITS).sub(lambda match: "_" * len(match[0]), statement)
    lower = masked.lower()
    matches = [
        Meaning(kind, match.start(), match.end(), rate)
        for kind, expressions, rate in _order(patterns)
        if _may_match(expressions, lower) and (match := _compiled(expressions).search(masked))
    ]
    if not matches:
        return None
    first = min((one for one in matches if one.kind is matches[0].kind), key=lambda one: one.start)
    return replace(first, rate=matches[0].rate)


def is_rate(statement: str) -> bool:
    """Say whether the statement is about how fast an account asks, whatever else it says."""
    return _compiled(vocabulary.THROTTLED).search(statement) is not None or per_minute(statement)


def per_minute(statement: str) -> bool:
    return _compiled((vocabulary.PER_MINUTE,)).search(statement) is not None


def goes_on(statement: str) -> bool:
    """Say whether this is printed while work goes on: a warning, or another model taking over."""
    return _compiled(vocabulary.GOES_ON).search(statement) is not None


def is_retry(statement: str) -> bool:
    return _compiled((vocabulary.RETRYING,)).search(statement) is not None


def _order(patterns: LimitPatterns) -> tuple[tuple[LimitClass, tuple[str, ...], bool], ...]:
    return (
        (LimitClass.CREDIT, patterns.credit, False),
        (LimitClass.AUTH, patterns.auth, False),
        (LimitClass.TRANSIENT, patterns.transient, False),
        (LimitClass.LIMIT, patterns.limit, False),
        (LimitClass.TRANSIENT, vocabulary.NOT_YOURS, False),
        (LimitClass.CREDIT, vocabulary.CREDIT, False),
        (LimitClass.LIMIT, vocabulary.SPENT, False),
        (LimitClass.AUTH, vocabulary.AUTH, False),
        (LimitClass.TRANSIENT, vocabulary.TRANSIENT, False),
        (LimitClass.LIMIT, vocabulary.THROTTLED, True),
    )


def _may_match(expressions: tuple[str, ...], lower: str) -> bool:
    hints = vocabulary.HINTS.get(expressions)
    return bool(expressions) and (hints is None or any(hint in lower for hint in hints))


@lru_cache(maxsize=128)
def _compiled(expressions: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{_valid(one)})" for one in expressions), re.IGNORECASE)


def _valid(expression: str) -> str:
    """A pattern of a user's that is no regular expression is meant literally."""
    try:
        re.compile(expression)
    except re.error:
        return re.escape(expression)
    return expression


def _unescape(match: re.Match[str]) -> str:
    if match["code"]:
        return chr(int(match["code"], 16))
    return {"n": " ", "r": " ", "t": " "}.get(match["letter"] or "", match["letter"] or "")
