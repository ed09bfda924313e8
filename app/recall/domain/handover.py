"""What a fresh start is told of work that an earlier run had to leave."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from recall.domain.outcome import GOES_ON
from recall.domain.run import Run, RunResult
from recall.domain.work import Handover

#: Endings that say nothing of the work: what came before them counts.
_INTERRUPTED = frozenset({RunResult.ORPHANED, RunResult.LEASE_LOST})


def handed_over(earlier: Sequence[Run], diff_of: Callable[[int], str]) -> Handover | None:
    """Give what the last run that ended at a limit or with a question left, unless a later one came to an end of
    its own: that one's work was judged, and is not to be gone on with. `earlier` is oldest first."""
    interrupted: list[Run] = []
    for run in reversed(earlier):
        if run.result in GOES_ON:
            diffs = (diff for one in (*interrupted, run) if (diff := diff_of(one.id)))
            return Handover(run.agent, run.reason, next(diffs, ""))
        if run.result not in _INTERRUPTED:
            return None
        interrupted.append(run)
    return None
