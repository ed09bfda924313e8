"""Filter drivers that appeared or changed while an agent that could write them was, or still is, at work.

Whoever fills a folder or moves a checkout switches them off: an agent may name any program there, and attributes
that a commit brings decide which files go through it.
"""

from __future__ import annotations

from pathlib import Path

from recall.domain.frozen import frozen
from recall.gitops.fingerprint import filter_names, global_part, settings_prints
from recall.gitops.slot_records import LEFT, USED, SlotRecords


@frozen
class UntrustedFilters:
    """`records` hold what the configuration was when each run began."""

    common_dir: Path
    records: SlotRecords

    def switched_off(self) -> list[str]:
        """Give the settings (`key=value`) under which none of them runs."""
        names = sorted(self.names())
        programs = [f"filter.{name}.{key}=" for name in names for key in ("clean", "smudge", "process")]
        return programs + [f"filter.{name}.required=false" for name in names]

    def names(self) -> set[str]:
        """Name them. One that an agent's run left behind counts until a person has looked at that run's folder."""
        suspects = [slot for slot in self.records.all().values() if slot.status in (USED, LEFT) and slot.prints]
        if not suspects:
            return set()
        now = settings_prints(self.common_dir)
        found: set[str] = set()
        for slot in suspects:
            found |= filter_names(slot.prints, now if slot.kind == "worktree" else global_part(now))
        return found
