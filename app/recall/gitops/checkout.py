"""The user's checkouts: where a branch is checked out, and what there stands in the way of a change.

Nothing here writes. Paths are bytes, as git and the disk have them; `shown` turns one into text for people.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from recall.domain.frozen import frozen
from recall.domain.text import clean_line
from recall.gitops.command import Finished, run_git
from recall.gitops.operations import operation

ABSENT = "000000"
GITLINK = "160000"
SYMLINK = "120000"
EXECUTABLE = "100755"

_LITERAL = ":(top,literal)"
_LONGEST_SCOPE = 64 * 1024  # bytes of a command line


@frozen
class Checkout:
    """A work tree of the user's repository. `git_dir` is the one that holds its index; `branch` is the full
    ref name that HEAD is on, empty when detached. `missing`: it cannot be reached. `pushable`: a push to the
    repository finds it; with a git dir kept elsewhere it does not. `settings` hold for every git call in it."""

    tree: Path
    git_dir: Path
    branch: str
    missing: bool = False
    pushable: bool = True
    settings: tuple[str, ...] = ()


@frozen
class Change:
    """One path that differs between two commits. `mode` is ABSENT when the path goes, `old_mode` when it is
    new."""

    path: bytes
    old_mode: str
    old_blob: str
    mode: str
    blob: str

    def reversed(self) -> Change:
        return Change(self.path, self.mode, self.blob, self.old_mode, self.old_blob)


@frozen
class View:
    """A checkout against a change of its branch. `blocked` are the paths in the way, and `reason` says how;
    `arrived` are the paths that stand in the index and on disk as the change wants them; `clean` means that no
    tracked file differs from HEAD."""

    clean: bool
    arrived: frozenset[bytes] = frozenset()
    blocked: tuple[bytes, ...] = ()
    reason: str = ""


def shown(path: bytes) -> str:
    return clean_line(path.decode("utf-8", "replace"))


def find_checkouts(common_dir: Path, main_tree: Path | None = None) -> list[Checkout]:
    """List every work tree, the main one first. One whose folder is gone counts only while it is locked.
    `main_tree` says where the main one is, which git cannot tell when its git dir lies elsewhere."""
    listing = run_git(["worktree", "list", "--porcelain", "-z"], git_dir=common_dir).out
    own_dirs = _own_git_dirs(common_dir)
    found: list[Checkout] = []
    for number, record in enumerate(filter(None, listing.split(b"\0\0"))):
        words = dict(_pair(line) for line in record.split(b"\0") if line)
        tree = listed = Path(os.fsdecode(words[b"worktree"]))
        if number == 0:
            tree = main_tree or _main_tree(common_dir, listed)
        git_dir = common_dir if number == 0 else own_dirs.get(tree)
        missing = not tree.is_dir() or tree == common_dir
        if b"bare" in words or git_dir is None or (missing and number > 0 and b"locked" not in words):
            continue
        branch = os.fsdecode(words.get(b"branch", b""))
        found.append(Checkout(tree, git_dir, branch, missing, pushable=tree == listed))
    return found


def _pair(line: bytes) -> tuple[bytes, bytes]:
    word, _, rest = line.partition(b" ")
    return word, rest


def _main_tree(common_dir: Path, listed: Path) -> Path:
    """`worktree list` does not know `core.worktree`, which submodules set."""
    configured = run_git(["config", "--get", "core.worktree"], git_dir=common_dir, check=False)
    return (common_dir / configured.text).resolve() if configured.ok else listed


def _own_git_dirs(common_dir: Path) -> dict[Path, Path]:
    own: dict[Path, Path] = {}
    for pointer in sorted(common_dir.glob("worktrees/*/gitdir")):
        target = os.fsdecode(pointer.read_bytes()).rstrip("\n")
        own[(pointer.parent / target).parent] = pointer.parent
    return own


def git_dirs_of_people(common_dir: Path) -> list[Path]:
    """Give the git dir of every work tree that does not stand on a run's branch."""
    every = [common_dir, *sorted(common_dir.glob("worktrees/*"))]
    return [one for one in every if not _word(one / "HEAD").startswith("ref: refs/heads/recall/")]


def find_git_dir(common_dir: Path, tree: Path) -> Path | None:
    """Give the git dir of the linked worktree at `tree`, whether or not its folder is there."""
    return _own_git_dirs(common_dir).get(tree)


def holders(checkouts: Iterable[Checkout], branch: str) -> list[Checkout]:
    """Give the checkouts that would notice a move of `branch`: on it, or rebasing or bisecting it."""
    return [one for one in checkouts if one.branch == branch or branch in _claimed(one.git_dir)]


def _claimed(git_dir: Path) -> set[str]:
    """The branches that an operation in progress will come back to."""
    claimed: set[str] = set()
    for name in ("rebase-merge/head-name", "rebase-apply/head-name"):
        claimed.add(_word(git_dir / name))
    claimed.update(_word(git_dir / "rebase-merge/update-refs").split("\n"))
    if start := _word(git_dir / "BISECT_START"):
        claimed.add(f"refs/heads/{start.removeprefix('refs/heads/')}")
    return claimed


def _word(file: Path) -> str:
    try:
        return os.fsdecode(file.read_bytes()).strip()
    except OSError:
        return ""


def changes(git_dir: Path, old: str, new: str) -> list[Change]:
    raw = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=none", old, new]
    fields = run_git(raw, git_dir=git_dir).out.split(b"\0")
    found: list[Change] = []
    for head, path in zip(fields[0:-1:2], fields[1::2], strict=True):
        old_mode, mode, old_blob, blob, _ = head.decode().lstrip(":").split(" ")
        found.append(Change(path, old_mode, old_blob, mode, blob))
    return found


def view(checkout: Checkout, wanted: Sequence[Change]) -> View:
    """Hold the checkout against the change, before anything is touched."""
    if waiting := operation(checkout.git_dir):
        return View(False, reason=f"a {waiting} is in progress in {checkout.tree}; finish or abort it")
    status = _status(checkout, ())
    if unmerged := tuple(path for path, entry in status.items() if entry.unmerged):
        return View(False, blocked=unmerged, reason="unmerged files")
    arrived = _staged(status, wanted)
    dirty = [one.path for one in wanted if one.path in status and one.path not in arrived]
    dirty += _hidden_edits(checkout, wanted)
    if dirty:
        return View(False, arrived, tuple(sorted(set(dirty))), "uncommitted edits in files that the change touches")
    if strangers := in_the_way(checkout.tree, wanted, arrived):
        return View(False, arrived, strangers, "untracked or ignored files where the change brings its own")
    return View(not status, arrived)


def arrived(checkout: Checkout, wanted: Sequence[Change]) -> frozenset[bytes]:
    """Give the paths that stand in the index and on disk as the change wants them, none during an operation. The
    rest of the checkout is not looked at."""
    return frozenset() if operation(checkout.git_dir) else _staged(_status(checkout, _scope(wanted)), wanted)


def _staged(status: Mapping[bytes, _Entry], wanted: Sequence[Change]) -> frozenset[bytes]:
    return frozenset(one.path for one in wanted if (entry := status.get(one.path)) and entry.staged_as(one))


def _scope(wanted: Sequence[Change]) -> list[str]:
    """The pathspecs of a change; none, which means everything, when there are too many for a command line."""
    if sum(len(one.path) + len(_LITERAL) + 1 for one in wanted) > _LONGEST_SCOPE:
        return []
    return [_LITERAL + os.fsdecode(one.path) for one in wanted]


@frozen
class _Entry:
    staged: str
    unstaged: str
    mode: str
    blob: str
    unmerged: bool = False

    def staged_as(self, change: Change) -> bool:
        return self.unstaged == "." and (self.mode, self.blob) == (change.mode, change.blob)


def _status(checkout: Checkout, scope: Sequence[str]) -> dict[bytes, _Entry]:
    """What differs from HEAD among tracked files."""
    args = ["status", "--porcelain=v2", "-z", "-uno", "--no-renames", "--ignore-submodules=dirty", "--", *scope]
    found: dict[bytes, _Entry] = {}
    for line in in_checkout(checkout, args).out.split(b"\0"):
        if line.startswith(b"1 "):
            _, xy, _, _, mode, _, _, blob, path = line.split(b" ", 8)
            found[path] = _Entry(chr(xy[0]), chr(xy[1]), mode.decode(), blob.decode())
        elif line.startswith(b"u "):
            found[line.split(b" ", 10)[10]] = _Entry("u", "u", "", "", unmerged=True)
    return found


def in_checkout(checkout: Checkout, args: Sequence[str], *, stdin: bytes = b"", check: bool = True) -> Finished:
    return run_git(
        args,
        cwd=checkout.tree,
        git_dir=checkout.git_dir,
        work_tree=checkout.tree,
        stdin=stdin,
        config=checkout.settings,
        check=check,
    )


def _hidden_edits(checkout: Checkout, wanted: Sequence[Change]) -> list[bytes]:
    """Changed paths whose edits status does not show: marked assume-unchanged or skip-worktree."""
    listing = in_checkout(checkout, ["ls-files", "-v", "-z", "--", *_scope(wanted)]).out.split(b"\0")
    marked = {line[2:] for line in listing if line and (line[:1].islower() or line[:1] == b"S")}
    suspects = [one for one in wanted if one.path in marked]
    there = blobs_on_disk(checkout, suspects)
    return [one.path for one in suspects if one.path in there and there[one.path] != one.old_blob]


def in_the_way(tree: Path, wanted: Sequence[Change], arrived: AbstractSet[bytes] = frozenset()) -> tuple[bytes, ...]:
    """Give what exists on disk where an added path must go and is not itself removed by the change."""
    leaving = {one.path for one in wanted if one.mode == ABSENT}
    found: set[bytes] = set()
    for one in wanted:
        if one.old_mode == ABSENT and one.path not in arrived:
            found.update(_strangers(os.fsencode(tree), one.path, leaving))
    return tuple(sorted(found))


def _strangers(tree: bytes, path: bytes, leaving: set[bytes]) -> Iterator[bytes]:
    for parent in parents(path):
        kind = _kind(tree + b"/" + parent)
        if kind is None:
            return
        if not stat.S_ISDIR(kind):
            if parent not in leaving:
                yield parent
            return
    kind = _kind(tree + b"/" + path)
    if kind is not None and stat.S_ISDIR(kind):
        yield from _files_below(tree, path, leaving)
    elif kind is not None:
        yield path


def parents(path: bytes) -> list[bytes]:
    """The folders above a path, outermost first."""
    parts = path.split(b"/")
    return [b"/".join(parts[:count]) for count in range(1, len(parts))]


def _kind(path: bytes) -> int | None:
    try:
        return os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def _files_below(tree: bytes, folder: bytes, leaving: set[bytes]) -> Iterator[bytes]:
    for where, folders, files in os.walk(tree + b"/" + folder):
        links = [name for name in folders if Path(os.fsdecode(where), os.fsdecode(name)).is_symlink()]
        for name in [*files, *links]:
            path = (where + b"/" + name)[len(tree) + 1 :]
            if path not in leaving:
                yield path


def blobs_on_disk(checkout: Checkout, wanted: Iterable[Change]) -> dict[bytes, str]:
    """Give the blob id that git would store for each path that is a file or a link on disk. Filters and line
    ends count."""
    tree = os.fsencode(checkout.tree)
    found: dict[bytes, str] = {}
    regular: list[bytes] = []
    for one in wanted:
        kind = _kind(tree + b"/" + one.path)
        if kind is not None and stat.S_ISLNK(kind):
            target = os.readlink(tree + b"/" + one.path)  # noqa: PTH115 - a Path would tidy the target
            found[one.path] = _link_blob(target, len(one.old_blob))
        elif kind is not None and stat.S_ISREG(kind):
            regular.append(one.path)
    quoted = b"".join(_quoted(path) + b"\n" for path in regular)
    ids = in_checkout(checkout, ["hash-object", "--stdin-paths"], stdin=quoted).text.split() if regular else []
    return found | dict(zip(regular, ids, strict=True))


def _link_blob(target: bytes, digits: int) -> str:
    algorithm = hashlib.sha256 if digits == 64 else hashlib.sha1
    return algorithm(b"blob %d\0" % len(target) + target, usedforsecurity=False).hexdigest()


def _quoted(path: bytes) -> bytes:
    """The C style in which git reads names that hold line feeds."""
    return b'"' + b"".join(b"\\%03o" % byte for byte in path) + b'"'


def missing_on_disk(tree: Path, path: bytes) -> bool:
    return _kind(os.fsencode(tree) + b"/" + path) is None


def standing_locks(common_dir: Path, git_dir: Path, branch: str) -> list[Path]:
    """The lock files that stop a move of `branch` in this work tree, or would leave it half done."""
    names = [git_dir / "index.lock", git_dir / "HEAD.lock", common_dir / f"{branch}.lock"]
    return [name for name in names if name.exists()]
