"""Rebasing without a work tree: a run's commits are put on a new base in three processes, however many they are.

Each commit is merged with the new base as a whole (`base..commit` onto `onto`), so the steps do not wait for one
another and all fit into one `git merge-tree --stdin`. Where such a step meets a conflict although the last one is
clean, the commits make sense only together and land as one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from recall.domain.clock import Clock
from recall.domain.frozen import frozen
from recall.domain.text import clean
from recall.domain.work import Conflict, NothingNew, Rebased, RebaseOutcome
from recall.failpoint import failpoint
from recall.gitops.commits import Commit, joined_message
from recall.gitops.integration import IntegrationRepository

COMMITTER = "Recall <recall@localhost>"


@frozen
class Step:
    """One commit merged with the new base. `tree` is the outcome; when it is not clean, markers are in it."""

    oid: str
    is_clean: bool
    tree: str
    paths: tuple[str, ...] = ()


@frozen
class _Range:
    """The commits to be moved, oldest first. `fork` is where they leave what `onto` has, `side` the commit to
    merge them with: `onto`, or one with the same `tree` on top of `fork`."""

    oids: tuple[str, ...]
    commits: tuple[Commit, ...]
    fork: str
    side: str
    tree: str

    @property
    def is_linear(self) -> bool:
        """Whether each commit has one parent, and that is the one before it."""
        ahead = (None, *self.oids)
        return all(
            len(commit.parents) == 1 and before in (None, commit.parents[0])
            for commit, before in zip(self.commits, ahead, strict=False)
        )


class Rebaser:
    """Works in the integration repository alone. `squash` makes one commit of every range."""

    def __init__(self, integration: IntegrationRepository, clock: Clock, *, squash: bool = False) -> None:
        self._integration = integration
        self._clock = clock
        self._squash = squash

    def rebase(self, base: str, tip: str, onto: str, trailers: Mapping[str, str]) -> RebaseOutcome:
        """Put `base..tip` on `onto`. What `onto` has already is left out; each new commit gets `trailers`."""
        moved = self._range(base, tip, onto)
        if not moved.oids:
            return NothingNew("its commits are in main already")
        steps = self._steps(moved, tip)
        if not steps[-1].is_clean:
            return self._conflict(moved, steps, tip)
        if steps[-1].tree == moved.tree:
            return NothingNew("main has the same content already; applied there, its commits change nothing")
        why = self._why_joined(moved, steps)
        if why:
            return self._as_one(moved, steps[-1].tree, tip, onto, trailers, why)
        return self._one_by_one(moved, steps, onto, trailers)

    # -- what is to be moved ---------------------------------------------------------------------------------
    def _range(self, base: str, tip: str, onto: str) -> _Range:
        git = self._integration.git
        oids = git("rev-list", "--reverse", "--topo-order", tip, f"^{base}", f"^{onto}").text.split()
        target, *commits = self._integration.commits([onto, *oids])
        fork = base if onto == base else git("merge-base", onto, tip, check=False).text
        if fork == base or (fork and git("merge-base", "--is-ancestor", base, fork, check=False).ok):
            return _Range(tuple(oids), tuple(commits), fork, onto, target.tree)
        # main does not hold `base` any more: a commit on top of it keeps what main dropped out of the merge
        now = committer_now(self._clock)
        side = Commit.new(target.tree, [base], now, now, b"merge side\n")
        self._integration.store([side])
        return _Range(tuple(oids), tuple(commits), base, side.oid(self._algorithm), target.tree)

    def _steps(self, moved: _Range, tip: str) -> list[Step]:
        oids = moved.oids if moved.is_linear else (tip,)
        if moved.side == moved.fork:  # nothing on the other side: each commit's tree is the outcome
            trees = dict(zip(moved.oids, moved.commits, strict=True))
            return [Step(oid, True, trees[oid].tree) for oid in oids]
        request = "".join(f"{moved.side} {oid}\n" for oid in oids).encode()
        merge = ("merge-tree", "--write-tree", "--stdin", "--name-only", "--no-messages")
        return parse_merges(self._integration.git(*merge, stdin=request).out, oids)

    # -- what comes out --------------------------------------------------------------------------------------
    def _why_joined(self, moved: _Range, steps: Sequence[Step]) -> str:
        if not moved.is_linear:
            return "the range holds a merge"
        hard = next((step for step in steps if not step.is_clean), None)
        if hard is not None:
            return f"commit {hard.oid[:12]} does not apply by itself, the whole range does"
        return "merge.land is squash" if self._squash and len(moved.oids) > 1 else ""

    def _conflict(self, moved: _Range, steps: Sequence[Step], tip: str) -> Conflict:
        first = next(step for step in steps if not step.is_clean)
        told = self._integration.git("merge-tree", "--write-tree", "--name-only", moved.side, tip, check=False)
        detail = clean(told.text.partition("\n\n")[2])
        return Conflict(steps[-1].paths, first.oid, moved.fork, moved.side, tip, detail)

    def _one_by_one(
        self, moved: _Range, steps: Sequence[Step], onto: str, trailers: Mapping[str, str]
    ) -> RebaseOutcome:
        written: list[Commit] = []
        tree, parent = moved.tree, onto
        for commit, step in zip(moved.commits, steps, strict=True):
            if step.tree == tree:
                continue
            written.append(self._landing(commit.moved(step.tree, [parent]), trailers))
            tree, parent = step.tree, written[-1].oid(self._algorithm)
        self._integration.store(written)
        return Rebased(parent, onto, len(written))

    def _as_one(
        self, moved: _Range, tree: str, tip: str, onto: str, trailers: Mapping[str, str], why: str
    ) -> RebaseOutcome:
        kept = f"refs/recall/joined/{tip}"
        self._integration.git("update-ref", kept, tip)
        failpoint("rebase.original_kept")
        sources = [commit for commit in moved.commits if len(commit.parents) < 2] or list(moved.commits)
        template = Commit.new(tree, [onto], sources[-1].author, committer_now(self._clock), joined_message(sources))
        commit = self._landing(template, trailers)
        self._integration.store([commit])
        return Rebased(commit.oid(self._algorithm), onto, 1, f"{why}; the original commits are kept as {kept}")

    def _landing(self, commit: Commit, trailers: Mapping[str, str]) -> Commit:
        return commit.committed_by(committer_now(self._clock)).with_trailers(trailers)

    @property
    def _algorithm(self) -> str:
        return self._integration.repository.object_format


def committer_now(clock: Clock) -> bytes:
    """Recall as a committer, at this second, UTC."""
    return f"{COMMITTER} {int(clock.now().wall)} +0000".encode()


def parse_merges(out: bytes, oids: Sequence[str]) -> list[Step]:
    """Read what `merge-tree --stdin --name-only --no-messages` says, one answer for each of `oids`: `1` for clean
    or `0`, the tree, the conflicted paths, an empty field, each ended by a NUL."""
    fields = iter(out.split(b"\0"))
    steps: list[Step] = []
    for oid in oids:
        is_clean = next(fields) == b"1"
        tree = next(fields).decode()
        paths = tuple(dict.fromkeys(os.fsdecode(path) for path in iter(lambda: next(fields), b"")))
        steps.append(Step(oid, is_clean, tree, paths))
    return steps
