"""The main screen: does anything wait for me, what is running, what comes next."""

from __future__ import annotations

import time
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from recall.agents.transcript import Transcript
from recall.domain.agent import Agent
from recall.domain.merge import MergeEntry
from recall.domain.overview import Overview, agent_doing, why
from recall.domain.run import Run
from recall.domain.task import Task, TaskRef
from recall.ui.commands import BY_ID, COMMANDS, Context
from recall.ui.session import Session
from recall.ui.view_models import (
    agent_rows,
    board_rows,
    group_key,
    header,
    need_rows,
    queue_rows,
    task_key,
    task_of,
    tree_rows,
)
from recall_widgets.agent_list import AgentList
from recall_widgets.line_list import LineList, Row
from recall_widgets.log_view import LogView
from recall_widgets.needs_you import NeedsYou
from recall_widgets.queue_view import QueueView
from recall_widgets.rows import KeyHint, Why
from recall_widgets.status_strip import StatusStrip
from recall_widgets.task_board import TaskBoard
from recall_widgets.why_line import WhyLine

_LOG_PERIOD = 0.2
_NARROW = 100
_PANES = ("board", "agents", "queue", "log")
#: The keys that the bottom line offers, in this order, where they make sense.
_OFFERED = ("open", "answer", "conflict", "requeue", "cancel", "pause-agent", "lift", "retry", "trust", "help")


class MainScreen(Screen[None]):
    """Shows one overview after another; what is selected is kept by key, so nothing jumps."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(command.key, f"command('{command.id}')", command.title, show=False, id=command.id)
            for command in COMMANDS
            if command.key != "enter"
        ),
        *(Binding(str(n), f"pane({n - 1})", show=False, id=f"pane.{n}") for n in range(1, 5)),
        Binding("tab", "app.focus_next", show=False, id="pane.next"),
        Binding("shift+tab", "app.focus_previous", show=False, id="pane.previous"),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._overview: Overview | None = None
        self._mode = "starting"
        self._folded = {group_key("done"), group_key("cancelled")}
        self._tree = False
        self._needle = ""
        self._logged: int | None = None
        self._transcript: Transcript | None = None

    def compose(self) -> ComposeResult:
        yield StatusStrip(id="status")
        yield NeedsYou(id="needs")
        with Horizontal(id="upper"):
            yield _titled(TaskBoard(id="board", classes="pane"), "1 Tasks")
            with Vertical(id="side"):
                yield _titled(AgentList(id="agents", classes="pane"), "2 Agents")
                yield _titled(QueueView(id="queue", classes="pane"), "3 Merge queue")
        yield _titled(LogView(id="log", classes="pane"), "4 Log")
        needle = Input(placeholder="filter by id or title", id="filter")
        needle.display = False
        yield needle
        yield WhyLine(id="why")

    def on_mount(self) -> None:
        self.set_interval(_LOG_PERIOD, self._grow_log)
        self.query_one(TaskBoard).focus()
        self._arrange()

    def on_resize(self) -> None:
        self._arrange()

    # -- what is shown -----------------------------------------------------------------------------------------

    def show(self, overview: Overview) -> None:
        """Bring every pane in line with the store; only what differs is drawn."""
        self._overview = overview
        self._show_board()
        task = self.selected_task()
        self.query_one(AgentList).set_rows(agent_rows(overview, task.type if task else ""))
        self.query_one(QueueView).set_rows(queue_rows(overview))
        self.query_one(NeedsYou).set_rows(need_rows(overview))
        self._show_header()
        self._show_selected()

    def say_mode(self, mode: str) -> None:
        """`dispatching`, `draining`, `viewing`, `stopped`: what this process is."""
        self._mode = mode
        self._show_header()

    def _show_header(self) -> None:
        if self._overview is not None:
            facts = header(self._overview, mode=self._mode, clock=time.strftime("%H:%M"))
            self.query_one(StatusStrip).show(facts)

    def _show_board(self) -> None:
        overview = self._overview
        if overview is None:
            return
        board = self.query_one(TaskBoard)
        board.needle = self._needle
        if self._tree:
            board.set_rows(tree_rows(overview, self._needle))
        else:
            board.set_rows(board_rows(overview, folded=self._folded, needle=self._needle))
        board.border_subtitle = f"filter: {self._needle}" if self._needle else ""

    def _show_selected(self) -> None:
        context = self.context()
        if context is None:
            return
        self._show_log(context.run)
        hints = [
            KeyHint(BY_ID[id_].key_name, BY_ID[id_].title) for id_ in _OFFERED if not BY_ID[id_].unavailable(context)
        ]
        subject, text = "", "nothing is selected"
        if isinstance(self.focused, AgentList) and context.agent is not None:
            subject, text = context.agent.name, agent_doing(context.agent, context.overview)
        elif context.task is not None:
            subject, text = str(context.task.ref), why(context.task, context.overview)
        self.query_one(WhyLine).show(Why(subject, text, tuple(hints)))

    def _show_log(self, run: Run | None) -> None:
        if run is None or run.id == self._logged:
            return
        self._logged = run.id
        self._transcript = Transcript(self._session.run_folder(run.id))
        view = self.query_one(LogView)
        view.show(self._transcript.read, self._transcript.size())
        view.border_title = f"4 Log  run {run.id} · {run.ref} · {run.agent}"

    def _grow_log(self) -> None:
        if self._transcript is not None:
            self.query_one(LogView).grew(self._transcript.size())

    # -- what is selected --------------------------------------------------------------------------------------

    def selected_task(self) -> Task | None:
        ref = self._selected_ref()
        overview = self._overview
        if ref is None or overview is None:
            return None
        return next((task for task in overview.tasks if task.ref == ref), None)

    def _selected_ref(self) -> TaskRef | None:
        overview = self._overview
        if overview is None:
            return None
        if isinstance(self.focused, QueueView):
            entry = self._entry_under_cursor()
            return entry.ref if entry is not None else None
        if isinstance(self.focused, AgentList):
            agent = self._agent_under_cursor()
            run = next((run for run in overview.runs if agent is not None and run.agent == agent.name), None)
            return run.ref if run is not None else None
        if isinstance(self.focused, NeedsYou):
            return task_of(self.query_one(NeedsYou).cursor or "")
        return task_of(self.query_one(TaskBoard).cursor or "")

    def _entry_under_cursor(self) -> MergeEntry | None:
        key = self.query_one(QueueView).cursor
        overview = self._overview
        return next((one for one in overview.merges if f"merge:{one.id}" == key), None) if overview else None

    def _agent_under_cursor(self) -> Agent | None:
        key = self.query_one(AgentList).cursor
        overview = self._overview
        return next((one for one in overview.agents if f"agent:{one.name}" == key), None) if overview else None

    def context(self) -> Context | None:
        """Give what a command acts on; None before the store was seen."""
        overview = self._overview
        if overview is None:
            return None
        task = self.selected_task()
        entry = next((one for one in overview.merges if task is not None and one.ref == task.ref), None)
        run = next((one for one in overview.runs if task is not None and one.ref == task.ref), None)
        if run is None and task is not None:
            runs = self._session.store.runs(task.ref)
            run = runs[-1] if runs else None
        return Context(overview, task, self._agent_under_cursor(), entry, run)

    @on(LineList.Selected)
    def _selection_moved(self, _: LineList.Selected) -> None:
        self._show_selected()

    def on_descendant_focus(self) -> None:
        self._show_selected()

    @on(LineList.Activated)
    async def _activated(self, event: LineList.Activated) -> None:
        if isinstance(event.sender, NeedsYou):
            self._jump(event.key)
        await self.run_action("app.command('open')")

    @on(TaskBoard.Folded)
    def _folded_changed(self, event: TaskBoard.Folded) -> None:
        if event.folded:
            self._folded.add(event.key)
        else:
            self._folded.discard(event.key)
        self._show_board()

    # -- actions of the screen itself --------------------------------------------------------------------------

    async def action_command(self, id_: str) -> None:
        own = {
            "filter": self._ask_filter,
            "view": self._switch_view,
            "zoom": self._zoom,
            "follow": self.query_one(LogView).action_follow,
            "next-need": self._next_need,
        }.get(id_)
        if own is not None:
            own()
        else:
            await self.run_action(f"app.command('{id_}')")

    def action_pane(self, index: int) -> None:
        self.query_one(f"#{_PANES[index]}").focus()
        self._arrange()

    def _switch_view(self) -> None:
        self._tree = not self._tree
        self._show_board()

    def _zoom(self) -> None:
        if self.maximized is not None:
            self.minimize()
        elif self.focused is not None:
            self.maximize(self.focused)

    def _next_need(self) -> None:
        rows = need_rows(self._overview) if self._overview is not None else []
        if not rows:
            self.notify("Nothing waits for you.", markup=False)
            return
        keys = [row.key for row in rows]
        current = self.query_one(TaskBoard).cursor
        following = keys[(keys.index(current) + 1) % len(keys)] if current in keys else keys[0]
        self._jump(following)

    def _jump(self, key: str) -> None:
        ref = task_of(key)
        if ref is None and key.startswith("merge:") and self._overview is not None:
            ref = next((one.ref for one in self._overview.merges if f"merge:{one.id}" == key), None)
        if key.startswith("agent:"):
            self.query_one(AgentList).select(key)
            self.query_one(AgentList).focus()
        elif ref is not None:
            self.query_one(TaskBoard).select(task_key(ref))
            self.query_one(TaskBoard).focus()

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
        self.query_one(TaskBoard).focus()

    def key_escape(self) -> None:
        box = self.query_one("#filter", Input)
        box.value = ""
        box.display = False
        self.query_one(TaskBoard).focus()

    def _arrange(self) -> None:
        """Below 100 columns one pane at a time, the one in focus; above, all of them."""
        narrow = self.size.width < _NARROW
        self.set_class(narrow, "-narrow")
        shown = self.focused.id if self.focused is not None and self.focused.id in _PANES else "board"
        for pane in _PANES:
            self.query_one(f"#{pane}").set_class(narrow and pane != shown, "-away")
        self.query_one("#side").set_class(narrow and shown not in ("agents", "queue"), "-away")
        self.query_one("#upper").set_class(narrow and shown == "log", "-away")


def _titled(widget: Widget, title: str) -> Widget:
    widget.border_title = title
    return widget


__all__ = ["MainScreen", "Row"]
