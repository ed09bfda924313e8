"""The conflict workbench: both sides of each hunk, why each was written, and what comes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.widgets import Static, TextArea

from recall.domain.conflict import Side
from recall.domain.merge import MergeEntry, MergeState
from recall.domain.text import clean
from recall.engine.resolve import ConflictView
from recall.ui.bench_errands import (
    BenchErrands,
    Ended,
    FolderLooked,
    FolderReady,
    Hindered,
    LookedAgain,
    Tool,
    Way,
)
from recall.ui.bench_words import heading, place, reasons, remembered_words, standing
from recall.ui.commands import BENCH_COMMANDS, Command
from recall.ui.external import edit_at, editor, give_terminal, merge_with, shell
from recall.ui.keymap import TABLE_KEYS, Keymap
from recall.ui.screens.prompts import Confirm
from recall.ui.screens.reader import Reader
from recall.ui.screens.send_back import ask_whom
from recall.ui.workbench import Bench, Choice, resolve
from recall_widgets.glyphs import UNICODE, Symbols
from recall_widgets.hunk_view import HunkShown, HunkView
from recall_widgets.key_bar import KeyBar
from recall_widgets.rows import KeyHint
from recall_widgets.titles import entitle

AnswerT = TypeVar("AnswerT")

_SHORT = 30  #: rows of a terminal below which nothing but the sides gets more than a line
_HEADING_LINES = 2
_LOST_AT_A_BREAK = 12  #: cells of a line that are left blank because a word goes to the next one, and its padding
_BACK = {"next-hunk": "previous-hunk", "next-file": "previous-file"}
_DECIDING = ("take-main", "take-task", "take-both", "edit-hunk", "delete-file")


class ConflictScreen(Screen[None]):
    """Stays until the conflict is settled or the person leaves: what was refused costs nothing that was decided."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(one.key, f"bench('{one.id}')", one.title, show=False, id=f"bench.{one.id}", priority=True)
            for one in BENCH_COMMANDS
        ),
        Binding("ctrl+s", "written(True)", "Keep", show=False, id="bench.keep-text", priority=True),
        Binding("escape", "written(False)", "Leave", show=False, id="bench.leave-text", priority=True),
    ]

    def __init__(
        self,
        view: ConflictView,
        now: float,
        errands: BenchErrands,
        symbols: Symbols = UNICODE,
        keys: Keymap = TABLE_KEYS,
    ) -> None:
        super().__init__()
        draft = errands.drafts.get(view.record.ref)
        self.bench = draft.carried_to(view) if draft is not None else Bench(view)
        self._errands = errands
        self._now = now
        self._symbols = symbols
        self._keys = keys
        self._gone = ""
        self._elsewhere = ""
        self._waits = ""
        self._entry_changed: float | None = None
        self._texts: dict[tuple[str, int], str] = {}

    def compose(self) -> ComposeResult:
        yield Static(id="heading")
        yield Static(id="place")
        with Horizontal(id="reasons"):
            yield Static(id="why-main", classes="pane")
            yield Static(id="why-task", classes="pane")
        yield HunkView(symbols=self._symbols, id="hunk")
        yield TextArea(id="editor", soft_wrap=False, tab_behavior="indent", show_line_numbers=True, classes="pane")
        yield Static(id="outside", classes="hint")
        yield Static(id="left-open", classes="hint")
        yield KeyBar(id="keys", classes="hint")

    def on_mount(self) -> None:
        for id_ in ("#editor", "#outside"):
            self.query_one(id_).display = False
        self.query_one(HunkView).focus()
        self._show()

    def on_resize(self) -> None:
        self.set_class(self.size.height < _SHORT, "-short")
        if self.is_mounted:
            self._show()

    # -- showing it --------------------------------------------------------------------------------------------
    def _show(self) -> None:
        bench = self.bench
        room = max(0, _HEADING_LINES * (self.size.width - _LOST_AT_A_BREAK))
        self.query_one("#heading", Static).update(Content(clean(heading(bench, self._now, room))))
        self.query_one("#place", Static).update(Content(clean(place(bench))))
        self._show_reasons()
        chosen, offer = bench.chosen, bench.offer
        self.query_one(HunkView).show(
            HunkShown(
                bench.in_view,
                bench.side_label(Side.MAIN),
                bench.side_label(Side.TASK),
                chosen.text if chosen is not None else None,
                chosen.how if chosen is not None else "",
                offer,
                remembered_words(bench, self._now) if offer is not None else "",
                self._undecided(),
            )
        )
        self._show_standing()
        self.query_one(KeyBar).show(self._hints(), 2 if self.size.height < _SHORT else 3)

    def _undecided(self) -> str:
        """What stands in place of a result that nobody has decided yet."""
        fit = self._fitting()
        ways = [one for one in BENCH_COMMANDS if one.id in fit and one.id in _DECIDING]
        return "not decided yet: " + " · ".join(f"{self._keys.name(one.id)} {one.title}" for one in ways)

    def _show_reasons(self) -> None:
        bench = self.bench
        others = ", ".join(str(other.ref) for other, _ in bench.view.others) or "main"
        titles = (f"why {others} changed this", f"why {bench.view.task.ref} changes this")
        for id_, title, reason in zip(("#why-main", "#why-task"), titles, reasons(bench), strict=True):
            pane = self.query_one(id_, Static)
            entitle(pane, title)
            short = self.size.height < _SHORT
            pane.update(Content(clean(f"{title}: {reason}" if short else f'"{reason}"')))

    def _show_standing(self) -> None:
        words = self._waits or self._gone or standing(self.bench, self._now, self._keys)
        line = self.query_one("#left-open", Static)
        line.set_class(bool(self._gone) or self.bench.offer is not None, "-needs-you")
        line.update(Content(clean(words)))
        outside = self.query_one("#outside", Static)
        outside.display = bool(self._elsewhere)
        read = self._keys.name("read-folder")
        lines = self._elsewhere.replace(" && ", " &&\n", 1)
        outside.update(Content(clean(f"run this in a terminal, then {read} reads it back:\n{lines}")))

    def _hints(self) -> list[KeyHint]:
        return [self._hint(one) for one in self._offered()]

    def _hint(self, command: Command) -> KeyHint:
        """Keys that go forth and back share a hint."""
        key, back = self._keys.name(command.id), _BACK.get(command.id)
        if back is None:
            return KeyHint(key, command.title)
        return KeyHint(f"{key}/{self._keys.name(back)}", command.title.removeprefix("next "))

    def _offered(self) -> list[Command]:
        """The commands that make sense here and now, most useful first."""
        fit = self._fitting() - set(_BACK.values())
        return [one for one in BENCH_COMMANDS if one.id in fit]

    def _fitting(self) -> set[str]:
        bench = self.bench
        by_lines, several = bench.current_hunk is not None, len(bench.view.files) > 1
        unfit = {"take-both", "edit-hunk", "open-editor", "merge-tool"} if not by_lines else {"delete-file"}
        unfit |= set() if bench.offer is not None else {"take-remembered"}
        unfit |= set() if bench.offer is not None or bench.chosen is not None else {"undecide"}
        unfit |= set() if several else {"next-file", "previous-file"}
        unfit |= set() if bench.progress[1] > 1 else {"next-hunk", "previous-hunk"}
        unfit |= set() if bench.written or bench.view.record.folder else {"read-folder", "take-folder"}
        unfit |= set() if self._gone else {"look-again"}
        unfit |= {"accept"} if bench.open else set()
        return {one.id for one in BENCH_COMMANDS} - unfit

    def _say(self, text: str, severity: SeverityLevel = "warning") -> None:
        self.notify(clean(text), severity=severity, markup=False)

    # -- actions -----------------------------------------------------------------------------------------------
    @property
    def is_editing(self) -> bool:
        return self.is_mounted and bool(self.query_one("#editor").display)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys of the bench are its own only while nothing lies over it and no text is written."""
        if action == "bench":
            return self.is_active and not self.is_editing
        return action != "written" or (self.is_active and self.is_editing)

    def action_bench(self, id_: str) -> None:
        ways: dict[str, Callable[[], object]] = {
            "take-main": lambda: self._choose(Choice.MAIN),
            "take-task": lambda: self._choose(Choice.TASK),
            "take-both": lambda: self._choose(Choice.BOTH),
            "take-remembered": lambda: self._decide(self.bench.take_offer()),
            "undecide": lambda: self._move(self.bench.clear()),
            "delete-file": lambda: self._move(self.bench.delete()),
            "edit-hunk": self._edit,
            "next-hunk": lambda: self._move(self.bench.to_hunk(1)),
            "previous-hunk": lambda: self._move(self.bench.to_hunk(-1)),
            "next-file": lambda: self._move(self.bench.to_file(1)),
            "previous-file": lambda: self._move(self.bench.to_file(-1)),
            "open-editor": lambda: self._open(Tool.EDITOR),
            "merge-tool": lambda: self._open(Tool.MERGE),
            "bench-shell": lambda: self._open(Tool.SHELL),
            "read-folder": self._read_folder,
            "take-folder": self._take_folder,
            "look-again": lambda: self._errands.look_again(self.bench, self, asked=True),
            "bench-send-back": self._send_back,
            "bench-start-over": lambda: self._confirm(
                f"Start {self._ref} over from main?", lambda desk, ref: desk.restart(ref)
            ),
            "give-up": lambda: self._confirm(
                f"Give {self._ref} up? Its work is kept.", lambda desk, ref: desk.give_up(ref)
            ),
            "accept": self._accept,
            "bench-help": self._help,
            "bench-leave": self._leave,
        }
        ways[id_]()

    @on(KeyBar.Pressed)
    def _pressed(self, message: KeyBar.Pressed) -> None:
        self.action_bench(self._offered()[message.number].id)

    @on(HunkView.Picked)
    def _picked(self, message: HunkView.Picked) -> None:
        if not self.is_editing:
            self._choose(Choice.MAIN if message.side is Side.MAIN else Choice.TASK)

    @property
    def _ref(self) -> str:
        return str(self.bench.view.task.ref)

    def _move(self, bench: Bench) -> None:
        self.bench = bench
        self._show()

    def _choose(self, choice: Choice) -> None:
        self._decide(self.bench.choose(choice))

    def _decide(self, decided: Bench | str) -> None:
        if isinstance(decided, str):
            self._say(decided)
        else:
            self._move(decided)

    def _over(self, screen: Screen[AnswerT], then: Callable[[AnswerT | None], None] | None = None) -> None:
        self._app.push_screen(screen, then)

    @property
    def _app(self) -> App[Any]:
        return self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - Textual leaves it open

    def _help(self) -> None:
        rows = [f"{self._keys.names(one.id):<7} {one.title:<16} {one.help}" for one in BENCH_COMMANDS]
        text = "\n".join([*rows, f"{'b':<7} {'base':<16} Show what both sides began with, or the result again."])
        self._over(Reader("Keys of the conflict workbench", text.encode(), self._symbols))

    def _leave(self) -> None:
        """What was decided is there again when the conflict is opened the next time."""
        if self.bench.hunks or self.bench.wholes:
            self._errands.drafts[self.bench.view.record.ref] = self.bench
        self.dismiss()

    # -- writing a hunk ----------------------------------------------------------------------------------------
    def _edit(self) -> None:
        hunk, chosen, bench = self.bench.current_hunk, self.bench.chosen, self.bench
        if hunk is None or not bench.is_by_lines(bench.file) or bench.file in bench.wholes:
            self._say("only a hunk can be written here; o opens the whole file in your editor")
            return
        try:
            text = (chosen.text if chosen is not None else bench.offer or hunk.main + hunk.task).decode("utf-8")
        except UnicodeDecodeError:
            self._say("these lines are no UTF-8 text: take a side, or open your editor")
            return
        text = self._texts.pop((bench.current_file.path, bench.hunk), text.replace("\r\n", "\n"))
        area = self.query_one("#editor", TextArea)
        area.load_text(text)
        entitle(area, "what is to stand here", "ctrl+s keeps it · escape leaves")
        self._show_editor(True)

    def action_written(self, keep: bool) -> None:
        """Take the text over, or leave it aside for the next time the same hunk is written."""
        bench, text = self.bench, self.query_one("#editor", TextArea).text
        hunk = bench.current_hunk
        self._show_editor(False)
        if hunk is None:
            return
        if keep:
            crlf = b"\r\n" in hunk.main + hunk.task
            whole = text if not text or text.endswith("\n") or not _ends_line(hunk.main + hunk.task) else f"{text}\n"
            self._move(bench.put(whole.replace("\n", "\r\n" if crlf else "\n").encode()))
        else:
            self._texts[bench.current_file.path, bench.hunk] = text

    def _show_editor(self, shown: bool) -> None:
        self.query_one("#editor").display = shown
        view = self.query_one(HunkView)
        view.set_class(shown, "-sides-only")
        self.query_one(KeyBar).display = not shown
        (self.query_one("#editor") if shown else view).focus()

    # -- programs outside --------------------------------------------------------------------------------------
    def _open(self, tool: Tool) -> None:
        if tool is not Tool.SHELL and self.bench.current_hunk is None:
            self._say("this file has no lines to edit: take a side, or ! opens a shell")
            return
        self._wait(f"writing the files for your {tool} …")
        self._errands.open_folder(self.bench, self, tool)

    def on_folder_ready(self, message: FolderReady) -> None:
        self._wait("")
        path = self.bench.current_file.path
        self.bench = self.bench.note_written(message.written)
        if message.tool is Tool.MERGE and not message.merge_tool:
            self._say("your git has no merge tool: `git config --global merge.tool vimdiff` sets one")
            self._show()
            return
        argv = {
            Tool.EDITOR: lambda: edit_at(editor(), path, self.bench.line_so_far()),
            Tool.MERGE: lambda: merge_with(path),
            Tool.SHELL: shell,
        }[message.tool]()
        outside = give_terminal(self._app, argv, message.folder)
        self._elsewhere = outside.command
        if outside.trouble:
            self._say(outside.trouble, "error")
        elif not outside.command:
            self._read_folder()
        self._show()

    def _read_folder(self) -> None:
        self._wait("reading the folder …")
        self._errands.look_into_folder(self.bench, self)

    def on_folder_looked(self, message: FolderLooked) -> None:
        self._wait("")
        self.bench, taken = self.bench.taken_from(message.seen)
        if taken:
            self._elsewhere = ""
            self._say(f"taken over: {', '.join(taken)}", "information")
        else:
            left = message.seen.open.get(self.bench.current_file.path, "nothing was changed")
            self._say(f"nothing was taken over: {left}")
        if message.seen.elsewhere:
            key = self._keys.name("take-folder")
            self._say(f"also changed: {', '.join(message.seen.elsewhere[:5])}. {key} takes the whole folder over")
        self._show()

    def _take_folder(self) -> None:
        record = self.bench.view.record
        question = "Take the folder over as it is, with every change in it?"
        self._confirm(question, lambda desk, _: desk.take_folder(record))

    # -- ending it ---------------------------------------------------------------------------------------------
    def _accept(self) -> None:
        bench = self.bench
        if bench.open:
            self._say(f"still open: {', '.join(bench.open)}")
        else:
            self._end(lambda desk, _: resolve(desk, bench))

    def _confirm(self, question: str, way: Way) -> None:
        self._over(Confirm(question), lambda yes: self._end(way) if yes else None)

    def _send_back(self) -> None:
        """To any agent, to the same one, or to another."""
        view = self.bench.view
        ask_whom(self._over, view.task.ref, view.agents, view.run.agent, self._send_to)

    def _send_to(self, agent: str | None) -> None:
        self._end(lambda desk, ref: desk.send_back(ref, agent))

    def _end(self, way: Way) -> None:
        if self._waits:
            return
        self._wait("asking the store …")
        self._errands.end(self.bench, self, way)

    def _wait(self, words: str) -> None:
        self._waits = words
        self._show_standing()

    def on_ended(self, message: Ended) -> None:
        self._say(message.text, "information")
        self.dismiss()

    def on_hindered(self, message: Hindered) -> None:
        self._wait("")
        self._say(message.reason)
        self._errands.look_again(self.bench, self, asked=False)

    # -- what others do meanwhile ------------------------------------------------------------------------------
    def heed(self, entry: MergeEntry | None) -> None:
        """Take notice of the task's place in the merge queue: another person, or main, may have been quicker."""
        changed = entry.changed_at if entry is not None and entry.state is MergeState.CONFLICT else -1.0
        before, self._entry_changed = self._entry_changed, changed
        if changed != before and (before is not None or changed < 0) and not self._waits:
            self._errands.look_again(self.bench, self, asked=False)

    def on_looked_again(self, message: LookedAgain) -> None:
        if message.view is None:
            self._say_gone(f"{message.gone}. What you decided stays here; esc leaves")
        elif (message.view.record.merge_id, message.view.record.met) == self._met:
            self._gone = ""
            self._show()
        elif message.asked:
            before = self.bench.progress[0]
            self.bench = self.bench.carried_to(message.view)
            self._gone = self._elsewhere = ""
            self._say(f"{self.bench.progress[0]} of your {before} decisions fit and are kept", "information")
            self._show()
        else:
            key = self._keys.name("look-again")
            self._say_gone(f"{self._ref} meets main anew: {key} shows it, and keeps what still fits")

    @property
    def _met(self) -> tuple[object, object]:
        return self.bench.view.record.merge_id, self.bench.view.record.met

    def _say_gone(self, words: str) -> None:
        if words == self._gone:
            return
        self._gone = words
        kept = self._errands.keep_typed(self.bench) if self.bench.is_typed else None
        self._say(f"{words}. What you typed is in {kept} too" if kept is not None else words)
        self._show()


def _ends_line(text: bytes) -> bool:
    return text.endswith(b"\n")
