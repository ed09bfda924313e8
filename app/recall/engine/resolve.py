"""What a person can do about a conflict, the same for every front end.

Git objects are made first, then the store takes it in one transaction, or refuses because the conflict is not the
one that the person saw. A resolved entry goes through the queue like any other: it is verified before it lands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from recall.domain.conflict import (
    NEEDS_HANDS,
    SUBMODULE_MODE,
    ConflictedFile,
    ConflictRecord,
    Decision,
    Labels,
    Remembered,
    Side,
    Taken,
    Version,
    Way,
    conflict_brief,
    text_of,
)
from recall.domain.errors import RecallError
from recall.domain.frozen import frozen
from recall.domain.progress import may_take
from recall.domain.run import Refused, Run
from recall.domain.task import Task, TaskRef
from recall.domain.text import clean, clean_line
from recall.engine.ports import Git, Store
from recall.failpoint import failpoint

_MOST_SHOWN = 256 * 1024  #: bytes of a file without hunks that are kept to be looked at


@frozen
class ConflictView:
    """Everything that a person, or a screen, wants to see of a conflict. `others` are the tasks behind main's side
    with their last runs, newest first, `remembered` what is known of each path from before, `agents` the names of
    those that may do the task again, and `contents` what short files without hunks hold."""

    record: ConflictRecord
    task: Task
    run: Run
    others: tuple[tuple[Task, Run | None], ...]
    files: tuple[ConflictedFile, ...]
    remembered: Mapping[str, Remembered] = field(default_factory=dict[str, Remembered])
    agents: tuple[str, ...] = ()
    contents: Mapping[Version, bytes] = field(default_factory=dict[Version, bytes])

    @property
    def labels(self) -> Labels:
        """What stands behind conflict markers."""
        return _labels(self.record)


@frozen
class FolderSeen:
    """What a person made of a conflict's folder so far. `open` says of each path what is left to do there,
    `settled` what lies at the others, `contents` the texts of those with hunks; `elsewhere` are changed files that
    are in no conflict."""

    open: Mapping[str, str]
    settled: Mapping[str, Version | None]
    contents: Mapping[str, bytes]
    elsewhere: tuple[str, ...] = ()


@frozen
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
        known = self.git.conflicts.remembered(files)
        agents = tuple(one.name for one in self.store.agents() if may_take(one, task))
        return ConflictView(seen, task, run, self._others(seen), files, known, agents, self._contents(files))

    def _contents(self, files: Sequence[ConflictedFile]) -> dict[Version, bytes]:
        versions = {one for file in files if not file.hunks for one in (file.base, file.main, file.task) if one}
        read = self.git.conflicts.read({one for one in versions if one.mode != SUBMODULE_MODE})
        return {version: content for version, content in read.items() if len(content) <= _MOST_SHOWN}

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
        known = self._remembered(files)
        unknown = [clean_line(file.path) for file in files if file.path not in known]
        if not known or (paths and unknown):
            return Refused(f"no resolution is remembered for {', '.join(unknown) or 'what is left'}")
        return self._decide(seen, list(known.values()))

    def _remembered(self, files: Collection[ConflictedFile]) -> dict[str, Decision]:
        known = self.git.conflicts.remembered(files)
        wholes = {file: known[file.path].whole for file in files if file.path in known}
        return {
            file.path: Decision(file.path, "remembered", self.git.conflicts.write(file, whole))
            for file, whole in wholes.items()
            if whole is not None
        }

    def delete(self, ref: TaskRef, paths: Sequence[str]) -> str | Refused:
        """Decide that these paths are to go, whichever sides have them."""
        seen = self._seen(ref)
        if isinstance(seen, Refused):
            return seen
        files = self._wanted(seen, paths)
        if isinstance(files, Refused):
            return files
        return self._decide(seen, [Decision(file.path, "deleted", None) for file in files])

    def supply(self, ref: TaskRef, contents: Mapping[str, bytes]) -> str | Refused:
        """Resolve these paths with whole contents of a person's own."""
        seen = self._seen(ref)
        return seen if isinstance(seen, Refused) else self.settle(seen, (), contents)

    def take_hunks(self, ref: TaskRef, path: str, choices: Sequence[str]) -> str | Refused:
        """Decide a path hunk by hunk: `main`, `task`, `both` or `remembered`, in the order of its hunks."""
        seen = self._seen(ref)
        if isinstance(seen, Refused):
            return seen
        files = self._wanted(seen, [path])
        if isinstance(files, Refused):
            return files
        (file,) = files
        texts = self._texts(file, choices)
        return texts if isinstance(texts, Refused) else self.settle(seen, (), {path: file.chosen(texts)})

    def _texts(self, file: ConflictedFile, choices: Sequence[str]) -> list[bytes] | Refused:
        """Give what each choice puts in its hunk's place."""
        if len(choices) != (count := len(file.hunks)):
            hunks = f"{count} hunk{'s' * (count != 1)}"
            return Refused(f"{clean_line(file.path)} has {hunks}, choices were given for {len(choices)}")
        known = self.git.conflicts.remembered([file]).get(file.path, Remembered({})).hunks
        new = [number for number, choice in enumerate(choices) if choice == "remembered" and number not in known]
        if new:
            return Refused(f"no resolution is remembered for hunk {new[0] + 1} of {clean_line(file.path)}")
        return [
            known[number] if choice == "remembered" else text_of(hunk, choice)
            for number, (hunk, choice) in enumerate(zip(file.hunks, choices, strict=True))
        ]

    def settle(
        self, seen: ConflictRecord, decisions: Sequence[Decision], contents: Mapping[str, bytes]
    ) -> str | Refused:
        """Decide about the very conflict that was seen: by versions, and by contents of a person's own."""
        files = self._wanted(seen, list(contents)) if contents else ()
        if isinstance(files, Refused):
            return files
        written = [Decision(one.path, "edited", self.git.conflicts.write(one, contents[one.path])) for one in files]
        return self._decide(seen, [*decisions, *written])

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

    def open_folder(self, seen: ConflictRecord, default: Path) -> Path | Refused:
        """Have the very conflict that was seen as files with markers: where it lies already, else in `default`."""
        now = self._same(seen)
        if isinstance(now, Refused):
            return now
        folder = Path(now.folder) if now.folder else default
        trouble = self.git.conflicts.check_out(now, folder, _labels(now))
        if trouble and folder != default:
            folder, trouble = default, self.git.conflicts.check_out(now, default, _labels(now))
        if trouble:
            return Refused(trouble)
        refused = (
            self.store.conflict_check_out(now, str(folder), actor=self.actor) if str(folder) != now.folder else None
        )
        return refused or folder

    def place(
        self, seen: ConflictRecord, path: str, content: bytes, known: Collection[bytes] = ()
    ) -> bytes | Refused:
        """Write what is decided of a file so far into the folder, unless a person changed it there; gives what lies
        there then. `known` are contents that were written there before."""
        now = self._same(seen)
        if isinstance(now, Refused):
            return now
        there = self.git.conflicts.place(now, _labels(now), path, content, known)
        return Refused(f"{clean_line(path)} is no file in {now.folder}") if there is None else there

    def look_into_folder(self, seen: ConflictRecord) -> FolderSeen | Refused:
        """See what a person made of the folder so far. It decides nothing."""
        now = self._same(seen)
        taken = self._taken(now) if isinstance(now, ConflictRecord) else now
        if isinstance(taken, Refused):
            return taken
        hunky = {file.path for file in self.git.conflicts.files(seen.met) if file.hunks}
        wanted = {path: version for path, version in taken.settled.items() if path in hunky and version is not None}
        read = self.git.conflicts.read(set(wanted.values()))
        contents = {path: read[version] for path, version in wanted.items()}
        return FolderSeen(taken.open, taken.settled, contents, taken.elsewhere)

    def take_back(self, ref: TaskRef) -> str | Refused:
        """Take over what a person made of the folder, when nothing in it is left open."""
        seen = self._seen(ref)
        return seen if isinstance(seen, Refused) else self.take_folder(seen)

    def take_folder(self, seen: ConflictRecord) -> str | Refused:
        """The same for the very conflict that was seen."""
        now = self._same(seen)
        taken = self._taken(now) if isinstance(now, ConflictRecord) else now
        if isinstance(taken, Refused) or isinstance(now, Refused):
            return taken if isinstance(taken, Refused) else Refused(f"{seen.ref} is gone")
        if taken.open:
            lines = "".join(f"\n  {line}" for line in taken.open.values())
            return Refused(f"not settled yet in {now.folder}:{lines}")
        return self._finish(now, taken.tree, f"resolved by hand in {now.folder}")

    def _same(self, seen: ConflictRecord) -> ConflictRecord | Refused:
        """Give a conflict as the store has it now, if it still is the one that was seen."""
        now = self._seen(seen.ref)
        if isinstance(now, ConflictRecord) and (now.merge_id, now.met) != (seen.merge_id, seen.met):
            return Refused(f"{seen.ref} is in another conflict by now; look again")
        return now

    def _taken(self, seen: ConflictRecord) -> Taken | Refused:
        if not seen.folder:
            return Refused(f"{seen.ref} was not checked out; --checkout DIR writes it into a folder")
        taken = self.git.conflicts.take_back(seen, _labels(seen))
        return Refused(taken) if isinstance(taken, str) else taken

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
