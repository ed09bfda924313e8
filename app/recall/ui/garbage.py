"""When the interpreter looks for unreachable cycles: seldom, and not among what stays.

Left to itself it goes through every module and every task of the list again and again: a fifth of the time until the
first painting, and pauses of a tenth of a second between a key and its answer.
"""

from __future__ import annotations

import gc
from typing import Final

#: More new objects than a start makes, even with a long list.
_NOT_YET: Final = 1_000_000
#: After so many new objects the youngest are looked at; after ten times and a hundred times as many, the older ones.
_NOW_AND_THEN: Final = (5_000, 10, 10)


def put_off() -> None:
    """Look for nothing while the screen is being put together."""
    gc.set_threshold(_NOT_YET)


def leave_alone() -> None:
    """What is there now stays; look for garbage among what comes later."""
    gc.freeze()
    gc.set_threshold(*_NOW_AND_THEN)
