"""Conflicts as a person looks at them, and the commit that a person's decisions make.

Everything is worked out again from the two sides whenever it is asked for, in the integration repository: git
objects are all that has to be kept.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from recall.domain.clock import Clock
from recall.domain.conflict import (
    ConflictedFile,
    ConflictKind,
    ConflictRecord,
    Decision,
    Hunk,
    LandedChange,
    Side,
    Version,
)
from recall.domain.errors import EnvironmentFailure
from recall.domain.task import TaskRef
from recall.domain.text import clean, clean_line
from recall.domain.work import Conflict
from recall.failpoint import failpoint
from recall.gitops.changes import GITLINK
from recall.gitops.commits import Commit, joined_message
from recall.gitops.integration import IntegrationRepository
from recall.gitops.merged import (
    Merge,
    chosen,
    kind_of,
    line_shifts,
    marker_size,
    parse_hunks,
    parse_merge,
    renumbered,
)
from recall.gitops.rebase import committer_now

_BY_LINES = frozenset({ConflictKind.CONTENT, ConflictKind.BOTH_ADDED})
_PLAIN = "100644"
_MOST_CHANGES = 20
_MOST_COUNTED = 127  #: up to here merge-file's status counts hunks, above it is an error


class Conflicts:
    """Works in the integration repository alone."""

    def __init__(self, integration: IntegrationRepository, clock: Clock) -> None:
        self._integration = integration
        self._clock = clock

    # -- looking ---------------------------------------------------------------------------------------------
    def merge(self, met: Conflict) -> Merge:
        """Merge both sides again. The integration repository knows no attributes and no drivers."""
        done = self._integration.git("merge-tree", "--write-tree", "-z", met.ours, met.theirs, check=False)
        if done.status not in (0, 1):
            raise EnvironmentFailure(f"{met.theirs[:12]} cannot be merged with {met.ours[:12]}: {clean(done.error)}")
        return parse_merge(done.out) if done.status else Merge(done.out.strip(b"\0\n").decode(), {})

    def files(self, met: Conflict) -> tuple[ConflictedFile, ...]:
        """Give every path that needs a decision, with its hunks."""
        merge = self.merge(met)
        oids = {
            version.oid for stages in merge.stages.values() for version in stages.values() if version.mode != GITLINK
        }
        blobs = self.blobs(oids)
        return tuple(self._file(path, merge, blobs) for path in merge.stages)

    def _file(self, path: str, merge: Merge, blobs: Mapping[str, bytes]) -> ConflictedFile:
        stages = merge.stages[path]
        contents = {stage: blobs[version.oid] for stage, version in stages.items() if version.oid in blobs}
        kind = kind_of(stages, merge.words.get(path, frozenset()), contents)
        parts = self._merged(contents) if kind in _BY_LINES else ()
        if not any(isinstance(part, Hunk) for part in parts):
            parts = ()
        return ConflictedFile(path, kind, stages.get(1), stages.get(2), stages.get(3), parts)

    def _merged(self, contents: Mapping[int, bytes]) -> tuple[bytes | Hunk, ...]:
        """Merge line by line; nothing where git finds no lines."""
        size = marker_size(contents)
        with self.scratch() as folder:
            names = [folder / str(stage) for stage in (2, 1, 3)]
            for stage, name in zip((2, 1, 3), names, strict=True):
                name.write_bytes(contents.get(stage, b""))
            flags = ("-p", "-q", "--diff3", f"--marker-size={size}")
            done = self._integration.git("merge-file", *flags, *map(str, names), check=False)
            if done.status > _MOST_COUNTED:
                return ()
            parts = parse_hunks(done.out, size)
            main, task = self._shifts(parts, Side.MAIN, names[0]), self._shifts(parts, Side.TASK, names[2])
        return renumbered(parts, main, task)

    def _shifts(self, parts: Sequence[bytes | Hunk], side: Side, file: Path) -> Sequence[tuple[int, int]]:
        whole = file.with_name("chosen")
        whole.write_bytes(chosen(parts, side))
        flags = ("--no-index", "--no-ext-diff", "--no-textconv", "-a", "-U0")
        return line_shifts(self._integration.git("diff", *flags, "--", str(whole), str(file), check=False).out)

    def changes_on_main(self, met: Conflict, onto: str) -> tuple[LandedChange, ...]:
        """Give the commits up to `onto` that changed what is in conflict since the task began, newest first."""
        paths = sorted({*met.paths, *self.merge(met).named})
        trailer = "%(trailers:key=Recall-Task,valueonly,separator=%x20)"
        log = ("log", "-z", f"-n{_MOST_CHANGES}", f"--format=%H%n%s%n{trailer}", onto, f"^{met.base}", "--", *paths)
        told = self._integration.git("--literal-pathspecs", *log).out.decode("utf-8", "replace")
        return tuple(_change(entry) for entry in told.split("\0") if entry.strip())

    # -- objects ---------------------------------------------------------------------------------------------
    def blobs(self, oids: Collection[str]) -> dict[str, bytes]:
        """Read the contents of files, all with one process."""
        wanted = sorted(oids)
        out = self._integration.git("cat-file", "--batch", stdin="".join(f"{oid}\n" for oid in wanted).encode()).out
        found: dict[str, bytes] = {}
        at = 0
        for oid in wanted:
            end = out.index(b"\n", at)
            fields = out[at:end].split()
            if len(fields) != 3 or fields[1] != b"blob":
                raise EnvironmentFailure(f"file {oid} cannot be read in {self._integration.git_dir}")
            size = int(fields[2])
            found[oid] = out[end + 1 : end + 1 + size]
            at = end + size + 2
        return found

    def write(self, file: ConflictedFile, content: bytes) -> Version:
        """Store a file's resolved content, with the mode that the merge of the modes gives."""
        oid = self._integration.git("hash-object", "-w", "--stdin", stdin=content).text
        return Version(_mode(file), oid)

    def tree(self, met: Conflict, decisions: Collection[Decision]) -> str:
        """Give the merge's tree with what was decided in place of each conflicted path."""
        with self.scratch() as folder:
            index = folder / "index"
            self._integration.git("read-tree", self.merge(met).tree, index=index)
            self.put(index, {one.path: one.version for one in decisions})
            return self._integration.git("write-tree", index=index).text

    def put(self, index: Path, versions: Mapping[str, Version | None]) -> None:
        """Set paths of an index; None takes one out. Removals come first, they may make room."""
        gone = "0" * len(self._integration.git("hash-object", "--stdin").text)
        lines = [f"0 {gone}\t{path}" for path in versions]
        lines += [f"{version.mode} {version.oid}\t{path}" for path, version in versions.items() if version]
        data = "".join(f"{line}\0" for line in lines)
        self._integration.git("update-index", "-z", "--index-info", index=index, stdin=os.fsencode(data))

    def tree_of(self, commit: str) -> str:
        return self._integration.git("rev-parse", "--verify", "--end-of-options", f"{commit}^{{tree}}").text

    def contents(self, tree: str, paths: Collection[str]) -> dict[str, bytes]:
        """Read files of a tree; those that it does not have are left out."""
        if not paths:
            return {}
        listed = self._integration.git("--literal-pathspecs", "ls-tree", "-r", "-z", tree, "--", *paths).out
        entries = (entry.partition(b"\t") for entry in listed.split(b"\0") if entry)
        found = {os.fsdecode(path): meta.decode().split(" ") for meta, _, path in entries}
        oids = {path: oid for path, (_, kind, oid) in found.items() if kind == "blob"}
        blobs = self.blobs(set(oids.values()))
        return {path: blobs[oid] for path, oid in oids.items()}

    # -- the outcome -----------------------------------------------------------------------------------------
    def commit(self, seen: ConflictRecord, tree: str) -> str:
        """Make the one commit on main's side that stands for all of the task's, and pin it in place of them. The
        originals stay under `refs/recall/original/MERGE`."""
        met = seen.met
        listed = ("rev-list", "--reverse", "--topo-order", met.theirs, f"^{seen.base}", f"^{met.ours}")
        commits = self._integration.commits(self._integration.git(*listed).text.split())
        sources = [commit for commit in commits if len(commit.parents) < 2] or commits
        now = committer_now(self._clock)
        resolved = Commit.new(tree, [met.ours], sources[-1].author, now, joined_message(sources))
        self._integration.store([resolved])
        tip = resolved.oid(self._integration.repository.object_format)
        failpoint("conflicts.commit_stored")
        if not self.original(seen.merge_id):
            self._integration.git("update-ref", _original(seen.merge_id), met.theirs)
        failpoint("conflicts.original_kept")
        self._integration.pin(seen.run_id, tip)
        return tip

    def original(self, merge_id: int) -> str:
        """Give the task's own commits of an entry that was resolved before, "" for any other."""
        ref = _original(merge_id)
        return self._integration.git("rev-parse", "--verify", "-q", "--end-of-options", ref, check=False).text

    @contextmanager
    def scratch(self) -> Generator[Path]:
        with TemporaryDirectory(prefix="conflict-", dir=self._integration.git_dir) as folder:
            yield Path(folder)


def _original(merge_id: int) -> str:
    return f"refs/recall/original/{merge_id}"


def _mode(file: ConflictedFile) -> str:
    """Give the mode of the side that changed it; main's when both did, or nobody."""
    main, task, base = file.main, file.task, file.base
    if main is None or task is None:
        present = main or task
        return present.mode if present is not None else _PLAIN
    return task.mode if base is not None and main.mode == base.mode else main.mode


def _change(entry: str) -> LandedChange:
    commit, subject, trailers = (*entry.strip("\n").split("\n", 2), "", "")[:3]
    names = trailers.split()
    return LandedChange(commit, clean_line(subject), TaskRef.parse(clean_line(names[-1])) if names else None)
