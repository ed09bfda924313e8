"""What a person can do about a conflict, the same for every front end.

Git objects are made first, then the store takes it in one transaction, or refuses because the conflict is not the
one that the person saw. A resolved entry goes through the queue like any other: it is verified before it lands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from recall.domain.conflict import (
    NEEDS_HANDS,
    ConflictedFile,
    ConflictRecord,
    Decision,
    Labels,
    Side,
    Version,
    Way,
    conflict_brief,
)
from recall.domain.errors import RecallError
from recall.domain.progress import may_take
from recall.domain.run import Refused, Run
from recall.domain.task import Task, TaskRef
from recall.domain.text import clean, clean_line
from recall.engine.ports import Git, Store
from recall.failpoint import failpoint


@dataclass(frozen=True, slots=True)
class ConflictView:
    """Everything that a person, or a screen, wants to see of a conflict. `others` are the tasks behind main's side
    with their last runs, newest first, `remembered` the paths whose very conflict was resolved before."""

    record: ConflictRecord
    task: Task
    run: Run
    others: tuple[tuple[Task, Run | None], ...]
    files: tuple[ConflictedFile, ...]
    remembered: Mapping[str, Version]


@dataclass(frozen=True, slots=True)
class Resolver:
    """Each wish gives a sentence that says what was done, or a refusal that says why not. `actor` is who acts;
    `unattended` tells that no dispatcher is there to give workspaces back."""

    store: Store
    git: Git
    actor: str
    unattended: bool

    # -- looking ---------------------------------------------------------------------------------------------
    def look(self, ref: TaskRef) -> ConflictView | Refused:
        seen = self._seen(ref)
        task = self.store.task(ref)
        run = self.store.run(seen.run_id) if isinstance(seen, ConflictRecord) else None
        if isinstance(seen, Refused) or task is None or run is None:
            return seen if isinstance(seen, Refused) else Refused(f"the store does not have all of {ref}")
        files = self.git.conflicts.files(seen.met)
        return ConflictView(seen, task, run, self._others(seen), files, self.git.conflicts.remembered(files))

    def _seen(self, ref: TaskRef) -> ConflictRecord | Refused:
        entry = next((entry for entry in self.store.merges() if entry.ref == ref), None)
        record = self.store.conflict_record(entry.id) if entry is not None else None
        if record is not None:
            return record
        task = self.store.task(ref)
        if task is None:
            return Refused(f"there is no task {ref}")
        state = f"{entry.state} in the merge queue" if entry is not None else task.state
        return Refused(f"{ref} is in no conflict: it is {state.replace('_', ' ')}")

    def _others(self, seen: ConflictRecord) -> tuple[tuple[Task, Run | None], ...]:
        found = [task for ref in seen.tasks if (task := self.store.task(ref)) is not None]
        return tuple((task, next(reversed(self.store.runs(task.ref)), None)) for task in found)

    # -- resolving -------------------------------------------------------------------------------------------
    def take(self, ref: TaskRef, side: Side, paths: Sequence[str] = ()) -> str | Refused:
        """Take one side's version at these paths, or at every one that is not decided yet. A side that does not
        have the path decides that it goes."""
        seen = self._seen(ref)
        if isinstance(seen, Refused):
            return seen
        files = self._wanted(seen, paths)
        if isinstance(files, Refused):
            return files
        tangled = [clean_line(file.path) for file in files if file.kind in NEEDS_HANDS]
        if tangled:
            return Refused(f"no side alone settles {', '.join(tangled)}: resolve it by hand with --checkout DIR")
        return self._decide(seen, [Decision(file.path, side, file.version(side)) for file in files])

    def take_remembered(self, ref: TaskRef, paths: Sequence[str] = ()) -> str | Refused:
        """Resolve these paths, or all that can be, the way the same conflict was resolved before."""
        seen = self._seen(ref)
        if isinstance(seen, Refused):
            return seen
        files = self._wanted(seen, paths)
        if isinstance(files, Refused):
            return files
        known = self.git.conflicts.remembered(files)
        unknown = [clean_line(file.path) for file in files if file.path not in known]
        if not known or (paths and unknown):
            return Refused(f"no resolution is remembered for {', '.join(unknown) or 'what is left'}")
        return self._decide(seen, [Decision(path, "remembered", version) for path, version in known.items()])

    def supply(self, ref: TaskRef, contents: Mapping[str, bytes]) -> str | Refused:
        """Resolve these paths with whole contents of a person's own."""
        seen = self._seen(ref)
        if isinstance(seen, Refused):
            return seen
        files = self._wanted(seen, list(contents))
        if isinstance(files, Refused):
            return files
        written = [Decision(one.path, "edited", self.git.conflicts.write(one, contents[one.path])) for one in files]
        return self._decide(seen, written)

    def _wanted(self, seen: ConflictRecord, paths: Sequence[str]) -> Collection[ConflictedFile] | Refused:
        files = {file.path: file for file in self.git.conflicts.files(seen.met)}
        if not paths:
            return [file for path, file in files.items() if path not in seen.decisions]
        unknown = [path for path in paths if path not in files]
        if unknown:
            known = ", ".join(map(clean_line, files))
            return Refused(f"{clean_line(unknown[0])} is not in conflict; what is: {known}")
        return [files[path] for path in dict.fromkeys(paths)]

    def _decide(self, seen: ConflictRecord, decisions: Sequence[Decision]) -> str | Refused:
        every = seen.decisions | {one.path: one for one in decisions}
        left = [file.path for file in self.git.conflicts.files(seen.met) if file.path not in every]
        if not left:
            ways = ", ".join(f"{clean_line(one.path)}: {one.how}" for one in every.values())
            return self._finish(seen, self.git.conflicts.tree(seen.met, every.values()), f"resolved: {ways}")
        refused = self.store.conflict_decide(seen, decisions, actor=self.actor)
        return refused or f"kept; still to be decided: {', '.join(map(clean_line, left))}"

    def _finish(self, seen: ConflictRecord, tree: str, how: str) -> str | Refused:
        if self.git.conflicts.is_mains(seen.met, tree):
            return Refused(f"that leaves nothing of {seen.ref}, main has all of it; give it up or start it over")
        tip = self.git.conflicts.commit(seen, tree)
        failpoint("resolve.commit_made")
        refused = self.store.merge_resolved(seen, tip=tip, base=seen.met.ours, actor=self.actor, reason=clean(how))
        return refused or f"{seen.ref} is resolved as {tip[:10]} and back in the merge queue: verified, then landed"

    # -- by hand ---------------------------------------------------------------------------------------------
    def check_out(self, ref: TaskRef, folder: Path) -> str | Refused:
        """Write the conflict into a new folder as files with markers."""
        seen = self._seen(ref)
        if isinstance(seen, Refused):
            return seen
        trouble = self.git.conflicts.check_out(seen, folder, _labels(seen))
        if trouble:
            return Refused(trouble)
        failpoint("resolve.checked_out")
        refused = self.store.conflict_check_out(seen, str(folder), actor=self.actor)
        return refused or f"{ref} lies in {folder}, with conflict markers"

    def take_back(self, ref: TaskRef) -> str | Refused:
        """Take over what a person made of the folder, when nothing in it is left open."""
        seen = self._seen(ref)
        if isinstance(seen, Refused):
            return seen
        if not seen.folder:
            return Refused(f"{ref} was not checked out; --checkout DIR writes it into a folder")
        taken = self.git.conflicts.take_back(seen, _labels(seen))
        if isinstance(taken, str):
            return Refused(taken)
        if taken.open:
            lines = "".join(f"\n  {line}" for line in taken.open.values())
            return Refused(f"not settled yet in {seen.folder}:{lines}")
        return self._finish(seen, taken.tree, f"resolved by hand in {seen.folder}")

    # -- ending it -------------------------------------------------------------------------------------------
    def send_back(self, ref: TaskRef, agent: str | None = None) -> str | Refused:
        """Let an agent do it again from main as it is, told of both sides. Costs the task nothing."""
        seen = self._seen(ref)
        task = self.store.task(ref)
        if isinstance(seen, Refused) or task is None:
            return seen if isinstance(seen, Refused) else Refused(f"there is no task {ref}")
        trouble = self._why_not_to(agent, task) if agent else ""
        if trouble:
            return Refused(trouble)
        others = [(other.ref, other.title) for other, _ in self._others(seen)]
        brief = conflict_brief(self.git.conflicts.files(seen.met), task.title, others)
        whom = agent or "any agent"
        return self._abandon(
            seen, Way.SEND_BACK, f"sent back to {whom} because of the conflict", f"goes back to {whom}", agent, brief
        )

    def restart(self, ref: TaskRef) -> str | Refused:
        """Start the task over from main as it is."""
        seen = self._seen(ref)
        if isinstance(seen, Refused):
            return seen
        return self._abandon(seen, Way.RESTART, "started over because of the conflict", "starts over from main")

    def give_up(self, ref: TaskRef) -> str | Refused:
        """Cancel the task; its work is kept."""
        seen = self._seen(ref)
        if isinstance(seen, Refused):
            return seen
        return self._abandon(seen, Way.GIVE_UP, "given up because of the conflict", "is cancelled")

    def _why_not_to(self, agent: str, task: Task) -> str:
        known = next((one for one in self.store.agents() if one.name == agent), None)
        if known is None:
            return f"there is no agent {agent}"
        return "" if may_take(known, task) else f"{agent} may not take {task.ref} (disabled, or not among its agents)"

    def _abandon(
        self, seen: ConflictRecord, way: Way, reason: str, done: str, agent: str | None = None, brief: str = ""
    ) -> str | Refused:
        refused = self.store.conflict_abandon(seen, way, actor=self.actor, reason=reason, agent=agent, brief=brief)
        if refused is not None:
            return refused
        failpoint("resolve.abandoned")
        kept = self._keep_result(seen, reason)
        failpoint("resolve.result_kept")
        return f"{seen.ref} {done}{kept}{self._give_back(seen)}"

    def _keep_result(self, seen: ConflictRecord, reason: str) -> str:
        """Pin what no workspace holds: a branch that was handed in, or a person's own resolution."""
        run = self.store.run(seen.run_id)
        if run is None or (run.slot is not None and not self.git.conflicts.was_resolved(seen.merge_id)):
            return ""
        return f"; its commits are kept as {self.git.keep_result(seen.run_id, seen.tip, seen.base, reason)}"

    def _give_back(self, seen: ConflictRecord) -> str:
        """Park the run's work and free its folder, unless a dispatcher does it."""
        run = self.store.run(seen.run_id)
        if run is None or run.slot is None or run.branch is None or run.base is None:
            return ""
        if not self.unattended:
            return "; the dispatcher parks its work"
        workspace = self.git.workspace_at(run.slot, branch=run.branch, base=run.base)
        try:
            said = clean(self.git.close_workspace(workspace, run.id, landed=False))
        except RecallError as trouble:
            said = clean(f"{workspace.folder} is left as it is: {trouble}")
        self.store.note("workspace.closed", actor=self.actor, reason=said, ref=run.ref, run_id=run.id)
        return f"; {said}"


def _labels(seen: ConflictRecord) -> Labels:
    tasks = ", ".join(map(str, seen.tasks[:3]))
    return Labels(f"main ({tasks})" if tasks else "main", str(seen.ref))
