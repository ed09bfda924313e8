"""What is kept of a run's folder before the folder is given back: every commit and file that main does not have."""

from __future__ import annotations

from pathlib import Path

from recall.domain.errors import EnvironmentFailure, Exhausted
from recall.domain.frozen import frozen
from recall.domain.surroundings import failure_of
from recall.domain.work import Workspace
from recall.gitops.agent_files import is_real_folder
from recall.gitops.foreign import ForeignGitDir
from recall.gitops.operations import remembered
from recall.gitops.parking import Leftovers, Parking
from recall.gitops.user_refs import UserRefs


@frozen
class Keeper:
    """`scratch` is a folder for throw-away indexes."""

    refs: UserRefs
    parking: Parking
    scratch: Path

    def keep(
        self, workspace: Workspace, run_id: int, agent: ForeignGitDir | None, why: str, *, landed: bool = False
    ) -> tuple[str, str]:
        """Pin what main lacks. Gives what was kept, and what could not be. The folder's files and commits need it no
        more once they `landed`, others that a clone holds do. Raises Exhausted when the machine ran out of
        something: then it is to be tried again."""
        try:
            ref, incomplete = self._parked(workspace, run_id, agent, why, landed)
        except Exhausted:
            raise
        except (EnvironmentFailure, OSError) as failed:
            return "", _not_kept(failed)
        return (f"; its work is kept as {ref}" if ref else ""), incomplete

    def _parked(
        self, workspace: Workspace, run_id: int, agent: ForeignGitDir | None, why: str, landed: bool
    ) -> tuple[str, str]:
        parking, objects = self.parking, agent.objects if agent else None
        tip = self._tip(workspace, agent)
        head = (agent and agent.head()[1]) or tip or workspace.base
        others = self._others(head, tip, agent)
        if landed and not others:
            return "", ""
        left = Leftovers(parking.tree_of(head, objects))
        if is_there(workspace) and not landed:
            left = parking.snapshot(workspace.tree, head, self.scratch / f"{workspace.slot}.look", objects)
        aside = remembered(agent.git_dir) if agent and not landed else []
        known = [parking.commit_at(one, objects) for one in (head, tip, *aside) if one]
        unlanded = [one for one in dict.fromkeys([*known, *others]) if one and not self.refs.landed(one)]
        if not unlanded and left.tree == parking.tree_of(head, objects):
            return "", left.incomplete
        ref = parking.park(str(run_id), left.tree, unlanded or [head], why, workspace.base, objects)
        return ref, left.incomplete

    def _tip(self, workspace: Workspace, agent: ForeignGitDir | None) -> str:
        full = f"refs/heads/{workspace.branch}"
        return (agent.resolve(full) if agent else self.refs.tip(full)) or ""

    def _others(self, head: str, tip: str, agent: ForeignGitDir | None) -> list[str]:
        """Give the commits of a clone's further branches, tags and stashes: they go with its git dir."""
        if agent is None or agent.objects is None:
            return []
        objects = agent.objects
        strange = {self.parking.commit_at(one, objects) for one in self.refs.missing(sorted(agent.tips()))}
        ours = [one for one in (head, tip) if one]
        return [
            one
            for one in sorted(strange - {""})
            if not any(self.parking.descends(mine, one, objects) for mine in ours)
        ]


def _not_kept(failed: EnvironmentFailure | OSError) -> str:
    if isinstance(failed, OSError):
        failed = failure_of(failed, "its files could not be read or written")
        if isinstance(failed, Exhausted):
            raise failed
    return f"its work could not be kept: {failed}"


def is_there(workspace: Workspace) -> bool:
    """Tell whether the folder is one of ours: what lies behind a link in its place is somebody else's."""
    return is_real_folder(workspace.folder) and is_real_folder(workspace.tree)


def unrest(workspace: Workspace, agent: ForeignGitDir, landed: bool) -> str:
    """Say what keeps a workspace from being at rest; empty when nothing does. Work that has landed may have been
    found on any branch."""
    if waiting := agent.operation():
        return f"a {waiting} was in progress"
    if (agent.git_dir / "index.lock").exists():
        return "its index was locked"
    if not landed and agent.head()[0] != f"refs/heads/{workspace.branch}":
        return "it was not on its branch"
    return ""
