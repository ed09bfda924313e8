"""The main screen: does anything wait for me, what is running, what comes next."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input

from recall.agents.transcript import Transcript
from recall.domain.agent import Agent
from recall.domain.merge import MergeEntry
from recall.domain.overview import agent_doing, why
from recall.domain.run import Run, RunState
from recall.domain.task import TaskRef
from recall.ui.commands import BY_ID, COMMANDS
from recall.ui.context import Context
from recall.ui.layout import Layout
from recall.ui.ledger import Seen
from recall.ui.session import Session
from recall.ui.view_models import (
    agent_rows,
    board_rows,
    header,
    log_titles,
    need_rows,
    queue_rows,
    task_key,
    task_of,
    tree_rows,
)
from recall_widgets.agent_list import AgentList
from recall_widgets.line_list import LineList
from recall_widgets.log_view import LogView
from recall_widgets.needs_you import NeedsYou
from recall_widgets.queue_view import QueueView
from recall_widgets.rows import BoardRow, KeyHint, Why
from recall_widgets.status_strip import StatusStrip
from recall_widgets.task_board import TaskBoard
from recall_widgets.titles import entitle
from recall_widgets.why_line import WhyLine

#: While a run is live its log is looked at this often, in seconds.
_LOG_PERIOD = 0.2
_CLOCK_PERIOD = 10.0
_NARROW = 100
_PANES = ("board", "agents", "queue", "log")
#: The keys that the bottom line offers, in this order, where they make sense.
_OFFERED = ("open", "answer", "conflict", "requeue", "cancel", "pause-agent", "lift", "retry", "trust", "help")
#: Keys that mean the same in every pane, though a text has a use of its own for them.
_EVERYWHERE = frozenset({"next-need", "log"})


class MainScreen(Screen[None]):
    """Shows the store as it is seen; what is selected is kept by key, so nothing jumps."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(
                command.key,
                f"command('{command.id}')",
                command.title,
                show=False,
                id=command.id,
                priority=command.id in _EVERYWHERE,
            )
            for command in COMMANDS
            if command.key != "enter"
        ),
        *(Binding(str(n), f"pane({n - 1})", show=False, id=f"pane.{n}") for n in range(1, 5)),
        Binding("tab", "next_pane(1)", show=False, id="pane.next"),
        Binding("shift+tab", "next_pane(-1)", show=False, id="pane.previous"),
        Binding("escape", "back", show=False, id="main.back"),
    ]

    class LayoutChanged(Message):
        """The person arranged the screen in another way."""

    def __init__(self, session: Session, layout: Layout) -> None:
        super().__init__()
        self._session = session
        self._seen: Seen | None = None
        self._begun = False
        self._mode = "starting"
        self._folded = set(layout.folded)
        self._tree = layout.tree
        self._zoomed = layout.zoomed
        self._needle = ""
        self._run: Run | None = None
        self._transcript: Transcript | None = None
        self._log_timer: Timer | None = None

    def compose(self) -> ComposeResult:
        symbols = self._session.symbols
        yield StatusStrip(symbols=symbols, id="status")
        yield NeedsYou(symbols=symbols, id="needs")
        with Horizontal(id="upper"):
            yield _titled(TaskBoard(symbols=symbols, id="board", classes="pane"), "1 Tasks")
            with Vertical(id="side"):
                yield _titled(AgentList(symbols=symbols, id="agents", classes="pane"), "2 Agents")
                yield _titled(QueueView(symbols=symbols, id="queue", classes="pane"), "3 Merge queue")
        yield _titled(LogView(symbols=symbols, id="log", classes="pane"), "4 Log")
        needle = Input(placeholder="filter by id or title", id="filter")
        needle.display = False
        yield needle
        yield WhyLine(symbols=symbols, id="why")

    def on_mount(self) -> None:
        self._log_timer = self.set_interval(_LOG_PERIOD, self._grow_log, pause=True)
        self.set_interval(_CLOCK_PERIOD, self._show_header)
        self.query_one(TaskBoard).focus()
        self._arrange()
        self._restore_zoom()

    def on_resize(self) -> None:
        self._arrange()

    # -- what is shown -----------------------------------------------------------------------------------------

    def show(self, seen: Seen) -> None:
        """Bring every pane in line with the store; only what differs is drawn."""
        self._seen = seen
        self._show_board()
        if not self._begun:
            self._begin_at_a_task()
        self.query_one(QueueView).set_rows(queue_rows(seen.overview, seen.typical))
        self.query_one(NeedsYou).set_rows(need_rows(seen.overview, seen.latest, self._session.keys))
        self._show_header()
        self._show_selected()

    def say_mode(self, mode: str) -> None:
        """`dispatching`, `draining`, `viewing`, `stopped`: what this process is."""
        self._mode = mode
        self._show_header()

    def _show_header(self) -> None:
        if self._seen is not None:
            facts = header(
                self._seen.overview, mode=self._mode, clock=time.strftime("%H:%M"), keys=self._session.keys
            )
            self.query_one(StatusStrip).show(facts)

    def _show_board(self) -> None:
        if self._seen is None:
            return
        board, overview = self.query_one(TaskBoard), self._seen.overview
        before, place = board.cursor_row, _index_of(board.rows, board.cursor)
        board.needle = self._needle
        if self._tree:
            board.set_rows(tree_rows(overview, self._needle))
        else:
            board.set_rows(board_rows(overview, folded=self._folded, needle=self._needle))
        if before is not None and before.kind == "task" and board.cursor != before.key:
            self._stay_at_a_task(place)
        entitle(board, "1 Tasks", f"filter: {self._needle}" if self._needle else "")

    def _stay_at_a_task(self, place: int) -> None:
        """The selected task went out of sight, as into a folded group: go to the one that is nearest now."""
        board = self.query_one(TaskBoard)
        tasks = [index for index, row in enumerate(board.rows) if row.kind == "task"]
        if tasks:
            board.select(board.rows[min(tasks, key=lambda index: abs(index - place))].key)

    def _begin_at_a_task(self) -> None:
        """Once there are tasks, begin at one of them rather than at a heading."""
        board = self.query_one(TaskBoard)
        first = next((row.key for row in board.rows if row.kind == "task"), None)
        if first is not None:
            self._begun = board.select(first)

    def _show_selected(self) -> None:
        context = self.context()
        if context is None:
            return
        task = context.task
        self.query_one(AgentList).set_rows(agent_rows(context.overview, task.type if task else ""))
        self._show_log(context.run)
        self.query_one(WhyLine).show(self._why(context))

    def _why(self, context: Context) -> Why:
        keys = self._session.keys
        hints = tuple(
            KeyHint(keys.name(id_), BY_ID[id_].title) for id_ in _OFFERED if not BY_ID[id_].unavailable(context)
        )
        if isinstance(self.focused, AgentList) and context.agent is not None:
            return Why(context.agent.name, agent_doing(context.agent, context.overview), hints)
        if context.task is not None:
            return Why(str(context.task.ref), why(context.task, context.overview), hints)
        if not context.overview.tasks:
            return Why("", f"no tasks yet: {keys.name('edit')} edits the task list", hints)
        return Why("", "nothing is selected", hints)

    def _show_log(self, run: Run | None) -> None:
        view, before = self.query_one(LogView), self._run
        self._run = run
        if run is None or before is None or run.id != before.id:
            self._transcript = Transcript(self._session.run_folder(run.id)) if run is not None else None
            if run is not None or before is not None:
                view.show(self._transcript.read if self._transcript else None, self._log_size())
            self._entitle_log()
        if before is not None and before != run:
            self._grow_log()
        if self._log_timer is not None:
            if run is not None and run.state in (RunState.PREPARING, RunState.RUNNING):
                self._log_timer.resume()
            else:
                self._log_timer.pause()

    def _log_size(self) -> int:
        return self._transcript.size() if self._transcript is not None else 0

    def _grow_log(self) -> None:
        if self._transcript is not None:
            self.query_one(LogView).grew(self._log_size())

    @on(LogView.FollowChanged)
    def _entitle_log(self) -> None:
        view = self.query_one(LogView)
        entitle(view, *log_titles(self._run, following=view.following))

    # -- what is selected --------------------------------------------------------------------------------------

    def context(self) -> Context | None:
        """Give what a command acts on; None before the store was seen."""
        seen = self._seen
        if seen is None:
            return None
        ref, overview = self._selected_ref(), seen.overview
        task = next((task for task in overview.tasks if task.ref == ref), None) if ref is not None else None
        entry = next((one for one in overview.merges if one.ref == ref), None)
        run = seen.latest.get(ref) if ref is not None else None
        return Context(overview, task, self._agent_under_cursor(), entry, run)

    def _selected_ref(self) -> TaskRef | None:
        if self._seen is None:
            return None
        if isinstance(self.focused, QueueView):
            entry = self._entry_under_cursor()
            return entry.ref if entry is not None else None
        if isinstance(self.focused, AgentList):
            agent = self._agent_under_cursor()
            runs = self._seen.overview.runs
            run = next((run for run in runs if agent is not None and run.agent == agent.name), None)
            return run.ref if run is not None else None
        if isinstance(self.focused, NeedsYou):
            return self._ref_of(self.query_one(NeedsYou).cursor or "")
        return task_of(self.query_one(TaskBoard).cursor or "")

    def _ref_of(self, key: str) -> TaskRef | None:
        """Read the key of a task's row, or of a merge entry's."""
        entries = self._seen.overview.merges if self._seen is not None else ()
        return task_of(key) or next((one.ref for one in entries if f"merge:{one.id}" == key), None)

    def _entry_under_cursor(self) -> MergeEntry | None:
        key = self.query_one(QueueView).cursor
        entries = self._seen.overview.merges if self._seen is not None else ()
        return next((one for one in entries if f"merge:{one.id}" == key), None)

    def _agent_under_cursor(self) -> Agent | None:
        needs = self.query_one(NeedsYou)
        key = needs.cursor if self.focused is needs else self.query_one(AgentList).cursor
        agents = self._seen.overview.agents if self._seen is not None else ()
        return next((one for one in agents if f"agent:{one.name}" == key), None)

    @on(LineList.Selected)
    def _selection_moved(self) -> None:
        self._show_selected()

    def on_descendant_focus(self) -> None:
        self._arrange()
        self._show_selected()

    @on(LineList.Activated)
    async def _activated(self, event: LineList.Activated) -> None:
        if not isinstance(event.sender, NeedsYou):
            await self.action_command("open")
            return
        context = self.context()
        ways = ("conflict", "answer", "trust", "open")
        for id_ in ways:
            if context is not None and not BY_ID[id_].unavailable(context):
                await self.action_command(id_)
                return

    @on(TaskBoard.Folded)
    def _folded_changed(self, event: TaskBoard.Folded) -> None:
        if event.folded:
            self._folded.add(event.key)
        else:
            self._folded.discard(event.key)
        self._show_board()
        self.post_message(self.LayoutChanged())

    # -- actions of the screen itself --------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave keys that count everywhere to a line that is being typed."""
        return not (action == "command" and isinstance(self.focused, Input))

    async def action_command(self, id_: str) -> None:
        own = self.OWN.get(id_)
        if own is not None:
            own(self)
        else:
            await self.run_action(f"app.command('{id_}')")

    def action_pane(self, index: int) -> None:
        self._bring(self.query_one(f"#{_PANES[index]}"))

    def action_next_pane(self, by: int) -> None:
        panes = [pane for pane in ("needs", *_PANES) if pane != "needs" or self.query_one(NeedsYou).display]
        at = panes.index(self.focused.id) if self.focused is not None and self.focused.id in panes else -by
        self._bring(self.query_one(f"#{panes[(at + by) % len(panes)]}"))

    def _bring(self, pane: Widget) -> None:
        """Put the focus on a pane, which may be out of sight on a narrow screen."""
        self.minimize()
        self._arrange(pane.id)
        self.set_focus(pane)

    def action_back(self) -> None:
        """Undo the nearest thing: the filter, then the zoom, then being anywhere but on the board."""
        box = self.query_one("#filter", Input)
        if box.display or self._needle:
            box.display = False
            box.value = ""
        elif self.maximized is not None:
            self._zoom()
            return
        self._bring(self.query_one(TaskBoard))

    def layout_now(self, theme: str) -> Layout:
        """How the screen is arranged, to be kept."""
        return Layout(theme, self._tree, tuple(sorted(self._folded)), self._zoomed)

    def _follow(self) -> None:
        self.query_one(LogView).action_follow()

    def _switch_view(self) -> None:
        self._tree = not self._tree
        self._show_board()
        self.post_message(self.LayoutChanged())

    def _zoom(self) -> None:
        if self.maximized is not None:
            self._zoomed = ""
            self.minimize()
        elif self.focused is not None and self.focused.id in _PANES:
            self._zoomed = self.focused.id
            self.maximize(self.focused)
        self.post_message(self.LayoutChanged())

    def _restore_zoom(self) -> None:
        if self._zoomed in _PANES:
            pane = self.query_one(f"#{self._zoomed}")
            self._bring(pane)
            self.maximize(pane)

    def _next_need(self) -> None:
        rows = need_rows(self._seen.overview, self._seen.latest) if self._seen is not None else []
        if not rows:
            self.notify("Nothing waits for you.", markup=False)
            return
        keys = [row.key for row in rows]
        current = self.query_one(TaskBoard).cursor
        self._jump(keys[(keys.index(current) + 1) % len(keys)] if current in keys else keys[0])

    def _jump(self, key: str) -> None:
        if key.startswith("agent:"):
            self.query_one(AgentList).select(key)
            self._bring(self.query_one(AgentList))
        elif (ref := self._ref_of(key)) is not None:
            self.query_one(TaskBoard).select(task_key(ref))
            self._bring(self.query_one(TaskBoard))
        else:
            self.query_one(NeedsYou).select(key)
            self._bring(self.query_one(NeedsYou))

    def _ask_filter(self) -> None:
        box = self.query_one("#filter", Input)
        box.display = True
        box.focus()

    @on(Input.Changed, "#filter")
    def _filter_changed(self, event: Input.Changed) -> None:
        self._needle = event.value
        self._show_board()

    @on(Input.Submitted, "#filter")
    def _filter_done(self, event: Input.Submitted) -> None:
        event.input.display = False
        self._bring(self.query_one(TaskBoard))

    #: Commands that are this screen's own matter.
    OWN: ClassVar[dict[str, Callable[[MainScreen], None]]] = {
        "filter": _ask_filter,
        "view": _switch_view,
        "zoom": _zoom,
        "follow": _follow,
        "next-need": _next_need,
    }

    def _arrange(self, wanted: str | None = None) -> None:
        """Below 100 columns one pane at a time, the one that is wanted or in focus; above, all of them."""
        narrow = self.size.width < _NARROW
        self.set_class(narrow, "-narrow")
        focused = self.focused.id if self.focused is not None else None
        shown = next((pane for pane in (wanted, focused) if pane in _PANES), self._shown_alone())
        for pane in _PANES:
            self.query_one(f"#{pane}").set_class(narrow and pane != shown, "-away")
        self.query_one("#side").set_class(narrow and shown not in ("agents", "queue"), "-away")
        self.query_one("#upper").set_class(narrow and shown == "log", "-away")

    def _shown_alone(self) -> str:
        """The pane that a narrow screen shows already; the board at first."""
        seen = [pane for pane in _PANES if not self.query_one(f"#{pane}").has_class("-away")]
        return seen[0] if len(seen) == 1 else "board"


def _index_of(rows: Sequence[BoardRow], key: str | None) -> int:
    return next((index for index, row in enumerate(rows) if row.key == key), 0)


def _titled(widget: Widget, title: str) -> Widget:
    widget.border_title = title
    return widget
