"""What the workbench has git and the store do, off the screen's thread; each errand posts one message to it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from textual.message import Message

from recall.domain.conflict import ConflictRecord
from recall.domain.errors import RecallError
from recall.domain.run import Refused
from recall.domain.task import TaskRef
from recall.engine.resolve import ConflictView, FolderSeen, Resolver
from recall.ui.bridge import Poster
from recall.ui.errands import Errand
from recall.ui.external import merge_tool
from recall.ui.session import Session
from recall.ui.wishes import ACTOR
from recall.ui.workbench import Bench

Way = Callable[[Resolver, TaskRef], str | Refused]


class Tool(StrEnum):
    """A program of the person's own that works on the conflict's folder."""

    EDITOR = "editor"
    MERGE = "merge tool"
    SHELL = "shell"


class Ended(Message):
    """The conflict was settled or given back, as `text` says."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Hindered(Message):
    """What was asked for was refused, or failed, for this reason."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason


class FolderReady(Message):
    """The conflict lies in `folder`: `written` is what its files with hunks hold there. `merge_tool` is the one that
    the person's git is set to, "" for none."""

    def __init__(self, tool: Tool, folder: Path, written: dict[str, bytes], merge_tool: str) -> None:
        super().__init__()
        self.tool = tool
        self.folder = folder
        self.written = written
        self.merge_tool = merge_tool


class FolderLooked(Message):
    """What a person made of the folder so far."""

    def __init__(self, seen: FolderSeen) -> None:
        super().__init__()
        self.seen = seen


class LookedAgain(Message):
    """The task's conflict as it is now; `gone` says why there is none any more, `asked` that a person wants to see
    it."""

    def __init__(self, view: ConflictView | None, gone: str = "", *, asked: bool) -> None:
        super().__init__()
        self.view = view
        self.gone = gone
        self.asked = asked


@dataclass(frozen=True, slots=True)
class BenchErrands:
    """`wish` and `ask` have an errand done, `drafts` outlive the bench: what was decided in conflicts that were left
    undecided."""

    session: Session
    wish: Callable[[Errand], None]
    ask: Callable[[Errand], None]
    drafts: dict[TaskRef, Bench]

    def end(self, bench: Bench, poster: Poster, way: Way) -> None:
        """Settle the conflict, or end it otherwise."""
        record = bench.view.record

        def work(desk: Resolver) -> Message:
            leftover = self._unread(desk, bench)
            said = way(desk, record.ref)
            if isinstance(said, Refused):
                return Hindered(said.reason)
            self.drafts.pop(record.ref, None)
            return Ended(said + self._clear_away(record, leftover))

        self.wish(self._errand(poster, work))

    def open_folder(self, bench: Bench, poster: Poster, tool: Tool) -> None:
        """Have the conflict as files, with what is decided so far in them."""
        record = bench.view.record

        def work(desk: Resolver) -> Message:
            folder = desk.open_folder(record, self.folder_of(record))
            if isinstance(folder, Refused):
                return Hindered(folder.reason)
            written: dict[str, bytes] = {}
            for number, file in enumerate(bench.view.files):
                if file.hunks and bench.is_by_lines(number):
                    known = {bench.written[file.path]} if file.path in bench.written else set[bytes]()
                    there = desk.place(record, file.path, bench.so_far(number), known)
                    if not isinstance(there, Refused):
                        written[file.path] = there
            return FolderReady(tool, folder, written, merge_tool(folder) if tool is Tool.MERGE else "")

        self.wish(self._errand(poster, work))

    def look_into_folder(self, bench: Bench, poster: Poster) -> None:
        def work(desk: Resolver) -> Message:
            seen = desk.look_into_folder(bench.view.record)
            return Hindered(seen.reason) if isinstance(seen, Refused) else FolderLooked(seen)

        self.ask(self._errand(poster, work))

    def look_again(self, bench: Bench, poster: Poster, *, asked: bool) -> None:
        """See whether the conflict is still the same. Unless a person asked, nothing is posted when it is."""
        seen = bench.view.record

        def work(desk: Resolver) -> Message | None:
            view = desk.look(seen.ref)
            if isinstance(view, Refused):
                return LookedAgain(None, view.reason, asked=asked)
            same = (view.record.merge_id, view.record.met) == (seen.merge_id, seen.met)
            return None if same and not asked else LookedAgain(view, asked=asked)

        self.ask(self._errand(poster, work))

    def keep_typed(self, bench: Bench) -> Path | None:
        """Write what was typed into a file of its own; gives which, None where the disk refuses."""
        folder = self.session.state / "drafts"
        file = folder / f"{_name_of(bench.view.record)}.txt"
        try:
            folder.mkdir(exist_ok=True)
            file.write_text(bench.typed_texts(), "utf-8")
        except OSError:
            return None
        return file

    def folder_of(self, record: ConflictRecord) -> Path:
        """Where a conflict's files are written to, unless the person chose a place."""
        return self.session.workspaces.parent / "conflicts" / _name_of(record)

    def _unread(self, desk: Resolver, bench: Bench) -> Collection[str]:
        """Name what was changed in the folder and is not on the bench."""
        if not self.folder_of(bench.view.record).is_dir():
            return ()
        seen = desk.look_into_folder(bench.view.record)
        if isinstance(seen, Refused):
            return (seen.reason,)
        return (*bench.taken_from(seen)[1], *seen.elsewhere)

    def _clear_away(self, record: ConflictRecord, leftover: Collection[str]) -> str:
        folder = self.folder_of(record)
        if leftover:
            return f"; {folder} is left, with changes that were not read back"
        shutil.rmtree(folder, ignore_errors=True)
        return ""

    def _errand(self, poster: Poster, work: Callable[[Resolver], Message | None]) -> Errand:
        def errand() -> None:
            try:
                message = work(self.session.desk(ACTOR))
            except RecallError as trouble:
                message = Hindered(str(trouble))
            except Exception:  # the errands' own thread logs it and says where
                poster.post_message(Hindered("that failed; everything is as it was"))
                raise
            if message is not None:
                poster.post_message(message)

        return errand


def _name_of(record: ConflictRecord) -> str:
    plain = re.sub(r"[^\w.-]+", "_", record.ref.id).strip(".") or "task"
    return f"{plain}-{record.merge_id}"
