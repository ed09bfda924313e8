"""Keep what a run left, whatever its state, as one commit under `refs/recall/parked/`.

The tree of a parked commit is the folder as it was, its parents are every commit that the run may have cared
about. All of it is made in the dispatcher's own git dir, where nothing that an agent configured is in force,
and then carried into the user's repository as a pack.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from recall.domain.frozen import frozen
from recall.domain.text import clean, clean_line
from recall.failpoint import failpoint
from recall.gitops.changes import GITLINK
from recall.gitops.command import ALONE, Finished, run_git
from recall.gitops.integration import borrowing
from recall.gitops.submodules import touched_submodules
from recall.gitops.user_refs import UserRefs

PREFIX = "refs/recall/parked"
_BASE = "Recall-Base"
_IDENTITY = {
    f"GIT_{role}_{field}": value
    for role in ("AUTHOR", "COMMITTER")
    for field, value in (("NAME", "Recall"), ("EMAIL", "recall@localhost"))
}


@frozen
class ParkedWork:
    """Work that waits for a person. `files` counts the paths that differ from the commit the run began at;
    `folder` is set when the workspace itself was left as it is."""

    ref: str
    tip: str
    why: str
    files: int
    run_id: int | None = None
    folder: Path | None = None


@frozen
class Leftovers:
    """A folder as a tree. `incomplete` names what git could not take in: nested repositories, unreadable files."""

    tree: str
    incomplete: str = ""


class Parking:
    """`integration` is the dispatcher's own git dir, which can read the user's objects. `objects` is everywhere
    the object folder of a clone, if the work lies in one."""

    def __init__(self, refs: UserRefs, integration: Path) -> None:
        self._refs = refs
        self._integration = integration

    def snapshot(self, folder: Path, head: str, index: Path, objects: Path | None) -> Leftovers:
        """Write the folder's tracked and untracked files (ignored ones apart) as a tree, with a throw-away
        index and no stat cache that an agent could have prepared."""
        index.unlink(missing_ok=True)
        try:
            self._own(["read-tree", head], index=index, objects=objects)
            known = self._gitlinks(index)
            add = ["add", "-A", "--ignore-errors"]
            added = self._own(add, index=index, folder=folder, objects=objects, check=False)
            links = self._gitlinks(index)
            nested = {clean_line(path) for path, commit in links.items() if known.get(path) != commit}
            nested |= set(map(clean_line, touched_submodules(self._integration, folder, links)))
            tree = self._own(["write-tree"], index=index, objects=objects).text
        finally:
            index.unlink(missing_ok=True)
        if nested:
            return Leftovers(tree, f"it holds git repositories of its own: {', '.join(sorted(nested))}")
        return Leftovers(tree, "" if added.ok else f"git could not read all of it: {clean(added.error)}")

    def _gitlinks(self, index: Path) -> dict[str, str]:
        listed = self._own(["ls-files", "-s", "-z"], index=index).text.split("\0")
        entries = (line.partition("\t") for line in listed if line.startswith(GITLINK))
        return {path: entry.split(" ")[1] for entry, _, path in entries}

    def tree_of(self, commit: str, objects: Path | None) -> str:
        return self._own(["rev-parse", f"{commit}^{{tree}}"], objects=objects).text

    def commit_at(self, oid: str, objects: Path | None) -> str:
        """Give the commit that an object is, or that a tag points to; empty when it is damaged or neither."""
        return self._own(["rev-parse", "-q", "--verify", f"{oid}^{{commit}}"], objects=objects, check=False).text

    def descends(self, tip: str, commit: str, objects: Path | None) -> bool:
        return self._own(["merge-base", "--is-ancestor", commit, tip], objects=objects, check=False).ok

    def park(
        self, name: str, tree: str, parents: Sequence[str], why: str, base: str, objects: Path | None = None
    ) -> str:
        """Pin a tree and its parents as `refs/recall/parked/<name>`; gives the ref. What the ref held before
        becomes one more parent."""
        ref = f"{PREFIX}/{name}"
        before = self._refs.tip(ref)
        if before and self.tree_of(before, None) == tree and set(parents) <= set(self._parents(before)):
            return ref
        above = [*parents, before] if before and before not in parents else list(parents)
        message = f"Parked: {name}\n\n{why}\n\n{_BASE}: {base}\n".encode("utf-8", "replace")
        flags = [word for parent in above for word in ("-p", parent)]
        commit = self._own(
            ["commit-tree", tree, *flags, "-F", "-"], stdin=message, env=_IDENTITY, objects=objects
        ).text
        failpoint("parking.committed")
        self._carry(commit, [*above, base], objects)
        failpoint("parking.carried")
        self._refs.git("update-ref", ref, commit, before or "0" * len(commit))
        return ref

    def _carry(self, commit: str, known: Sequence[str], objects: Path | None) -> None:
        """Copy what the user's repository lacks. What comes out of a clone was never checked by anybody."""
        absent = set(self._refs.missing(known)) if objects else set[str]()
        wanted = "\n".join([commit, *(f"^{one}" for one in known if one not in absent), ""]).encode()
        pack = self._own(["pack-objects", "--revs", "--stdout", "-q"], stdin=wanted, objects=objects)
        self._refs.git("index-pack", "--stdin", *(["--strict"] if objects else []), stdin=pack.out)

    def _parents(self, commit: str) -> list[str]:
        return self._refs.git("rev-list", "--parents", "-n1", commit).text.split()[1:]

    def keep_branch(self, branch: str, tip: str) -> str:
        """Pin a stray branch's commits under a name of their own; gives the ref."""
        ref = f"{PREFIX}/{branch.removeprefix('refs/heads/')}/{tip[:12]}"
        self._refs.git("update-ref", ref, tip)
        return ref

    def diff(self, name: str) -> str:
        """Give what is parked under a name as a diff from where its run began; "" when nothing is."""
        tip = self._refs.tip(f"{PREFIX}/{name}")
        if not tip:
            return ""
        base = _base_in(self._refs.git("log", "-1", "--format=%B", tip).text) or f"{tip}^"
        flags = ("--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short")
        return self._refs.git("diff", *flags, "--end-of-options", base, tip).out.decode("utf-8", "replace")

    def listed(self) -> list[ParkedWork]:
        fields = "%(refname)%00%(objectname)%00%(contents:body)%00%01"
        out = self._refs.git("for-each-ref", f"--format={fields}", PREFIX).text
        records = (record.lstrip("\n").split("\0") for record in out.split("\x01"))
        return [self._work(*record[:3]) for record in records if len(record) > 2]

    def _work(self, ref: str, tip: str, body: str) -> ParkedWork:
        trailer = re.search(rf"^{_BASE}: ([0-9a-f]+)$", body, re.MULTILINE)
        name = ref.removeprefix(f"{PREFIX}/")
        base = trailer[1] if trailer else f"{tip}^"
        names = self._refs.git("diff-tree", "-r", "-z", "--name-only", base, tip, check=False).out
        why = body[: trailer.start()] if trailer else "a branch of this name held commits when a new run began"
        return ParkedWork(ref, tip, clean(why).strip(), names.count(b"\0"), int(name) if name.isdigit() else None)

    def _own(
        self,
        args: Sequence[str],
        *,
        index: Path | None = None,
        folder: Path | None = None,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        objects: Path | None = None,
        check: bool = True,
    ) -> Finished:
        return run_git(
            args,
            git_dir=self._integration,
            work_tree=folder,
            index=index,
            stdin=stdin,
            env={**ALONE, **(env or {}), **borrowing(objects)},
            check=check,
        )


def _base_in(message: str) -> str:
    """Read the commit that a parked run began at."""
    trailer = re.search(rf"^{_BASE}: ([0-9a-f]+)$", message, re.MULTILINE)
    return trailer[1] if trailer else ""
