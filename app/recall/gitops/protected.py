"""Task files, recall.toml and what the settings name are the user's: they are taken out of every commit that an agent
brings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from recall.domain.frozen import frozen
from recall.gitops.changes import ChangedPath
from recall.gitops.commits import Commit
from recall.gitops.integration import IntegrationRepository, borrowing

#: Reports to the dispatcher lie in the work tree but belong to no commit.
MAILBOX = ".recall-run"

_Entries = dict[str, tuple[str, str]]  # path -> (mode, object id)


@frozen
class Series:
    """Commits of a run, oldest first, none of which main has, with what each one touches. `base_tree` is what the
    run began with."""

    oids: tuple[str, ...]
    commits: tuple[Commit, ...]
    touched: Mapping[str, tuple[ChangedPath, ...]]
    base_tree: str


class Protector:
    """Rewrites commits so that `paths` (files and folders, relative to the repository) stay what they were."""

    def __init__(self, integration: IntegrationRepository, paths: Sequence[str]) -> None:
        self._integration = integration
        self._paths = (*dict.fromkeys(paths), MAILBOX)

    def restore(self, series: Series, tip: str, base: str, objects: Path | None) -> tuple[str, tuple[str, ...]]:
        """Give the tip of the series without changes of protected files, and the paths that were put back."""
        touched = {oid: self._touched(series.touched.get(oid, ())) for oid in series.oids}
        merges = {oid for oid, commit in zip(series.oids, series.commits, strict=True) if len(commit.parents) > 1}
        if not merges and not any(touched.values()):
            return tip, ()
        rewritten: dict[str, str] = {}
        env = borrowing(objects)
        for oid, commit in zip(series.oids, series.commits, strict=True):
            parents = [rewritten.get(parent, parent) for parent in commit.parents]
            if touched[oid] or oid in merges or parents != list(commit.parents):
                rewritten[oid] = self._rewrite(oid, commit, parents, _reference(series, commit, parents, base), env)
        restored = sorted({path for paths in touched.values() for path in paths})
        return rewritten.get(tip, tip), tuple(restored)

    def _touched(self, changes: Iterable[ChangedPath]) -> list[str]:
        return [
            change.path
            for change in changes
            if any(change.path == path or change.path.startswith(f"{path}/") for path in self._paths)
        ]

    def _rewrite(self, oid: str, commit: Commit, parents: list[str], reference: str, env: Mapping[str, str]) -> str:
        tree = self._with_entries_of(reference, commit.tree, env)
        if tree == commit.tree and parents == list(commit.parents):
            return oid
        fresh = commit.moved(tree, parents)
        self._integration.store([fresh])
        return fresh.oid(self._integration.repository.object_format)

    def _with_entries_of(self, reference: str, tree: str, env: Mapping[str, str]) -> str:
        """Give `tree` with the protected files as they are in `reference`."""
        wanted, found = self._entries(reference, env), self._entries(tree, env)
        if wanted == found:
            return tree
        nothing = "0" * len(tree)
        lines = [f"0 {nothing}\t{path}\0" for path in found if path not in wanted]
        lines += [f"{mode} {oid}\t{path}\0" for path, (mode, oid) in wanted.items()]
        edits = "".join(lines).encode("utf-8", "surrogateescape")
        with TemporaryDirectory(prefix="restore-", dir=self._integration.git_dir) as folder:
            index = Path(folder, "index")
            git = self._integration.git
            git("read-tree", tree, index=index, env=env)
            git("update-index", "-z", "--index-info", stdin=edits, index=index, env=env)
            return git("write-tree", index=index, env=env).text

    def _entries(self, tree: str, env: Mapping[str, str]) -> _Entries:
        done = self._integration.git("ls-tree", "-r", "-z", "--full-tree", tree, "--", *self._paths, env=env)
        entries: _Entries = {}
        for line in done.text.split("\0"):
            meta, _, path = line.partition("\t")
            if path:
                mode, _, oid = meta.split(" ")
                entries[path] = (mode, oid)
        return entries


def _reference(series: Series, commit: Commit, parents: Sequence[str], base: str) -> str:
    """Name the commit whose protected files count for this one: what it is built on. For a merge that is main's
    side, if it merged main in: only main's may have changed meanwhile."""
    outside = [parent for parent in commit.parents if parent not in series.oids]
    if len(commit.parents) > 1 and outside:
        return next((parent for parent in outside if parent != base), base)
    return parents[0] if parents else base
