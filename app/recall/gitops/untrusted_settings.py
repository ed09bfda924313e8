"""Settings that appeared or changed while an agent that could write them was, or still is, at work.

Whoever fills a folder or moves a checkout switches such filters off: an agent may name any program there, and
attributes that a commit brings decide which files go through it. Whoever would talk to a remote does not, while what
says where it is, or which program reaches it, is among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from recall.domain.frozen import frozen
from recall.gitops.command import run_git
from recall.gitops.fingerprint import (
    defined_filters,
    filter_names,
    global_part,
    settings_prints,
    transport_names,
)
from recall.gitops.slot_records import LEFT, USED, Slot, SlotRecords

_NAMED = r"\bfilter=[^[:space:]]+"
_ATTRIBUTES = ":(glob)**/.gitattributes"


@frozen
class UntrustedSettings:
    """`records` hold what the configuration was when each run began. What one left behind counts until a person has
    looked at that run's folder."""

    common_dir: Path
    records: SlotRecords

    def switched_off(self, *commits: str) -> list[str]:
        """Give the settings (`key=value`) under which none of the filters runs in a call that goes from one of these
        commits to another. What an agent may define in this very moment does not run either, if a commit names it."""
        names = sorted(self.filters() | self._undefined(commits))
        programs = [f"filter.{name}.{key}=" for name in names for key in ("clean", "smudge", "process")]
        return programs + [f"filter.{name}.required=false" for name in names]

    def filters(self) -> set[str]:
        """Name the filter drivers."""
        return {name for before, now in self._compared() for name in filter_names(before, now)}

    def _undefined(self, commits: Sequence[str]) -> set[str]:
        """Name the filter drivers that these commits' attributes name and that there are none of so far."""
        if not commits or not self._suspects():
            return set()
        search = ["grep", "-h", "-o", "-E", _NAMED, *commits, "--", _ATTRIBUTES]
        found = run_git(search, git_dir=self.common_dir, check=False)
        named = {line.partition("=")[2] for line in found.text.splitlines()}
        return named - defined_filters(settings_prints(self.common_dir))

    def of_transport(self) -> list[str]:
        """Name what says how git reaches remotes."""
        return sorted({name for before, now in self._compared() for name in transport_names(before, now)})

    def _compared(self) -> list[tuple[dict[str, str], dict[str, str]]]:
        """Give what each suspect began with, and what there is now of what it could write."""
        suspects = self._suspects()
        if not suspects:
            return []
        now = settings_prints(self.common_dir)
        return [
            (slot.prints, now) if slot.kind == "worktree" else (global_part(slot.prints), global_part(now))
            for slot in suspects
        ]

    def _suspects(self) -> list[Slot]:
        return [slot for slot in self.records.all().values() if slot.status in (USED, LEFT) and slot.prints]
