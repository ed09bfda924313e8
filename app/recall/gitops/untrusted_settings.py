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
        commits to another. What an agent may define in this very moment does not run either, if a commit names it:
        hence one look at the configuration for both."""
        now = settings_prints(self.common_dir)
        names = sorted(self._changed_filters(now) | (self._named(commits) - defined_filters(now)))
        programs = [f"filter.{name}.{key}=" for name in names for key in ("clean", "smudge", "process")]
        return programs + [f"filter.{name}.required=false" for name in names]

    def filters(self) -> set[str]:
        """Name the filter drivers."""
        return self._changed_filters(settings_prints(self.common_dir))

    def _changed_filters(self, now: dict[str, str]) -> set[str]:
        return {name for before, after in self._compared(now) for name in filter_names(before, after)}

    def _named(self, commits: Sequence[str]) -> set[str]:
        """Name the filter drivers that these commits' attributes name."""
        if not commits:
            return set()
        search = ["grep", "-h", "-o", "-E", _NAMED, *commits, "--", _ATTRIBUTES]
        found = run_git(search, git_dir=self.common_dir, check=False)
        return {line.partition("=")[2] for line in found.text.splitlines()}

    def of_transport(self) -> list[str]:
        """Name what says how git reaches remotes."""
        compared = self._compared(settings_prints(self.common_dir))
        return sorted({name for before, after in compared for name in transport_names(before, after)})

    def _compared(self, now: dict[str, str]) -> list[tuple[dict[str, str], dict[str, str]]]:
        """Give what each suspect began with, and what there is now of what it could write."""
        return [
            (slot.prints, now) if slot.kind == "worktree" else (global_part(slot.prints), global_part(now))
            for slot in self._suspects()
        ]

    def _suspects(self) -> list[Slot]:
        return [slot for slot in self.records.all().values() if slot.status in (USED, LEFT) and slot.prints]
