"""What may enter the repository without a person: no file that looks like a secret, no large binary file, and not too
much at once.

It holds for what a run left uncommitted and for what it committed itself: once landed, both are there for good.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from recall.domain.frozen import frozen
from recall.domain.text import clean, clean_line
from recall.domain.work import PersonNeeded
from recall.gitops.changes import GITLINK, ChangedPath
from recall.gitops.integration import IntegrationRepository, borrowing
from recall.gitops.protected import Series
from recall.gitops.secrets import has_secret_name, secrets_in

_MEBIBYTE = 1024 * 1024
_LOOKED_AT = 8000  # bytes; git takes a file for a binary one when a NUL is among as many


@frozen
class ContentRule:
    """New content of more than `max_bytes` in all waits for a person, and a binary file of more than `max_binary`."""

    max_bytes: int
    max_binary: int

    def too_large(self, sizes: Mapping[str, int], what: str) -> PersonNeeded | None:
        """Judge path -> bytes; `what` says whose they are."""
        total = sum(sizes.values())
        if total <= self.max_bytes:
            return None
        largest = sorted(sizes, key=lambda path: -sizes[path])[:5]
        return PersonNeeded(
            f"{total / _MEBIBYTE:.1f} MiB {what}, more than merge.max_leftover_bytes "
            f"({self.max_bytes / _MEBIBYTE:.1f} MiB) allows",
            tuple(_sized(path, sizes[path]) for path in largest),
        )

    def large_binaries(self, contents: Iterable[tuple[str, bytes]]) -> PersonNeeded | None:
        """Judge paths with their contents, each for itself; a path may come with several."""
        large = ((path, content) for path, content in contents if len(content) > self.max_binary)
        found = {(path, len(content)) for path, content in large if b"\0" in content[:_LOOKED_AT]}
        if not found:
            return None
        return PersonNeeded(
            f"it brings binary files of more than merge.max_binary_bytes ({self.max_binary / _MEBIBYTE:.1f} MiB)",
            tuple(_sized(path, size) for path, size in sorted(found)),
        )


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
        new = [change for change in changes if change.oid in fresh and change.mode != GITLINK]
        oids = list(dict.fromkeys(change.oid for change in new))
        sizes = _by_path(new, dict(zip(oids, self._sizes(oids, objects), strict=True)))
        if too_much := self._rule.too_large(sizes, "are new in its commits"):
            return too_much
        contents = self._integration.blobs(oids, objects)
        named = {change.path for change in changes if change.is_new and has_secret_name(change.path)}
        secrets = self._secrets(named, new, contents, objects)
        return secrets or self._rule.large_binaries((change.path, contents[change.oid]) for change in new)

    def _secrets(
        self,
        named: set[str],
        new: Sequence[ChangedPath],
        contents: Mapping[str, bytes],
        objects: Path | None,
    ) -> PersonNeeded | None:
        places = {(path, 0): f"{clean_line(path)} (by its name)" for path in named}
        for change in new:
            found = secrets_in(change.path, contents[change.oid])
            before = self._secrets_before(change, objects) if found and not change.is_new else ()
            fresh = (secret for mark, secret in found.items() if mark not in before)
            places |= {(change.path, one.line): f"{clean_line(change.path)}:{one.line} ({one.kind})" for one in fresh}
        if not places:
            return None
        return PersonNeeded("files that it brings look like secrets", tuple(places[at] for at in sorted(places)))

    def _secrets_before(self, change: ChangedPath, objects: Path | None) -> set[str]:
        (content,) = self._integration.blobs([change.old_oid], objects).values()
        return set(secrets_in(change.path, content))

    def _sizes(self, oids: Sequence[str], objects: Path | None) -> list[int]:
        asked = "".join(f"{oid}\n" for oid in oids).encode()
        check = "--batch-check=%(objectsize)"
        said = self._integration.git("cat-file", check, stdin=asked, env=borrowing(objects)).text.split()
        return [int(size) for size in said]


def _sized(path: str, size: int) -> str:
    return f"{clean_line(path)} ({size / _MEBIBYTE:.1f} MiB)"


def _by_path(new: Sequence[ChangedPath], sizes: Mapping[str, int]) -> dict[str, int]:
    """Add up the versions of each path: all of them stay in history."""
    found: dict[str, int] = {}
    for path, oid in {(change.path, change.oid) for change in new}:
        found[path] = found.get(path, 0) + sizes[oid]
    return found
