"""Values that git work gives back: workspaces, results, rebases, landings. Expected trouble is a value here."""

from __future__ import annotations

from pathlib import Path

from recall.domain.frozen import frozen
from recall.domain.task import TaskRef


@frozen
class Workspace:
    """A folder ready for one run. `folder` holds `tree/` (the work tree), `run.json` and answers; `base` is
    main's commit at its start."""

    slot: str
    folder: Path
    branch: str
    base: str

    @property
    def tree(self) -> Path:
        return self.folder / "tree"


@frozen
class Result:
    """What a run brought: commits `base..tip`, now in the integration repository. `leftovers` are files that
    were not committed by the agent, `restored` the protected files taken out of its commits."""

    base: str
    tip: str
    commits: int
    leftovers: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@frozen
class NothingNew:
    """The run, or its rebase, brought nothing that main does not have."""

    reason: str


@frozen
class PersonNeeded:
    """Git work that only a person can decide. Nothing was lost; the reason says where it is."""

    reason: str
    paths: tuple[str, ...] = ()


@frozen
class Rebased:
    """The commits on their new base, not yet verified. `joined` says that they became one commit, and why."""

    candidate: str
    onto: str
    commits: int
    joined: str = ""


@frozen
class Conflict:
    """The commits do not apply. `step` is the commit that failed. base, ours (main's side) and theirs (the task's
    side) are commits of the integration repository: merging the last two meets the same conflict again, and a
    commit on top of ours resolves it. Where main does not hold base any more, ours is a stand-in for main with
    main's tree on top of base."""

    paths: tuple[str, ...]
    step: str
    base: str
    ours: str
    theirs: str
    detail: str = ""


@frozen
class Landed:
    """Main now contains `commit`. `how` names the way it was moved."""

    commit: str
    how: str


@frozen
class LandedCommit:
    """A commit that main was led to, and the task that brought it."""

    ref: TaskRef
    commit: str


@frozen
class WaitingForCheckout:
    """The user's checkout is in the way; nothing was touched. Tried again when it changes."""

    reason: str
    paths: tuple[str, ...] = ()


@frozen
class MainMoved:
    """Main is not where the candidate was built. `rewritten` means that the old tip is not in it any more."""

    tip: str
    rewritten: bool = False


@frozen
class Verified:
    """The verdict on one exact tree. `output_tail` is cleaned text for people."""

    green: bool
    reason: str
    output_tail: str = ""
    seconds: float = 0.0


LandingOutcome = Landed | WaitingForCheckout | MainMoved
RebaseOutcome = Rebased | Conflict | NothingNew
CollectOutcome = Result | NothingNew | PersonNeeded


@frozen
class Handover:
    """What an agent left of a task that another one starts afresh: why it stopped, and its changes as a diff, which
    is empty where there were none."""

    agent: str
    reason: str
    diff: str
