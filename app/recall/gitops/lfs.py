"""Which settings are those of `git lfs install`: a thing that people and agents do, with programs that are known."""

from __future__ import annotations

import re

_KEY = re.compile(r"filter\.lfs\.(clean|smudge|process|required)")
_VALUE = re.compile(r"git-lfs (clean|smudge|filter-process)( --skip)?( -- %f)?|true|false")


def is_of_lfs(key: str, value: str) -> bool:
    return bool(_KEY.fullmatch(key) and _VALUE.fullmatch(value))
