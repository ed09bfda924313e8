"""The conflict workbench: both sides of each hunk, why each was written, and what comes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from recall.domain.conflict import Hunk
from recall.domain.text import clean
from recall.engine.resolve import ConflictView
from recall.ui.commands import BENCH_COMMANDS
from recall.ui.keymap import TABLE_KEYS, Keymap
from recall.ui.screens.prompts import Confirm, Write
from recall.ui.workbench import Bench, Choice, heading, reasons, whole_file_words
from recall_widgets.glyphs import UNICODE, Symbols
from recall_widgets.hunk_view import HunkShown, HunkView
from recall_widgets.titles import entitle

AnswerT = TypeVar("AnswerT")

_NOTHING = Hunk(b"", b"", b"", 1, 1)


class ConflictScreen(Screen[None]):
    """Decides nothing for good by itself: it asks for `Resolve` and leaves."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(one.key, f"bench('{one.id}')", one.title, show=False, id=f"bench.{one.id}", priority=True)
            for one in BENCH_COMMANDS
        ),
    ]

    class Resolve(Message):
        """The person has decided: by the contents of the bench (`accept`), or by ending the conflict another way."""

        def __init__(self, bench: Bench, way: str) -> None:
            super().__init__()
            self.bench = bench
            self.way = way

    def __init__(self, view: ConflictView, now: float, symbols: Symbols = UNICODE, keys: Keymap = TABLE_KEYS) -> None:
        super().__init__()
        self.bench = Bench(view)
        self._now = now
        self._symbols = symbols
        self._keys = keys

    def compose(self) -> ComposeResult:
        yield Static(id="heading")
        with Horizontal(id="reasons"):
            yield Static(id="why-main", classes="pane")
            yield Static(id="why-task", classes="pane")
        yield HunkView(symbols=self._symbols, id="hunk")
        yield Static(id="left-open", classes="hint")
        keys = "  ".join(f"{self._keys.name(one.id)} {one.title}" for one in BENCH_COMMANDS)
        yield Static(Content(keys), classes="hint")

    def on_mount(self) -> None:
        task = self.bench.view.task.ref
        others = ", ".join(str(other.ref) for other, _ in self.bench.view.others) or "main"
        entitle(self.query_one("#why-main"), f"why {others} changed this")
        entitle(self.query_one("#why-task"), f"why {task} changes this")
        self.query_one(HunkView).focus()
        self._show()

    def _show(self) -> None:
        bench = self.bench
        self.query_one("#heading", Static).update(Content(heading(bench, self._now)))
        for id_, reason in zip(("#why-main", "#why-task"), reasons(bench), strict=True):
            self.query_one(id_, Static).update(Content(f'"{reason}"'))
        chosen = bench.chosen
        self.query_one(HunkView).show(
            HunkShown(
                bench.current_hunk or _NOTHING,
                "main",
                str(bench.view.task.ref),
                chosen.text if chosen is not None else None,
                chosen.how if chosen is not None else "",
            )
        )
        left = f"still open: {', '.join(bench.open)}" if bench.open else "all decided: a verifies and lands it"
        whole = "" if bench.current_hunk is not None else whole_file_words(bench) + "  "
        self.query_one("#left-open", Static).update(Content(clean(whole + left)))

    # -- actions -----------------------------------------------------------------------------------------------
    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys of the bench are its own only while nothing lies over it."""
        return action != "bench" or self.is_active

    def action_bench(self, id_: str) -> None:
        ways: dict[str, Callable[[], object]] = {
            "take-main": lambda: self._choose(Choice.MAIN),
            "take-task": lambda: self._choose(Choice.TASK),
            "take-both": lambda: self._choose(Choice.BOTH),
            "edit-hunk": self._edit,
            "next-hunk": lambda: self._move(self.bench.to_hunk(1)),
            "previous-hunk": lambda: self._move(self.bench.to_hunk(-1)),
            "next-file": lambda: self._move(self.bench.to_file(1)),
            "previous-file": lambda: self._move(self.bench.to_file(-1)),
            "bench-send-back": lambda: self._end("send back", f"Send {self._who} back to an agent?"),
            "bench-start-over": lambda: self._end("restart", f"Start {self._who} over from main?"),
            "give-up": lambda: self._end("give up", f"Give {self._who} up? Its work is kept."),
            "accept": self._accept,
            "bench-leave": self.dismiss,
        }
        ways[id_]()

    @property
    def _who(self) -> str:
        return str(self.bench.view.task.ref)

    def _move(self, bench: Bench) -> None:
        self.bench = bench
        self._show()

    def _choose(self, choice: Choice) -> None:
        decided = self.bench.choose(choice)
        if isinstance(decided, str):
            self.notify(clean(decided), severity="warning", markup=False)
        else:
            self._move(decided)

    def _edit(self) -> None:
        hunk, chosen = self.bench.current_hunk, self.bench.chosen
        if hunk is None:
            self.notify("only a hunk can be edited here", severity="warning", markup=False)
            return
        try:
            text = (chosen.text if chosen is not None else hunk.main + hunk.task).decode("utf-8")
        except UnicodeDecodeError:
            self.notify("these lines are no UTF-8 text: take a side", severity="warning", markup=False)
            return
        ending = "\r\n" if "\r\n" in text else "\n"

        def written(result: str | None) -> None:
            if result is not None:
                self._move(self.bench.put(result.replace("\n", ending).encode()))

        self._over(Write("What is to stand here", text.replace("\r\n", "\n")), written)

    def _end(self, way: str, question: str) -> None:
        def answered(yes: bool | None) -> None:
            if yes:
                self._resolve(way)

        self._over(Confirm(question), answered)

    def _over(self, dialog: ModalScreen[AnswerT], then: Callable[[AnswerT | None], None]) -> None:
        app: App[Any] = self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - Textual leaves the app's type open
        app.push_screen(dialog, then)

    def _accept(self) -> None:
        if self.bench.open:
            self.notify(clean(f"still open: {', '.join(self.bench.open)}"), severity="warning", markup=False)
        else:
            self._resolve("accept")

    def _resolve(self, way: str) -> None:
        self.post_message(self.Resolve(self.bench, way))
        self.dismiss()
