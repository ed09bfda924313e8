"""When an agent fails at once on task after task, it is the agent that is broken, not the tasks."""

from __future__ import annotations

from collections.abc import Sequence

from recall.domain.frozen import frozen
from recall.domain.run import Run

#: A run that ends sooner, in seconds, and without a commit has not really tried.
QUICK = 60.0

#: So many different tasks in a row raise a suspicion; once it is raised, one more is enough to raise it again.
DIFFERENT_TASKS = 3

_FIRST_PAUSE = 300.0
_LONGEST_PAUSE = 4 * 3600.0


@frozen
class Suspicion:
    """The agent starts nothing for `pause` seconds, and what its runs cost is given back. `reason` is for people."""

    pause: float
    reason: str


def suspect(agent: str, failures: Sequence[Run], last: str, *, earlier: int) -> Suspicion | None:
    """Say whether an agent is suspected after these quick failures in a row, the newest last.
    `last` is why the newest failed, `earlier` how often in a row the agent was suspected before."""
    refs = list(dict.fromkeys(run.ref for run in failures))
    if len(refs) < (1 if earlier else DIFFERENT_TASKS):
        return None
    tasks = ", ".join(map(str, refs))
    where = f"on {len(refs)} tasks in a row ({tasks})" if len(refs) > 1 else f"again, on {tasks}"
    line = last.strip().partition("\n")[0]
    return Suspicion(
        min(_FIRST_PAUSE * 2 ** min(earlier, 10), _LONGEST_PAUSE),
        f"it failed within {QUICK:.0f} s and without a commit {where}, so the agent itself may be broken; the last: "
        f"{line}; nothing was charged to the tasks. Look at `recall log {failures[-1].ref}`, mend it, then "
        f"`recall resume {agent}`",
    )
