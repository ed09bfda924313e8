"""A conflict as files for a person to edit, and what a person made of them.

The folder's git dir is a throw-away, so that `git diff` and merge tools work there; it is never read. A file with
hunks has conflict markers. Where there is nothing to merge line by line, both versions lie beside each other as
`NAME~main` and `NAME~task`, and the name itself is free: a choice is made by renaming one and deleting the rest.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from recall.domain.conflict import (
    ConflictedFile,
    ConflictKind,
    ConflictRecord,
    Decision,
    Labels,
    Side,
    Taken,
    Version,
    marker_lines,
)
from recall.domain.errors import EnvironmentFailure
from recall.domain.text import clean_line
from recall.gitops.changes import GITLINK
from recall.gitops.command import Finished
from recall.gitops.conflicts import Conflicts
from recall.gitops.integration import IntegrationRepository, config_text
from recall.gitops.remembered import format_settings

_SIGN = "recall-conflict"

_Names = Mapping[str, Mapping[Side, str]]


class ConflictCheckout:
    """Works in the integration repository and in the folder that it is given."""

    def __init__(self, integration: IntegrationRepository, conflicts: Conflicts) -> None:
        self._integration = integration
        self._conflicts = conflicts

    # -- out -------------------------------------------------------------------------------------------------
    def write(self, seen: ConflictRecord, folder: Path, labels: Labels) -> str:
        """Fill an empty or new folder; one that was filled with this very conflict stays as it is. Gives why it
        cannot be used, or ""."""
        if self._is_ours(seen, folder):
            return ""
        refusal = self._why_not(folder)
        if refusal:
            return refusal
        files = self._conflicts.files(seen.met)
        folder.mkdir(parents=True, exist_ok=True)
        with self._conflicts.scratch() as scratch:
            index = scratch / "index"
            self._git("read-tree", self._conflicts.merge(seen.met).tree, index=index)
            beside = _names(files, self._listed(index))
            self._conflicts.put(index, self._placed(files, seen.decisions, labels, beside))
            self._git("checkout-index", "-a", "-q", index=index, work_tree=folder)
            self._conflicts.put(index, {file.path: None for file in files})
            self._write_throw_away(seen, folder, index, files)
        return ""

    def _why_not(self, folder: Path) -> str:
        if os.path.lexists(folder) and (not _is_real(folder) or any(folder.iterdir())):
            return f"{folder} is there already and not an empty folder; name a new one"
        checkout = self._integration.repository.checkout
        if checkout is not None and _lies_in(folder.resolve(), checkout.resolve()):
            return f"{folder} lies in your own checkout; name a folder outside, such as ../resolve"
        return ""

    def _placed(
        self, files: Sequence[ConflictedFile], decisions: Mapping[str, Decision], labels: Labels, beside: _Names
    ) -> dict[str, Version | None]:
        placed: dict[str, Version | None] = {}
        for file in files:
            if file.path in decisions:
                placed[file.path] = decisions[file.path].version
            elif file.hunks:
                placed[file.path] = self._conflicts.write(file, file.marked(labels))
            elif file.kind is ConflictKind.SUBMODULE:
                placed[file.path] = file.main or file.task
            elif file.kind is not ConflictKind.PLACE:
                placed[file.path] = None
                placed |= {name: file.version(side) for side, name in beside[file.path].items()}
        return placed

    def _write_throw_away(
        self, seen: ConflictRecord, folder: Path, index: Path, files: Sequence[ConflictedFile]
    ) -> None:
        git_dir = folder / ".git"
        for inner in ("objects/info", "refs/heads"):
            (git_dir / inner).mkdir(parents=True)
        (git_dir / "config").write_text(config_text(format_settings(self._integration)))
        (git_dir / "objects" / "info" / "alternates").write_text(f"{self._integration.objects}\n")
        boundary = self._integration.git_dir / "shallow"
        if boundary.is_file():
            shutil.copyfile(boundary, git_dir / "shallow")
        (git_dir / "HEAD").write_text(f"{seen.met.ours}\n")
        (git_dir / "MERGE_HEAD").write_text(f"{seen.met.theirs}\n")
        lines = [
            f"{version.mode} {version.oid} {stage}\t{file.path}\0"
            for file in files
            for stage, version in zip((1, 2, 3), (file.base, file.main, file.task), strict=True)
            if version is not None
        ]
        self._git("update-index", "-z", "--index-info", index=index, stdin=os.fsencode("".join(lines)))
        shutil.copy2(index, git_dir / "index")
        (git_dir / _SIGN).write_text(_sign(seen))  # last: it says that all of this is there

    def place(
        self, seen: ConflictRecord, labels: Labels, path: str, content: bytes, known: Collection[bytes]
    ) -> bytes | None:
        """Write the content of a conflicted file into the folder if what lies there is as it was written, or one of
        `known`. Gives what lies there then, None where that is no file."""
        file = next(file for file in self._conflicts.files(seen.met) if file.path == path)
        target = Path(seen.folder) / path
        if not self._is_ours(seen, Path(seen.folder)) or target.is_symlink() or not target.is_file():
            return None
        with self._conflicts.scratch() as scratch:
            index, folder = scratch / "index", Path(seen.folder)
            put = ("hash-object", "-w", f"--path={path}", "--", str(target))
            oid = self._git(*put, index=index, work_tree=folder).text
            there = self._conflicts.blobs({oid})[oid]
            if there not in {file.marked(labels), *known}:
                return there
            self._conflicts.put(index, {path: self._conflicts.write(file, content)})
            self._git("checkout-index", "-f", "-q", "-a", index=index, work_tree=folder)
        return content

    # -- in --------------------------------------------------------------------------------------------------
    def read(self, seen: ConflictRecord, labels: Labels) -> Taken | str:
        """Take over what lies in the folder, or say why it cannot be the one."""
        folder = Path(seen.folder)
        if not self._is_ours(seen, folder):
            return f"{folder} is not the checkout of this conflict (any more); make one again with --checkout DIR"
        files = self._conflicts.files(seen.met)
        with self._conflicts.scratch() as scratch:
            index = scratch / "index"
            self._git("read-tree", self._conflicts.merge(seen.met).tree, index=index)
            merged = self._listed(index)
            beside = _names(files, merged)
            refusal = self._add(folder, index, merged, files)
            if refusal:
                return refusal
            listed = self._listed(index)
            is_open = {
                file.path: why
                for file in files
                if (why := self._open(file, folder, listed, beside[file.path], labels))
            }
            settled = {path: one.version for path, one in seen.decisions.items() if path in is_open}
            spent: dict[str, Version | None] = {name: None for path in settled for name in beside[path].values()}
            self._conflicts.put(index, spent | settled)
            still = {path: why for path, why in is_open.items() if path not in settled}
            placed = {file.path: listed.get(file.path) for file in files if file.path not in is_open}
            return Taken(self._git("write-tree", index=index).text, still, placed, _elsewhere(files, merged, listed))

    def _is_ours(self, seen: ConflictRecord, folder: Path) -> bool:
        sign = folder / ".git" / _SIGN
        try:
            return _is_real(folder) and sign.read_text() == _sign(seen)
        except (OSError, UnicodeDecodeError):
            return False

    def _add(self, folder: Path, index: Path, merged: Mapping[str, Version], files: Sequence[ConflictedFile]) -> str:
        """Read the folder into an index. The conflicted paths count although they may be ignored."""
        gitlinks = [path for path, version in merged.items() if version.mode == GITLINK]
        scope = [":/", *(f":(top,exclude,literal){path}" for path in gitlinks)]
        there = [file.path for file in files if os.path.lexists(folder / file.path) and file.path not in gitlinks]
        for args in (["add", "-A", "--", *scope], ["add", "-f", "--", *(f":(top,literal){path}" for path in there)]):
            done = self._git(*args, index=index, work_tree=folder, check=False)
            if not done.ok:
                raise EnvironmentFailure(f"the files in {folder} cannot be read: {clean_line(done.error)}")
        found = {path for path, version in self._listed(index).items() if version.mode == GITLINK}
        nested = sorted(found.difference(gitlinks))
        return f"{folder} holds git repositories of its own: {', '.join(map(clean_line, nested))}" if nested else ""

    def _listed(self, index: Path) -> dict[str, Version]:
        entries = (entry.partition("\t") for entry in self._git("ls-files", "-s", "-z", index=index).text.split("\0"))
        return {path: Version(*meta.split(" ")[:2]) for meta, _, path in entries if path}

    def _open(
        self,
        file: ConflictedFile,
        folder: Path,
        listed: Mapping[str, Version],
        beside: Mapping[Side, str],
        labels: Labels,
    ) -> str:
        """Say what of a path is not settled, or ""."""
        shown = clean_line(file.path)
        if file.kind is ConflictKind.SUBMODULE:
            return f"{shown}: a submodule, choose one with --take main|task"
        if file.kind is ConflictKind.PLACE:
            return f"{shown}: give it another name, or delete it" if file.path in listed else ""
        if file.hunks:
            lines = self._marker_lines(file, listed.get(file.path), labels)
            return f"{shown}:{lines[0]}: a conflict marker is left" if lines else ""
        left = [name for name in beside.values() if os.path.lexists(folder / name)]
        return f"{shown}: rename {' or '.join(map(clean_line, left))} to it, delete the rest" if left else ""

    def _marker_lines(self, file: ConflictedFile, version: Version | None, labels: Labels) -> list[int]:
        if version is None or version.mode == GITLINK:
            return []
        return marker_lines(file, self._conflicts.blobs({version.oid})[version.oid], labels)

    def _git(
        self, *args: str, index: Path, work_tree: Path | None = None, stdin: bytes = b"", check: bool = True
    ) -> Finished:
        return self._integration.git(*args, index=index, work_tree=work_tree, stdin=stdin, check=check)


def _elsewhere(
    files: Sequence[ConflictedFile], merged: Mapping[str, Version], listed: Mapping[str, Version]
) -> tuple[str, ...]:
    """Name what a person changed beside the conflict itself."""
    beside = {name for names in _names(files, merged).values() for name in names.values()}
    paths = sorted({*merged, *listed} - {file.path for file in files} - beside)
    return tuple(path for path in paths if merged.get(path) != listed.get(path))


def _lies_in(folder: Path, checkout: Path) -> bool:
    """Tell whether a folder would be seen in a checkout; below a folder that ignores itself it is not."""
    if not folder.is_relative_to(checkout):
        return False
    between = [parent for parent in folder.parents if parent.is_relative_to(checkout) and parent != checkout]
    return not any(_ignores_itself(parent) for parent in between)


def _ignores_itself(folder: Path) -> bool:
    try:
        return "*" in (folder / ".gitignore").read_text().split()
    except (OSError, UnicodeDecodeError):
        return False


def _is_real(folder: Path) -> bool:
    return folder.is_dir() and not folder.is_symlink()


def _names(files: Sequence[ConflictedFile], merged: Mapping[str, Version]) -> _Names:
    """Say under which names the versions of each path lie beside each other; none that the merge uses itself."""
    names: dict[str, dict[Side, str]] = {}
    for file in files:
        names[file.path] = {}
        for side in Side:
            if file.version(side) is not None:
                name = f"{file.path}~{side}"
                while name in merged:
                    name += "~"
                names[file.path][side] = name
    return names


def _sign(seen: ConflictRecord) -> str:
    return f"{seen.merge_id} {seen.met.ours} {seen.met.theirs}\n"
