"""Resolutions are remembered by git's own rerere, in the integration repository's `rr-cache`.

rerere works on a work tree and an index, and keeps a list of its own in the git dir. Each call here gets throw-away
ones of all three, in which the conflicted files have made-up names: what is remembered depends on the hunks alone.
Each hunk is remembered by itself as well, since rerere knows a file only by all of its hunks together.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from recall.domain.conflict import ConflictedFile, Labels, Remembered, Version
from recall.domain.frozen import frozen
from recall.domain.text import clean_line
from recall.gitops.command import ALONE, run_git
from recall.gitops.integration import IntegrationRepository, config_text
from recall.gitops.slot_records import SlotRecords

_LABELS = Labels("main", "task")
_NOTE = "recall.json"  #: beside what rerere keeps: whose resolution it was


@frozen
class _Found:
    """What rerere made of a text, and whose resolution that was."""

    content: bytes
    task: str
    at: float | None


@frozen
class _Text:
    """A text with conflict markers, and the versions that stand against each other in it."""

    marked: bytes
    versions: tuple[Version | None, ...]


@frozen
class _Area:
    """A repository for one call: `texts` lie in its work tree as `0`, `1` and so on."""

    folder: Path
    texts: Sequence[_Text]

    @property
    def cache(self) -> Path:
        return self.folder / "git" / "rr-cache"

    def fill(self, contents: Sequence[bytes]) -> None:
        for number, content in enumerate(contents):
            (self.folder / "tree" / str(number)).write_bytes(content)

    def fill_marked(self) -> None:
        self.fill([text.marked for text in self.texts])

    def contents(self) -> list[bytes]:
        return [(self.folder / "tree" / str(number)).read_bytes() for number in range(len(self.texts))]

    def rerere(self) -> None:
        tree, git_dir = self.folder / "tree", self.folder / "git"
        config = ("rerere.enabled=true", "rerere.autoUpdate=false")
        index = git_dir / "index"
        run_git(["rerere"], cwd=tree, git_dir=git_dir, work_tree=tree, index=index, env=ALONE, config=config)

    def take_ids(self) -> dict[int, str]:
        """Give the names under which rerere knows these conflicts. Its list of them goes: it would take a file
        that is still in conflict the next time for one that it has to forget."""
        list_file = self.folder / "git" / "MERGE_RR"
        listed = [entry.decode().partition("\t") for entry in list_file.read_bytes().split(b"\0") if entry]
        list_file.unlink()
        return {int(number): name.partition(".")[0] for name, _, number in listed}


class RememberedResolutions:
    """`learn` and `recall` are safe from several processes."""

    def __init__(self, integration: IntegrationRepository, records: SlotRecords) -> None:
        self._integration = integration
        self._records = records
        self._cache = integration.git_dir / "rr-cache"

    def recall(self, files: Sequence[ConflictedFile]) -> dict[str, Remembered]:
        """Give what is known of these files: whole files as git's rerere does, and hunks that met elsewhere."""
        known = [file for file in files if file.hunks]
        if not known or not self._cache.is_dir():
            return {}
        texts = [_whole(file) for file in known] + [text for file in known for text in _hunks(file)]
        found = self._replay(texts)
        rest = found[len(known) :]
        told: dict[str, Remembered] = {}
        for file, whole in zip(known, found[: len(known)], strict=True):
            hunks, rest = rest[: len(file.hunks)], rest[len(file.hunks) :]
            if whole is not None or any(hunk is not None for hunk in hunks):
                told[file.path] = _together(file, whole, hunks)
        return told

    def learn(self, files: Sequence[ConflictedFile], contents: Mapping[str, bytes], task: str, at: float) -> None:
        """Remember how these files, and each of their hunks, were resolved, in place of what was remembered of the
        same conflicts; and for whose conflict and when, in wall seconds UTC."""
        known = [file for file in files if file.hunks and file.path in contents]
        texts = [_whole(file) for file in known]
        resolved = [contents[file.path] for file in known]
        for file in known:
            pieces = file.pieces(contents[file.path])
            if pieces is not None:
                texts += _hunks(file)
                resolved += pieces
        if not texts:
            return
        with self._area(texts) as area:
            area.fill_marked()
            area.rerere()
            area.fill(resolved)
            area.rerere()
            self._take_over(area, json.dumps({"task": task, "at": at}))

    def _replay(self, texts: Sequence[_Text]) -> list[_Found | None]:
        with self._area(texts) as area:
            area.fill_marked()
            area.rerere()
            ids = area.take_ids()
            notes = self._bring(area, ids.values())
            if not notes:
                return [None] * len(texts)
            area.fill_marked()
            area.rerere()
            return [
                _Found(content, *notes[ids[number]]) if content != text.marked and ids.get(number) in notes else None
                for number, (text, content) in enumerate(zip(texts, area.contents(), strict=True))
            ]

    def _bring(self, area: _Area, ids: Iterable[str]) -> dict[str, tuple[str, float | None]]:
        """Copy what is known of the area's conflicts into it; gives whose resolution each is."""
        with self._records.administration():
            known = [name for name in dict.fromkeys(ids) if (self._cache / name).is_dir()]
            for name in known:
                shutil.rmtree(area.cache / name, ignore_errors=True)
                shutil.copytree(self._cache / name, area.cache / name)
        return {name: _noted(area.cache / name / _NOTE) for name in known}

    def _take_over(self, area: _Area, note: str) -> None:
        with self._records.administration():
            for entry in area.cache.iterdir():
                if any(entry.glob("postimage*")):
                    (entry / _NOTE).write_text(note)
                    shutil.rmtree(self._cache / entry.name, ignore_errors=True)
                    shutil.copytree(entry, self._cache / entry.name)

    @contextmanager
    def _area(self, texts: Sequence[_Text]) -> Generator[_Area]:
        with TemporaryDirectory(prefix="rerere-", dir=self._integration.git_dir) as name:
            area = _Area(Path(name), texts)
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
                stdin=os.fsencode("".join(_index_lines(texts))),
            )
            yield area


def format_settings(integration: IntegrationRepository) -> list[tuple[str, str]]:
    """Give the settings of a throw-away repository that reads the integration repository's objects."""
    kind = integration.repository.object_format
    settings = [("core.repositoryformatversion", "0" if kind == "sha1" else "1"), ("core.bare", "false")]
    return settings if kind == "sha1" else [*settings, ("extensions.objectformat", kind)]


def _versions(file: ConflictedFile) -> tuple[Version | None, ...]:
    return file.base, file.main, file.task


def _whole(file: ConflictedFile) -> _Text:
    return _Text(file.marked(_LABELS), _versions(file))


def _hunks(file: ConflictedFile) -> list[_Text]:
    """Each hunk as a file of its own, so that it is known wherever it meets again."""
    return [_Text(replace(file, parts=(hunk,)).marked(_LABELS), _versions(file)) for hunk in file.hunks]


def _together(file: ConflictedFile, whole: _Found | None, hunks: Sequence[_Found | None]) -> Remembered:
    texts = {number: hunk.content for number, hunk in enumerate(hunks) if hunk is not None}
    content = whole.content if whole is not None else None
    if content is not None:
        texts = dict(enumerate(file.pieces(content) or ()))
    elif len(texts) == len(file.hunks):
        content = file.chosen([texts[number] for number in range(len(texts))])
    newest = max((one for one in (whole, *hunks) if one is not None), key=lambda one: one.at or 0.0)
    return Remembered(texts, content, newest.task, newest.at)


def _noted(note: Path) -> tuple[str, float | None]:
    """Read whose resolution it was; nobody's, if that was not put down."""
    try:
        told = json.loads(note.read_text())
        return clean_line(str(told["task"])), float(told["at"])
    except (OSError, ValueError, KeyError, TypeError):
        return "", None


def _index_lines(texts: Sequence[_Text]) -> list[str]:
    return [
        f"{version.mode} {version.oid} {stage}\t{number}\0"
        for number, text in enumerate(texts)
        for stage, version in zip((1, 2, 3), text.versions, strict=True)
        if version is not None
    ]
