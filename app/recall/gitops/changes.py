"""What commits and trees change, read from git's raw format."""

from __future__ import annotations

import os

from recall.domain.frozen import frozen

GITLINK = "160000"
_ABSENT = "000000"


@frozen
class ChangedPath:
    """`mode` and `oid` are those after the change; `status` is git's letter (`A`, `M`, `D`, `T`). Before it stand
    those of the first parent."""

    path: str
    mode: str
    oid: str
    status: str
    old_mode: str
    old_oid: str

    @property
    def is_gone(self) -> bool:
        return self.mode == _ABSENT

    @property
    def is_new(self) -> bool:
        return self.old_mode == _ABSENT

    @property
    def concerns_gitlink(self) -> bool:
        return GITLINK in (self.mode, self.old_mode)


def parse_raw(out: bytes) -> dict[str, list[ChangedPath]]:
    """Read `diff-tree --raw -z`, combined or not. Keyed by commit with `--stdin`, by the empty string without."""
    found: dict[str, list[ChangedPath]] = {}
    commit = ""
    fields = iter(out.split(b"\0"))
    for field in fields:
        if field.startswith(b":"):
            found.setdefault(commit, []).append(_change(field, next(fields)))
        elif field:
            commit = field.strip().decode()
    return found


def _change(meta: bytes, path: bytes) -> ChangedPath:
    """`:OLD NEW OID OID STATUS`; a merge has one colon, one old mode and one old id more for each parent more."""
    sides = len(meta) - len(meta.lstrip(b":"))
    words = meta.decode().lstrip(":").split(" ")
    modes, oids = words[: sides + 1], words[sides + 1 : -1]
    return ChangedPath(os.fsdecode(path), modes[-1], oids[-1], words[-1][:1], modes[0], oids[0])
