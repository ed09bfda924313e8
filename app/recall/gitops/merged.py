"""What `git merge-tree` says of a merge that is not clean, taken apart. Pure; nothing here starts git."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import takewhile

from recall.domain.conflict import ConflictKind, Hunk, Side, Version
from recall.domain.frozen import frozen
from recall.gitops.changes import GITLINK

_LINK = "120000"
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_LOOKED_AT = 8000  # bytes: where git looks for a NUL before it calls a file binary


@frozen
class Merge:
    """`tree` is git's outcome, conflicted paths in it as git left them. `stages` holds, for each of those, its
    versions: 1 the base, 2 main, 3 the task. `words` are the kinds of trouble that git names for a path, `named`
    all paths that any trouble is about."""

    tree: str
    stages: Mapping[str, Mapping[int, Version]]
    words: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    named: tuple[str, ...] = ()


def parse_merge(out: bytes) -> Merge:
    """Read `merge-tree --write-tree -z`: the tree, the stages, an empty field, then the messages."""
    fields = iter(out.split(b"\0"))
    tree = next(fields).decode()
    stages: dict[str, dict[int, Version]] = {}
    for line in takewhile(bool, fields):
        meta, _, path = line.partition(b"\t")
        mode, oid, stage = meta.decode().split(" ")
        stages.setdefault(os.fsdecode(path), {})[int(stage)] = Version(mode, oid)
    words: dict[str, frozenset[str]] = {}
    for paths, word in _messages(fields):
        for path in paths:
            words[path] = words.get(path, frozenset()) | {word}
    return Merge(tree, stages, words, tuple(words))


def _messages(fields: Iterator[bytes]) -> Iterator[tuple[list[str], str]]:
    """Give the paths and the kind of each message about a conflict: `CONFLICT (rename/delete)` and its like. Advice
    about submodules follows them as plain text."""
    for count in takewhile(bytes.isdigit, fields):
        paths = [os.fsdecode(next(fields)) for _ in range(int(count))]
        kind, _text = next(fields).decode(), next(fields)
        if kind.startswith("CONFLICT"):
            yield paths, kind.removeprefix("CONFLICT").strip(" ()")


def kind_of(stages: Mapping[int, Version], words: frozenset[str], contents: Mapping[int, bytes]) -> ConflictKind:
    """Say what is the matter with a path. `contents` are those of its versions."""
    modes = {version.mode for version in stages.values()}
    if GITLINK in modes:
        return ConflictKind.SUBMODULE
    if words & {"file/directory", "distinct modes"}:
        return ConflictKind.PLACE
    if any("rename" in word for word in words) and not {2, 3} <= set(stages):
        return ConflictKind.RENAMED
    if not {2, 3} <= set(stages):
        return ConflictKind.DELETED_ON_MAIN if 3 in stages else ConflictKind.DELETED_BY_TASK
    if _LINK in modes:
        return ConflictKind.LINK
    if any(map(_has_no_lines, contents.values())):
        return ConflictKind.BINARY
    return ConflictKind.CONTENT if 1 in stages else ConflictKind.BOTH_ADDED


def _has_no_lines(content: bytes) -> bool:
    return b"\0" in content[:_LOOKED_AT] or content.startswith(_LFS_POINTER)


def marker_size(contents: Mapping[int, bytes]) -> int:
    """Give a length of conflict markers that no line of these files can be taken for."""
    runs = (len(run) for content in contents.values() for run in re.findall(rb"^[<|=>]+", content, re.MULTILINE))
    return max([6, *runs]) + 1


def parse_hunks(merged: bytes, size: int) -> tuple[bytes | Hunk, ...]:
    """Take the output of `merge-file --diff3 --marker-size=SIZE` apart. Lines are counted as if one side were chosen
    everywhere, so what only the other side changed elsewhere counts as well: see `renumbered`."""
    parts: list[bytes | Hunk] = []
    sections: list[list[bytes]] = [[]]
    lines_of = [1, 1]  # the next line's number in main's and in the task's file
    for line in merged.splitlines(keepends=True):
        mark = _mark(line, size)
        if mark is None:
            sections[-1].append(line)
        elif mark == b"<":
            _agree(parts, sections.pop(), lines_of)
            sections.append([])
        elif mark == b">":
            parts.append(_hunk(sections, lines_of))
            sections = [[]]
        else:
            sections.append([])
    _agree(parts, sections.pop(), lines_of)
    return tuple(parts)


def _mark(line: bytes, size: int) -> bytes | None:
    sign = line[:1]
    return sign if sign in (b"<", b"|", b"=", b">") and line.startswith(sign * size) else None


def _agree(parts: list[bytes | Hunk], lines: list[bytes], lines_of: list[int]) -> None:
    if lines:
        parts.append(b"".join(lines))
        lines_of[0] += len(lines)
        lines_of[1] += len(lines)


def _hunk(sections: list[list[bytes]], lines_of: list[int]) -> Hunk:
    main, base, task = sections
    hunk = Hunk(b"".join(main), b"".join(base), b"".join(task), lines_of[0], lines_of[1])
    lines_of[0] += len(main)
    lines_of[1] += len(task)
    return hunk


def chosen(parts: Sequence[bytes | Hunk], side: Side) -> bytes:
    """Give the file with one side's text at every hunk."""
    texts = (part if isinstance(part, bytes) else part.main if side is Side.MAIN else part.task for part in parts)
    return b"".join(texts)


def line_shifts(diff: bytes) -> list[tuple[int, int]]:
    """Read `diff -U0 CHOSEN FILE`: from which line of CHOSEN on FILE's lines are how many further down."""
    shifts, total = [(0, 0)], 0
    for match in re.finditer(rb"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@", diff, re.MULTILINE):
        start, old, new = int(match[1]), int(match[2] or b"1"), int(match[3] or b"1")
        total += new - old
        shifts.append((start + max(old, 1), total))
    return shifts


def renumbered(
    parts: Sequence[bytes | Hunk], main: Sequence[tuple[int, int]], task: Sequence[tuple[int, int]]
) -> tuple[bytes | Hunk, ...]:
    """Count the hunks' lines as they are in each side's own file."""
    return tuple(
        replace(part, main_line=_shifted(part.main_line, main), task_line=_shifted(part.task_line, task))
        if isinstance(part, Hunk)
        else part
        for part in parts
    )


def _shifted(line: int, shifts: Sequence[tuple[int, int]]) -> int:
    return line + next(by for start, by in reversed(shifts) if start <= line)
