"""Reading a git dir that an agent can write, as plain files: git itself never runs in it.

Nothing read here is believed before the integration repository has checked it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from recall.domain.frozen import frozen
from recall.gitops.agent_files import read_bytes, read_text
from recall.gitops.operations import operation

_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = re.compile(r"refs/(?!.*(?:\.\.|//))[^\0-\x20~^:?*\[\\]+")


@frozen
class ForeignGitDir:
    """`git_dir` holds HEAD and the index, `common_dir` the refs. `objects` is None if they are the user's own."""

    git_dir: Path
    common_dir: Path
    objects: Path | None

    def head(self) -> tuple[str | None, str | None]:
        """Give (the ref that HEAD stands on, its commit). Detached: (None, commit); unborn: (ref, None)."""
        said = read_text(self.git_dir / "HEAD").strip()
        if said.startswith("ref: "):
            ref = said[5:].strip()
            return ref, self.resolve(ref)
        return None, said if _OID.fullmatch(said) else None

    def resolve(self, ref: str) -> str | None:
        """Give the object that a ref stands on, loose or packed; None if there is no such ref."""
        if not _REF.fullmatch(ref):
            return None
        loose = read_text(self.common_dir / ref).strip()
        if _OID.fullmatch(loose):
            return loose
        return next((oid for oid, name in self._packed() if name == ref), None)

    def tips(self) -> set[str]:
        """Give every object that a ref of any name stands on, loose or packed."""
        found = {oid for oid, _ in self._packed()}
        for place, _, names in os.walk(self.common_dir / "refs"):
            found.update(read_text(Path(place, name)).strip() for name in names)
        return {oid for oid in found if _OID.fullmatch(oid)}

    def _packed(self) -> Iterator[tuple[str, str]]:
        for line in read_text(self.common_dir / "packed-refs").splitlines():
            oid, _, name = line.partition(" ")
            if _OID.fullmatch(oid):
                yield oid, name

    def stashed(self, branch: str) -> list[str]:
        """Give the titles of the stash's entries that were made on `branch`."""
        titles = (line.partition("\t")[2] for line in read_text(self.common_dir / "logs/refs/stash").splitlines())
        return [title for title in titles if title.startswith((f"WIP on {branch}: ", f"On {branch}: "))]

    def operation(self) -> str:
        """Name the operation that was left half done; empty when there is none."""
        return operation(self.git_dir)

    def index(self) -> bytes:
        """The index as it lies there: data, to be looked at as a copy. Empty if there is none."""
        return read_bytes(self.git_dir / "index")
