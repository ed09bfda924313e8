"""No search through everything there is comes between a key and its answer, and what is garbage goes all the same."""

from __future__ import annotations

import subprocess
import sys

_LIFE = """
import gc, weakref
from recall.ui.garbage import leave_alone, put_off

class Knot:
    def __init__(self):
        self.me = self

def lost(count):
    return [weakref.ref(Knot()) for _ in range(count)]

put_off()
before = gc.get_stats()[0]["collections"]
early = lost(50_000)
print(gc.get_stats()[0]["collections"] - before)
leave_alone()
print(gc.get_freeze_count() > 50_000)
late = lost(600_000)
print(sum(one() is not None for one in late) < 100_000)
"""


def test_nothing_is_looked_through_at_a_start_and_only_what_came_later_afterwards() -> None:
    done = subprocess.run([sys.executable, "-c", _LIFE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "True", "True"]
