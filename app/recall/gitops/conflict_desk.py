"""Everything that git does for a person with a conflict, behind the engine's one port."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from recall.domain.clock import Clock
from recall.domain.conflict import (
    ConflictedFile,
    ConflictRecord,
    Decision,
    Labels,
    LandedChange,
    Remembered,
    Taken,
    Version,
)
from recall.domain.work import Conflict
from recall.gitops.conflict_checkout import ConflictCheckout
from recall.gitops.conflicts import Conflicts
from recall.gitops.integration import IntegrationRepository
from recall.gitops.remembered import RememberedResolutions
from recall.gitops.slot_records import SlotRecords


class ConflictDesk:
    """The `Conflicts` port on an integration repository that is ready."""

    def __init__(self, integration: IntegrationRepository, state_dir: Path, clock: Clock) -> None:
        self._clock = clock
        self._conflicts = Conflicts(integration, clock)
        self._checkout = ConflictCheckout(integration, self._conflicts)
        self._memory = RememberedResolutions(integration, SlotRecords(state_dir))

    def files(self, met: Conflict) -> tuple[ConflictedFile, ...]:
        return self._conflicts.files(met)

    def changes_on_main(self, met: Conflict, onto: str) -> tuple[LandedChange, ...]:
        return self._conflicts.changes_on_main(met, onto)

    def remembered(self, files: Collection[ConflictedFile]) -> Mapping[str, Remembered]:
        return self._memory.recall(tuple(files))

    def write(self, file: ConflictedFile, content: bytes) -> Version:
        return self._conflicts.write(file, content)

    def tree(self, met: Conflict, decisions: Collection[Decision]) -> str:
        return self._conflicts.tree(met, decisions)

    def is_mains(self, met: Conflict, tree: str) -> bool:
        return self._conflicts.tree_of(met.ours) == tree

    def check_out(self, seen: ConflictRecord, folder: Path, labels: Labels) -> str:
        return self._checkout.write(seen, folder, labels)

    def place(
        self, seen: ConflictRecord, labels: Labels, path: str, content: bytes, known: Collection[bytes]
    ) -> bytes | None:
        return self._checkout.place(seen, labels, path, content, known)

    def read(self, versions: Collection[Version]) -> Mapping[Version, bytes]:
        contents = self._conflicts.blobs({version.oid for version in versions})
        return {version: contents[version.oid] for version in versions}

    def take_back(self, seen: ConflictRecord, labels: Labels) -> Taken | str:
        return self._checkout.read(seen, labels)

    def commit(self, seen: ConflictRecord, tree: str) -> str:
        """Remember the resolution, then make its commit."""
        files = self._conflicts.files(seen.met)
        contents = self._conflicts.contents(tree, [file.path for file in files if file.hunks])
        self._memory.learn(files, contents, str(seen.ref), self._clock.now().wall)
        return self._conflicts.commit(seen, tree)

    def was_resolved(self, merge_id: int) -> bool:
        return self._conflicts.original(merge_id) != ""
