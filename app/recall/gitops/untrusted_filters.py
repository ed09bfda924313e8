"""Filter drivers that appeared or changed while an agent that could write them was, or still is, at work.

Whoever fills a folder or moves a checkout switches them off: an agent may name any program there, and attributes
that a commit brings decide which files go through it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from recall.gitops.command import run_git
from recall.gitops.fingerprint import filter_names, global_part, settings_prints
from recall.gitops.integration import is_lfs_command
from recall.gitops.slot_records import LEFT, USED, Slot, SlotRecords


@dataclass(frozen=True, slots=True)
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
        return {name for name in self._changed_since(suspects) if not self._is_lfs(name)}

    def _changed_since(self, suspects: Iterable[Slot]) -> set[str]:
        now = settings_prints(self.common_dir)
        found: set[str] = set()
        for slot in suspects:
            found |= filter_names(slot.prints, now if slot.kind == "worktree" else global_part(now))
        return found

    def _is_lfs(self, name: str) -> bool:
        """`git lfs install` is a thing that people and agents do, and its programs are known."""
        if name != "lfs":
            return False
        keys = r"^filter\.lfs\.(clean|smudge|process|required)$"
        done = run_git(["config", "-z", "--includes", "--get-regexp", keys], git_dir=self.common_dir, check=False)
        return all(is_lfs_command(entry.partition("\n")[2]) for entry in done.text.split("\0") if entry)
