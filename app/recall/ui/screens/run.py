"""One run, while it works or long after: how it came out, what it changed file by file, its transcript."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input

from recall.domain.run import Run, RunState
from recall.ui.context import Context
from recall.ui.details.lines import joined
from recall.ui.details.run import changes_words, fact_list, file_rows, run_heading
from recall.ui.details.task import run_word
from recall.ui.diffs import RunWork, work_of_run
from recall.ui.ledger import Seen
from recall.ui.run_log import RunLog
from recall.ui.screens.detail import Asker, DetailScreen, OpenTask, command_bindings, listing
from recall.ui.session import Session
from recall_widgets.diff_view import DiffView
from recall_widgets.heading import Heading
from recall_widgets.listing import Listing, ListRow
from recall_widgets.log_view import LogView
from recall_widgets.rows import KeyHint, Why
from recall_widgets.text_view import TextView

_COMMANDS = (
    "requeue", "hold", "cancel", "stop-run", "answer", "conflict", "shell", "editor", "log", "diff", "raw", "follow",
    "pause",
)  # fmt: skip
_LIVE = frozenset({RunState.PREPARING, RunState.RUNNING})


class RunScreen(DetailScreen):
    PANES: ClassVar[dict[str, str]] = {"facts": "Run", "files": "Files", "diff": "Diff", "log": "Log"}
    OFFERED: ClassVar[Sequence[str]] = ("raw", "answer", "conflict", "requeue", "stop-run", "shell")
    FILTER: ClassVar[str] = "search in the diff, or in the log"
    BINDINGS: ClassVar[list[BindingType]] = [
        *command_bindings(_COMMANDS),
        Binding("t", "task", show=False, id="run.task"),
    ]

    class Read(Message):
        """What the store and git have of it."""

        def __init__(self, run: Run, work: RunWork) -> None:
            super().__init__()
            self.run = run
            self.work = work

    def __init__(self, session: Session, asker: Asker, seen: Seen, run: Run, pane: str = "") -> None:
        super().__init__(session, asker, seen)
        self.run = run
        self._work: RunWork | None = None
        self._alone = pane if pane in self.PANES else self._alone
        self._right = pane if pane in ("diff", "log") else "log" if run.state in _LIVE else "diff"

    def panes(self) -> ComposeResult:
        symbols = self.session.symbols
        with Vertical(classes="column left"):
            yield listing("facts", self.session)
            yield listing("files", self.session)
        with Vertical(classes="column right"):
            yield DiffView(symbols=symbols, id="diff")
            yield RunLog(self.session, id="log")

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(DiffView).show("looking for what it changed")
        self.query_one(RunLog).show_run(self.run, follow=self.run.state in _LIVE)

    def read(self) -> Message | None:
        store = self.session.store
        run = store.run(self.run.id)
        entry = next((one for one in store.merges(open_only=False) if one.run_id == self.run.id), None)
        return self.Read(run, work_of_run(self.session.location, run, entry)) if run is not None else None

    @on(Read)
    def _take(self, event: Read) -> None:
        before, self.run, self._work = self._work, event.run, event.work
        if before is None or before.diff != event.work.diff:
            self.query_one(DiffView).show(event.work.diff or changes_words(event.work))
        self.query_one(RunLog).show_run(event.run)
        self.show_seen()
        self.show_about()

    def show_unread(self) -> None:
        if self._work is None:
            self.query_one(DiffView).show("what it changed could not be read")

    def context(self) -> Context:
        overview, ref = self.seen.overview, self.run.ref
        task = overview.index.get(ref)
        entry = next((entry for entry in overview.merges if entry.ref == ref), None)
        agent = next((agent for agent in overview.agents if agent.name == self.run.agent), None)
        return Context(overview, task, agent, entry, self.seen.latest.get(ref, self.run))

    def show_seen(self) -> None:
        now, work = self.seen.overview.now, self._work
        task = self.context().task
        self.query_one(Heading).show(run_heading(self.run, task.title if task else "", now))
        self.query_one("#facts", Listing).set_rows(self._facts())
        self.query_one("#files", Listing).set_rows(file_rows(work))
        if work is not None:
            self.entitle("files", str(len(work.files)))
        self._entitle_log()

    def _facts(self) -> list[ListRow]:
        spending = self.query_one(RunLog).spending
        return fact_list(self.run, self._work, spending, self.width_of("facts"), self.seen.overview.now)

    @on(LogView.FollowChanged)
    def _entitle_log(self) -> None:
        log = self.query_one(RunLog)
        self.entitle("log", joined(["raw" if log.raw else "", "following" if log.following else ""]))

    def about(self) -> Why:
        reason = self.run.reason.splitlines()[0] if self.run.reason else ""
        keys = (KeyHint("d", "diff"), KeyHint("l", "log"), KeyHint("t", "its task"))
        return Why(f"run {self.run.id}", run_word(self.run) + (f": {reason}" if reason else ""), keys)

    # -- actions -----------------------------------------------------------------------------------------------
    async def action_command(self, id_: str) -> None:
        if id_ in ("log", "diff"):
            self.bring(id_)
        elif id_ == "follow":
            self.query_one(RunLog).action_follow()
        elif id_ == "raw":
            self._switch_raw()
        else:
            await super().action_command(id_)

    def _switch_raw(self) -> None:
        """Show the log as it came, or what its events say."""
        log = self.query_one(RunLog)
        if log.raw is None:
            self.notify("This agent prints no events, so its log is shown as it came.", markup=False)
        log.switch_raw()
        self._entitle_log()

    def action_task(self) -> None:
        self.post_message(OpenTask(self.run.ref))

    @on(Listing.Selected, "#files")
    def _file_selected(self, event: Listing.Selected) -> None:
        kind, _, number = event.key.partition(":")
        if kind == "file" and self.focused is event.sender:
            self._turn_to("diff")
            self.query_one(DiffView).show_file(int(number))

    @on(Listing.Activated, "#files")
    def _file_opened(self) -> None:
        self.bring("diff")

    @on(Input.Submitted, "#needle")
    def _search(self) -> None:
        view = self.query_one(f"#{self._right}", TextView)
        view.search(self.needle)
        view.focus()

    def bring(self, pane: str) -> None:
        self._turn_to(pane)
        super().bring(pane)

    def on_descendant_focus(self) -> None:
        super().on_descendant_focus()
        self._turn_to(self._alone)

    def _turn_to(self, pane: str) -> None:
        """Diff and log share a place: show the one that is wanted."""
        if pane in ("diff", "log") and pane != self._right:
            self._right = pane
            self._arrange()

    def _arrange(self, wanted: str | None = None) -> None:
        super()._arrange(wanted)
        if not self._is_narrow:
            for pane in ("diff", "log"):
                self.query_one(f"#{pane}").set_class(pane != self._right, "-away")
