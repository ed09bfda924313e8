"""What may enter the repository without a person: no file that looks like a secret, and not too much at once.

It holds for what a run left uncommitted and for what it committed itself: once landed, both are there for good.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path

from recall.domain.frozen import frozen
from recall.domain.text import clean, clean_line
from recall.domain.work import PersonNeeded
from recall.gitops.changes import GITLINK, ChangedPath
from recall.gitops.integration import IntegrationRepository, borrowing
from recall.gitops.protected import Series

_SECRET_NAMES = (
    ".env", ".env.*", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", ".netrc", ".pgpass", ".git-credentials",
    "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "credentials.json",
)  # fmt: skip
_EXAMPLE_NAMES = ("*.example", "*.sample", "*.template", "*.dist", "*.defaults")
_PRIVATE_KEY = re.compile(rb"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----")
_MEBIBYTE = 1024 * 1024

#: No key is larger.
LARGEST_KEY = _MEBIBYTE


@frozen
class ContentRule:
    """New content of more than `max_bytes` in all waits for a person."""

    max_bytes: int

    def too_large(self, sizes: Mapping[str, int], what: str) -> PersonNeeded | None:
        """Judge path -> bytes; `what` says whose they are."""
        total = sum(sizes.values())
        if total <= self.max_bytes:
            return None
        largest = sorted(sizes, key=lambda path: -sizes[path])[:5]
        return PersonNeeded(
            f"{total / _MEBIBYTE:.1f} MiB {what}, more than merge.max_leftover_bytes "
            f"({self.max_bytes / _MEBIBYTE:.1f} MiB) allows",
            tuple(f"{clean_line(path)} ({sizes[path] / _MEBIBYTE:.1f} MiB)" for path in largest),
        )


def has_secret_name(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    if any(fnmatch(name, pattern) for pattern in _EXAMPLE_NAMES):
        return False
    return any(fnmatch(name, pattern) for pattern in _SECRET_NAMES)


def holds_private_key(path: str, content: bytes) -> bool:
    """Tell whether a file's content is, or has in it, a private key; one that is called an example is none."""
    name = path.rpartition("/")[2].lower()
    return not any(fnmatch(name, pattern) for pattern in _EXAMPLE_NAMES) and bool(_PRIVATE_KEY.search(content))


def look_like_secrets(paths: Collection[str], what: str) -> PersonNeeded | None:
    if not paths:
        return None
    return PersonNeeded(f"{what} look like secrets", tuple(clean_line(path) for path in sorted(paths)))


class CommitInspector:
    """Judges what a run's own commits bring, before it is copied anywhere. `objects` is the object folder of a
    clone, if the run worked in one."""

    def __init__(self, integration: IntegrationRepository, rule: ContentRule) -> None:
        self._integration = integration
        self._rule = rule

    def refusal(self, series: Series, exclude: Sequence[str], tip: str, objects: Path | None) -> PersonNeeded | None:
        """Say what a person must decide about, in any commit of the series. What `exclude` has is not new."""
        known = [f"^{commit}" for commit in exclude]
        env = borrowing(objects)
        listed = self._integration.git(
            "rev-list", "--objects", "--no-object-names", tip, *known, env=env, check=False
        )
        if not listed.ok:
            return PersonNeeded(f"its commits cannot be read: {clean(listed.error)}")
        fresh = set(listed.text.split())
        changes = [change for touched in series.touched.values() for change in touched]
        new = {change.oid: change for change in changes if change.oid in fresh and change.mode != GITLINK}
        sizes = self._sizes(list(new), objects)
        too_much = self._rule.too_large(_by_path(new, sizes), "are new in its commits")
        return too_much or self._secrets(changes, new, sizes, objects)

    def _secrets(
        self,
        changes: Sequence[ChangedPath],
        new: Mapping[str, ChangedPath],
        sizes: Mapping[str, int],
        objects: Path | None,
    ) -> PersonNeeded | None:
        named = {change.path for change in changes if change.is_new and has_secret_name(change.path)}
        small = [oid for oid, change in new.items() if change.is_new and sizes[oid] <= LARGEST_KEY]
        contents = self._integration.blobs(small, objects)
        keys = {new[oid].path for oid, text in contents.items() if holds_private_key(new[oid].path, text)}
        return look_like_secrets(named | keys, "files in its commits")

    def _sizes(self, oids: Sequence[str], objects: Path | None) -> dict[str, int]:
        asked = "".join(f"{oid}\n" for oid in oids).encode()
        check = "--batch-check=%(objectsize)"
        said = self._integration.git("cat-file", check, stdin=asked, env=borrowing(objects)).text.split()
        return {oid: int(size) for oid, size in zip(oids, said, strict=True)}


def _by_path(new: Mapping[str, ChangedPath], sizes: Mapping[str, int]) -> dict[str, int]:
    """Add up the versions of each path: all of them stay in history."""
    found: dict[str, int] = {}
    for oid, change in new.items():
        found[change.path] = found.get(change.path, 0) + sizes[oid]
    return found
