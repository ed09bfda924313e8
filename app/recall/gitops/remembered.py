"""Resolutions are remembered by git's own rerere, in the integration repository's `rr-cache`.

rerere works on a work tree and an index, and keeps a list of its own in the git dir. Each call here gets throw-away
ones of all three, in which the conflicted files have made-up names: what is remembered depends on the hunks alone.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from recall.domain.conflict import ConflictedFile
from recall.gitops.command import ALONE, run_git
from recall.gitops.integration import IntegrationRepository, config_text
from recall.gitops.slot_records import SlotRecords


@dataclass(frozen=True, slots=True)
class _Area:
    """A repository for one call: `files` lie in its work tree as `0`, `1` and so on."""

    folder: Path
    files: tuple[ConflictedFile, ...]

    @property
    def cache(self) -> Path:
        return self.folder / "git" / "rr-cache"

    def fill(self, contents: Sequence[bytes]) -> None:
        for number, content in enumerate(contents):
            (self.folder / "tree" / str(number)).write_bytes(content)

    def contents(self) -> list[bytes]:
        return [(self.folder / "tree" / str(number)).read_bytes() for number in range(len(self.files))]

    def rerere(self) -> None:
        tree, git_dir = self.folder / "tree", self.folder / "git"
        config = ("rerere.enabled=true", "rerere.autoUpdate=false")
        index = git_dir / "index"
        run_git(["rerere"], cwd=tree, git_dir=git_dir, work_tree=tree, index=index, env=ALONE, config=config)

    def take_ids(self) -> set[str]:
        """Give the names under which rerere knows these conflicts. Its list of them goes: it would take a file
        that is still in conflict the next time for one that it has to forget."""
        list_file = self.folder / "git" / "MERGE_RR"
        listed = list_file.read_bytes().split(b"\0")
        list_file.unlink()
        return {entry.partition(b"\t")[0].decode().partition(".")[0] for entry in listed if entry}


class RememberedResolutions:
    """`learn` and `recall` are safe from several processes."""

    def __init__(self, integration: IntegrationRepository, records: SlotRecords) -> None:
        self._integration = integration
        self._records = records
        self._cache = integration.git_dir / "rr-cache"

    def recall(self, files: Sequence[ConflictedFile]) -> dict[str, bytes]:
        """Give the whole content of every file whose conflict was resolved before."""
        known = _with_hunks(files)
        if not known or not self._cache.is_dir():
            return {}
        marked = [_marked(file) for file in known]
        with self._area(known) as area:
            area.fill(marked)
            area.rerere()
            if not self._bring(area):
                return {}
            area.fill(marked)
            area.rerere()
            found = zip(known, marked, area.contents(), strict=True)
            return {file.path: content for file, before, content in found if content != before}

    def learn(self, files: Sequence[ConflictedFile], contents: Mapping[str, bytes]) -> None:
        """Remember how these files were resolved, in place of what was remembered of the same conflicts."""
        known = tuple(file for file in _with_hunks(files) if file.path in contents)
        if not known:
            return
        with self._area(known) as area:
            area.fill([_marked(file) for file in known])
            area.rerere()
            area.fill([contents[file.path] for file in known])
            area.rerere()
            self._take_over(area)

    def _bring(self, area: _Area) -> bool:
        """Copy what is known of the area's conflicts into it. False: nothing is."""
        ids = area.take_ids()
        with self._records.administration():
            known = [name for name in ids if (self._cache / name).is_dir()]
            for name in known:
                shutil.rmtree(area.cache / name, ignore_errors=True)
                shutil.copytree(self._cache / name, area.cache / name)
        return bool(known)

    def _take_over(self, area: _Area) -> None:
        with self._records.administration():
            for entry in area.cache.iterdir():
                if any(entry.glob("postimage*")):
                    shutil.rmtree(self._cache / entry.name, ignore_errors=True)
                    shutil.copytree(entry, self._cache / entry.name)

    @contextmanager
    def _area(self, files: tuple[ConflictedFile, ...]) -> Generator[_Area]:
        with TemporaryDirectory(prefix="rerere-", dir=self._integration.git_dir) as name:
            area = _Area(Path(name), files)
            git_dir = area.folder / "git"
            for folder in (git_dir / "refs", git_dir / "objects" / "info", area.cache, area.folder / "tree"):
                folder.mkdir(parents=True)
            (git_dir / "objects" / "info" / "alternates").write_text(f"{self._integration.objects}\n")
            (git_dir / "HEAD").write_text("ref: refs/heads/nothing\n")
            (git_dir / "config").write_text(config_text(format_settings(self._integration)))
            run_git(
                ["update-index", "-z", "--index-info"],
                git_dir=git_dir,
                index=git_dir / "index",
                stdin=os.fsencode("".join(_index_lines(files))),
            )
            yield area


def format_settings(integration: IntegrationRepository) -> list[tuple[str, str]]:
    """Give the settings of a throw-away repository that reads the integration repository's objects."""
    kind = integration.repository.object_format
    settings = [("core.repositoryformatversion", "0" if kind == "sha1" else "1"), ("core.bare", "false")]
    return settings if kind == "sha1" else [*settings, ("extensions.objectformat", kind)]


def _with_hunks(files: Sequence[ConflictedFile]) -> tuple[ConflictedFile, ...]:
    return tuple(file for file in files if file.hunks)


def _marked(file: ConflictedFile) -> bytes:
    return file.marked("main", "task")


def _index_lines(files: Sequence[ConflictedFile]) -> list[str]:
    lines: list[str] = []
    for number, file in enumerate(files):
        for stage, version in zip((1, 2, 3), (file.base, file.main, file.task), strict=True):
            if version is not None:
                lines.append(f"{version.mode} {version.oid} {stage}\t{number}\0")
    return lines
