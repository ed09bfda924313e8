"""What the commands without a transaction of their own do, area by area. A new one is a line in its area's table."""

from __future__ import annotations

from recall.ui.acts import conflicts, outside, reading, screen, tasks
from recall.ui.acts.kind import OwnAct

ACTS: dict[str, OwnAct] = {**reading.ACTS, **tasks.ACTS, **conflicts.ACTS, **outside.ACTS, **screen.ACTS}
