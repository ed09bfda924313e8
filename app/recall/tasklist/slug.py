"""Ids for checklist items that were given none."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from unicodedata import normalize

_WORDS = re.compile(r"[a-z0-9]+")
_KEPT = 40


def automatic_id(title: str, taken: Counter[str]) -> str:
    """Name a task after its title, so that the name stays when the list is reordered.

    A title that ASCII letters cannot tell apart gets a part of its hash; the second of two equal ones a number.
    """
    words = "-".join(_WORDS.findall(normalize("NFKD", title).casefold()))
    lossless = title.isascii() and len(words) <= _KEPT and bool(words)
    digest = hashlib.sha256(title.encode()).hexdigest()[:8]
    id = f"auto-{words}" if lossless else "-".join(filter(None, ("auto", words[:_KEPT].strip("-"), digest)))
    taken[id] += 1
    return id if taken[id] == 1 else f"{id}-{taken[id]}"
