"""What git keeps in a work tree's git dir while an operation waits for a person."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from recall.gitops.agent_files import read_text

#: A file or folder that shows the operation, and what people call it.
_SIGNS = (
    ("MERGE_HEAD", "merge"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("sequencer", "cherry-pick or revert"),
    ("BISECT_LOG", "bisect"),
)

_STATE = (
    "rebase-merge", "rebase-apply", "sequencer", "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "AUTO_MERGE", "SQUASH_MSG",
    "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "BISECT_LOG", "BISECT_START", "BISECT_TERMS", "BISECT_NAMES",
    "BISECT_EXPECTED_REV", "BISECT_ANCESTORS_OK", "index.lock", "HEAD.lock", "ORIG_HEAD.lock", "info/sparse-checkout",
)  # fmt: skip

#: Where an operation remembers commits that no branch may hold.
_REMEMBERED = ("ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "rebase-merge/orig-head", "rebase-apply/orig-head")

_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def operation(git_dir: Path) -> str:
    """Name the operation that waits for a person in this work tree; empty when there is none."""
    return next((name for file, name in _SIGNS if os.path.lexists(git_dir / file)), "")


def remembered(git_dir: Path) -> list[str]:
    """Give the commits that an operation, or a reset, put aside."""
    words = (read_text(git_dir / name).strip() for name in _REMEMBERED)
    return [word for word in words if _OID.fullmatch(word)]


def clear_operation(git_dir: Path) -> None:
    """Forget what was going on, and the locks of a git that is gone. Whoever calls has kept the work."""
    for name in _STATE:
        place = git_dir / name
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)
