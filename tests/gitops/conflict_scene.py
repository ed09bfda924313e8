"""A task's commits that do not apply to main, in a real repository, as the merge queue would hand them over."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from recall.domain.conflict import (
    ConflictedFile,
    ConflictRecord,
    Decision,
    Labels,
    RecordedFile,
    Side,
    Taken,
)
from recall.domain.task import TaskRef
from recall.domain.work import Conflict, Rebased
from tests.gitops.ground import gateway_for
from tests.support.hermetic_git import Repo

Files = Mapping[str, str | bytes | None]
LABELS = Labels("main (T-2)", "T-1")
TRAILERS = {"Recall-Task": "T-1", "Recall-Run": "7", "Recall-Agent": "ant"}


class Scene:
    """`before` is what both sides began with, then `main` and `task` are what each commits."""

    def __init__(self, repo: Repo, before: Files, main: Files, task: Files) -> None:
        self.repo = repo
        self.base = repo.commit("before", before)
        repo.switch("work", create=True)
        self.tip = repo.commit("task's side\n\nwhy it is so", task, author="Ada <ada@example.invalid>")
        repo.switch("main")
        self.onto = repo.commit("main's side\n\nRecall-Task: T-2", main)
        self.gateway = gateway_for(repo)
        self.desk = self.gateway.conflicts
        assert self.gateway.integration.carry(self.tip, [self.base]) is None
        self.met = self.meet(self.base, self.tip, self.onto)

    def meet(self, base: str, tip: str, onto: str) -> Conflict:
        outcome = self.gateway.rebase(base=base, tip=tip, onto=onto, trailers=TRAILERS)
        assert isinstance(outcome, Conflict), outcome
        return outcome

    @property
    def files(self) -> dict[str, ConflictedFile]:
        return {file.path: file for file in self.desk.files(self.met)}

    def record(self, *decisions: Decision, folder: Path | None = None) -> ConflictRecord:
        """What the store would hold."""
        decided = {one.path: one for one in decisions}
        files = tuple(
            RecordedFile(path, file.kind, len(file.hunks), decided.get(path)) for path, file in self.files.items()
        )
        where = str(folder) if folder else ""
        return ConflictRecord(3, TaskRef("main", "T-1"), 7, self.tip, self.base, self.met, files, (), where)

    def sided(self, side: Side) -> list[Decision]:
        return [Decision(path, side, file.version(side)) for path, file in self.files.items()]

    def check_out(self, folder: Path, *decisions: Decision) -> Path:
        assert self.desk.check_out(self.record(*decisions), folder, LABELS) == ""
        return folder

    def taken(self, folder: Path, *decisions: Decision) -> Taken:
        taken = self.desk.take_back(self.record(*decisions, folder=folder), LABELS)
        assert isinstance(taken, Taken), taken
        return taken

    def landed(self, tree: str) -> str:
        """What the queue makes of a resolution on today's main."""
        tip = self.desk.commit(self.record(), tree)
        outcome = self.gateway.rebase(base=self.met.ours, tip=tip, onto=self.repo.tip("main"), trailers=TRAILERS)
        assert isinstance(outcome, Rebased), outcome
        return outcome.candidate

    def see(self) -> Repo:
        return Repo(self.gateway.integration.git_dir)


LINES = "".join(f"line {number}\n" for number in range(1, 31))


def edited(**lines: str) -> str:
    """LINES with some of them replaced: `edited(l5="x")`."""
    texts = LINES.splitlines(keepends=True)
    for name, text in lines.items():
        texts[int(name[1:]) - 1] = f"{text}\n"
    return "".join(texts)
