"""Telling an agent's own last words from what it wrote about: code, tests, lists, other programs' errors."""

from __future__ import annotations

import re

_SHOWN = re.compile(
    r"^\s*(?:>|[+-] |\* |#|//|\"\"\"|\||```|\d+\s*[:|→]\s|\d+\t|\d+[.)] |\$ |@@|at .*:\d+)"
    r"|::\w|\bpanicked at\b|\bassert|\bPASSED\b|\bFAILED\b|\bTraceback\b"
    r"|\.(?:py|rs|tsx?|jsx?|go|rb|java|md|c|cpp|h):\d+"
    r"|\btest_\w+|\w\s*=\s*[\"']|=>|->|\breturn\b|\bdef \w|\bconst \w",
)

_OTHERS = re.compile(
    r"\b(?:npm|pip3?|yarn|pnpm|cargo|docker|curl|wget|apt(?:-get)?|brew|gem|gh|git|remote|go)"
    r"(?:: | (?:err|error|warn)\b)"
    r"|\brequested url returned\b|\bfrom daemon\b|\bpull rate limit\b|\bapi rate limit exceeded for (?:user|\d)"
    r"|\b(?:GET|POST|PUT|HEAD) https?:|\bwhile getting\b|\bregistry\b",
    re.IGNORECASE,
)

_NARRATED = re.compile(
    r"\b(?:if|when|whenever|once|unless|because|should|would|could|must|add(?:ed|s|ing)?|implement\w*|handl\w+|detect\w*"
    r"|fix\w*|document\w*|returns?|returned|rais\w+|simulat\w*|mock\w*|fake\w*|stub\w*|patterns?|pars\w+|tests?|tested"
    r"|testing|cases?|example|e\.g|bugs?|issues?|todo|note|readme|functions?|class|methods?|says?|above|expects?"
    r"|checks?|covers?|supports?|explain\w*|describ\w+|wrote|writes?|updated?|renam\w+|refactor\w*|regex|matches)\b"
    r"|\b(?:I|we|it|they|server|client|script|endpoint)(?:'ve| have| has| had)?\s*$",
    re.IGNORECASE,
)

_WRITTEN_ABOUT = re.compile(
    r"^['\"\w]*(?: \w+){0,2} (?:is|are|was|were|gets?|now) (?:now |being |correctly )?"
    r"(?:handled|detected|tested|shown|parsed|covered|raised|returned|mapped|caught|treated|reported|retried|fixed|added|ignored|logged|sent|rejected|supported)\b"
    r"|^['\"\w]*[ _-]?(?:tests?|handler|handling|detection|detector|parser|banner|logic|fixture|mock|branch|docs?"
    r"|constants?|responses?|messages?|support|checks?|errors? in)\b",
    re.IGNORECASE,
)

_WENT_ON = re.compile(
    r"^\W*(?:I|I've|I'll|I'm|Let me|Now|Done|Continuing|Resum\w+|All (?:\d+ )?(?:tests|checks|green)|Installed"
    r"|Report (?:is )?written|Next,|Finished|Completed)\b|^\s*(?:⏺|✓|✔|✅)|\bPASSED\b|\bpassed in\b",
)

_ERROR = re.compile(
    r"^\W*(?:[\w.-]+: ?){0,2}(?:[\w.]*(?:error|exception)|err|fatal|failed|[45]\d\d)\b", re.IGNORECASE
)

_WORD = re.compile(r"[^\W\d_]{2}")

#: How far into its line an announcement may start: behind a plain word, and behind one that says "error".
_REACH = 80
_ERROR_REACH = 400


def shown(line: str) -> bool:
    """Say whether a line looks like something displayed: a quotation, code, a list, test or tool output."""
    return bool(_SHOWN.search(line) or _OTHERS.search(line))


def told(line: str, start: int, rest: str) -> bool:
    """Say whether the words at `start` are told about rather than said: what stands before them on their
    line, or right behind them, makes them part of a story."""
    reach = _ERROR_REACH if _ERROR.match(line) else _REACH
    narrated = _NARRATED.search(line[:start]) or _WRITTEN_ABOUT.search(rest)
    return start > reach or bool(narrated) or _quoted(line, start)


def _quoted(line: str, start: int) -> bool:
    """Say whether the words at `start` are a quotation inside a sentence that goes on behind it."""
    before, mark = line[: max(start - 1, 0)], line[start - 1 : start]
    if mark not in ('"', "'", "`") or not _WORD.search(before) or _ERROR.match(line):
        return False
    return bool(_WORD.search(line[start:].partition(mark)[2]))


def went_on(lines: list[str]) -> bool:
    """Say whether the agent worked on after a line that these follow."""
    return any(_WENT_ON.search(line) for line in lines)


def without_fenced(lines: list[str]) -> list[str]:
    """Blank out what stands between two fences."""
    fences = [at for at, line in enumerate(lines) if line.lstrip().startswith("```")]
    kept = list(lines)
    for opening, closing in zip(fences[::2], fences[1::2], strict=False):
        kept[opening : closing + 1] = [""] * (closing + 1 - opening)
    return kept
