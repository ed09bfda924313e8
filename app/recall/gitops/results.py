"""Taking over what a run brought: its commits, what it did not commit, and nothing else.

The agent's branch and folder stay as they are, so this can be done again after any interruption.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from recall.domain.clock import Clock
from recall.domain.frozen import frozen
from recall.domain.text import clean_line
from recall.domain.work import CollectOutcome, NothingNew, PersonNeeded, Result, Workspace
from recall.failpoint import failpoint
from recall.gitops.agent_files import is_real_folder
from recall.gitops.changes import ChangedPath, parse_raw
from recall.gitops.commits import Commit
from recall.gitops.content_rule import CommitInspector, ContentRule
from recall.gitops.foreign import ForeignGitDir
from recall.gitops.integration import IntegrationRepository, borrowing
from recall.gitops.leftovers import Leftovers, stage_leftovers
from recall.gitops.protected import Protector, Series
from recall.gitops.rebase import committer_now
from recall.gitops.repository import Repository


@frozen
class _Found:
    """The commit that a run's work ends in. `standing` is the one that its files were checked out from: only
    when they are the same can leftovers be added."""

    tip: str
    standing: str
    notes: tuple[str, ...] = ()


class Collector:
    """`protected` are the files that no run may change, `ignore` describes those that are not taken over when they
    are left uncommitted."""

    def __init__(
        self,
        repository: Repository,
        integration: IntegrationRepository,
        clock: Clock,
        *,
        protected: tuple[str, ...],
        ignore: tuple[str, ...],
        rule: ContentRule,
    ) -> None:
        self._repository = repository
        self._integration = integration
        self._clock = clock
        self._protector = Protector(integration, protected)
        self._ignore = ignore
        self._rule = rule
        self._inspector = CommitInspector(integration, rule)

    # -- from a workspace ------------------------------------------------------------------------------------
    def collect(
        self, workspace: Workspace, agent: ForeignGitDir | None, run_id: int, title: str, trusted: Path | None = None
    ) -> CollectOutcome:
        """Take over what lies in a workspace, whose git dir is `agent`. `title` names the task in the commit of
        the leftovers; `trusted` is an index of the files as they were before the run."""
        if agent is None:
            return PersonNeeded("the git dir of its workspace is gone, and what it committed may be gone with it")
        if operation := agent.operation():
            return PersonNeeded(f"a {operation} was left half done in its workspace")
        found = self._find_tip(agent, workspace)
        if isinstance(found, PersonNeeded):
            return found
        left = self._leftovers(agent, workspace, found, trusted)
        if isinstance(left, PersonNeeded):
            return left
        if agent.objects is None and (stashed := agent.stashed(workspace.branch)):
            return PersonNeeded("it left work in the stash, which is yours too", tuple(map(clean_line, stashed)))
        if left.paths and found.standing != found.tip:
            return PersonNeeded(
                f"it left uncommitted work on {found.standing[:12]}, but its commits end in {found.tip[:12]}; "
                "decide what belongs together",
                left.paths,
            )
        tip = self._commit_leftovers(left, found.tip, title) if left.paths else found.tip
        return self._take(workspace.base, tip, run_id, agent.objects, left.paths, (*found.notes, *left.notes))

    def _find_tip(self, agent: ForeignGitDir, workspace: Workspace) -> _Found | PersonNeeded:
        ref, head = agent.head()
        branch = agent.resolve(f"refs/heads/{workspace.branch}")
        if head is None:
            return PersonNeeded(f"HEAD of its workspace names no commit ({clean_line(ref or 'unreadable')})")
        if lost := self._lost(agent, [commit for commit in dict.fromkeys((head, branch)) if commit is not None]):
            return PersonNeeded(f"commit {lost[:12]} of its workspace is damaged or missing")
        place = clean_line(ref.removeprefix("refs/heads/")) if ref else "a detached HEAD"
        if branch is None or self._descends(agent, head, branch):
            away = ref != f"refs/heads/{workspace.branch}"
            notes = (f"its commits were on {place}, not on {workspace.branch}",) if away else ()
            found = _Found(head, head, notes)
        elif self._descends(agent, branch, head):
            found = _Found(branch, head, (f"it ended on {place}; the commits of {workspace.branch} were taken",))
        else:
            return PersonNeeded(
                f"its workspace stands on {place}, which has other commits than {workspace.branch}; "
                "decide which of them count"
            )
        if not self._descends(agent, found.tip, workspace.base):
            return PersonNeeded(f"its commits do not build on {workspace.base[:12]}, where it began")
        return found

    def _lost(self, agent: ForeignGitDir, commits: Sequence[str]) -> str:
        """Give the first of these that cannot be read as a commit, empty when all can."""
        asked = "".join(f"{commit}\n" for commit in commits).encode()
        batch = ("cat-file", "--batch-check=%(objecttype)")
        said = self._integration.git(*batch, stdin=asked, env=borrowing(agent.objects), check=False).text.splitlines()
        kinds = dict(zip(commits, said, strict=False))  # it may end at a damaged one
        return next((one for one in commits if kinds.get(one) != "commit"), "")

    def _descends(self, agent: ForeignGitDir, tip: str, commit: str) -> bool:
        if tip == commit:
            return True
        env = borrowing(agent.objects)
        return self._integration.git("merge-base", "--is-ancestor", commit, tip, env=env, check=False).ok

    # -- what was not committed ------------------------------------------------------------------------------
    def _leftovers(
        self, agent: ForeignGitDir, workspace: Workspace, found: _Found, trusted: Path | None
    ) -> Leftovers | PersonNeeded:
        if is_real_folder(workspace.tree):
            return stage_leftovers(
                self._integration, agent, workspace.tree, found.standing, self._rule, self._ignore, trusted
            )
        if workspace.tree.is_symlink():
            return PersonNeeded("its work tree was replaced by a link; nothing was read through it")
        return Leftovers("", (), ("its work tree is gone; only its commits were taken",))

    def _commit_leftovers(self, left: Leftovers, parent: str, title: str) -> str:
        now = committer_now(self._clock)
        message = f"{clean_line(title)}\n\nFiles that the run left uncommitted.\n".encode("utf-8", "replace")
        commit = Commit.new(left.tree, [parent], now, now, message)
        self._integration.store([commit])
        failpoint("results.leftovers_committed")
        return commit.oid(self._repository.object_format)

    # -- from a branch ---------------------------------------------------------------------------------------
    def adopt(self, branch: str, run_id: int) -> CollectOutcome:
        """Take over a branch of the user's repository. Only commits: the user's files are the user's. Whoever hands
        a branch in has looked at what is in it."""
        tip = self._repository.tip_of(f"refs/heads/{branch}")
        if tip is None:
            return PersonNeeded(f"there is no branch {clean_line(branch)} in {self._repository.common_dir}")
        fork = self._repository.git("merge-base", tip, self._repository.main_tip(), check=False).text
        if not fork:
            return PersonNeeded(f"{clean_line(branch)} has no commit in common with {self._repository.main}")
        return self._take(fork, tip, run_id, None, (), (), is_judged=True)

    # -- both ------------------------------------------------------------------------------------------------
    def _take(
        self,
        base: str,
        tip: str,
        run_id: int,
        objects: Path | None,
        leftovers: tuple[str, ...],
        notes: tuple[str, ...],
        *,
        is_judged: bool = False,
    ) -> CollectOutcome:
        series = self._series(base, tip, objects)
        if not series.oids:
            return NothingNew("no commit and no change was left behind that main does not have")
        if links := _gitlinks(series):
            return PersonNeeded("it adds, moves or removes repositories inside the repository (submodules)", links)
        if not is_judged and (
            refused := self._inspector.refusal(series, [base, self._repository.main_tip()], tip, objects)
        ):
            return refused
        clean_tip, put_back = self._protector.restore(series, tip, base, objects)
        restored = tuple(map(clean_line, put_back))
        failpoint("results.restored")
        if self._same_content(series, base, clean_tip, objects):
            touched = f" but for protected files ({', '.join(restored)})" if restored else ""
            return NothingNew(f"what it leaves is the same as where it started{touched}")
        if refused := self._integration.carry(clean_tip, [base], objects):
            return refused
        failpoint("results.carried")
        self._integration.pin(run_id, clean_tip)
        return Result(base, clean_tip, len(series.oids), leftovers, restored, notes)

    def _series(self, base: str, tip: str, objects: Path | None) -> Series:
        env = borrowing(objects)
        main = self._repository.main_tip()
        git = self._integration.git
        listed = git("rev-list", "--reverse", "--topo-order", tip, f"^{base}", f"^{main}", env=env).out
        oids = tuple(listed.decode().split())
        raw = git("diff-tree", "--stdin", "--root", "-r", "-c", "-z", "--raw", "--no-renames", stdin=listed, env=env)
        touched = {oid: tuple(changes) for oid, changes in parse_raw(raw.out).items()}
        start, *commits = self._integration.commits([base, *oids], objects)
        return Series(oids, tuple(commits), touched, start.tree)

    def _same_content(self, series: Series, base: str, tip: str, objects: Path | None) -> bool:
        if tip == series.oids[-1]:
            return series.base_tree == series.commits[-1].tree
        (rewritten,) = self._integration.commits([tip], objects)
        return series.base_tree == rewritten.tree


def _gitlinks(series: Series) -> tuple[str, ...]:
    changes: list[ChangedPath] = [change for touched in series.touched.values() for change in touched]
    return tuple(sorted({clean_line(change.path) for change in changes if change.concerns_gitlink}))
