"""The main screen: does anything wait for me, what is running, what comes next."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, ClassVar

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input

from recall.domain.run import Run
from recall.domain.task import TaskRef
from recall.ui.commands import BY_ID, COMMANDS
from recall.ui.context import Context
from recall.ui.covered import is_covered
from recall.ui.layout import Layout
from recall.ui.ledger import Seen
from recall.ui.roll import Roll, task_key
from recall.ui.run_log import RunLog
from recall.ui.screens.panes import PANES, Axis, Panes, pane_named
from recall.ui.screens.tasks_pane import TasksPane, view_named
from recall.ui.selection import Cursors, context_of, ref_of
from recall.ui.session import Session
from recall.ui.view_models import FILTER_LINE, agent_rows, bottom_line, header, log_titles, need_rows, queue_rows
from recall_widgets.agent_list import AgentList
from recall_widgets.hints import Pressed
from recall_widgets.line_list import LineList
from recall_widgets.log_view import LogView
from recall_widgets.needs_you import NeedsYou
from recall_widgets.queue_view import QueueView
from recall_widgets.rows import NeedRow
from recall_widgets.status_strip import StatusStrip
from recall_widgets.titles import entitle
from recall_widgets.why_line import WhyLine

_CLOCK_PERIOD = 10.0
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
        self._layout = layout
        self._seen: Seen | None = None
        self._roll = Roll.of(())
        self._is_behind = False
        self._mode = "starting"
        self._trouble = ""
        self._run: Run | None = None
        self._ref: TaskRef | None = None

    def compose(self) -> ComposeResult:
        symbols, layout = self._session.symbols, self._layout
        yield StatusStrip(symbols=symbols, id="status")
        yield NeedsYou(symbols=symbols, id="needs")
        yield Panes(
            TasksPane(symbols=symbols, view=view_named(layout.view), folded=layout.folded, id="tasks"),
            AgentList(symbols=symbols, id="agents", classes="pane"),
            QueueView(symbols=symbols, id="queue", classes="pane"),
            RunLog(self._session, id="log", classes="pane"),
            splits=layout.splits,
            zoomed=layout.zoomed,
            id="panes",
        )
        needle = Input(placeholder="filter by id or title", id="filter")
        needle.display = False
        yield needle
        yield WhyLine(symbols=symbols, id="why")

    def on_mount(self) -> None:
        self.set_interval(_CLOCK_PERIOD, self._show_header)
        entitle(self.query_one(AgentList), "2 Agents")
        entitle(self.query_one(QueueView), "3 Merge queue")
        self._entitle_log()
        self._panes.stacked = self.tasks.view == "columns"
        self._focus(pane_named(self._layout.zoomed) or "tasks")

    # -- what is shown -----------------------------------------------------------------------------------------

    def show(self, seen: Seen) -> None:
        """Bring every pane in line with the store; only what differs is drawn, and nothing while another screen
        covers this one."""
        self._seen = seen
        self._is_behind = is_covered(self)
        if self._is_behind:
            return
        self._roll = self._roll.after(seen.overview.tasks)
        self.tasks.show(self._roll, seen.overview)
        self.query_one(QueueView).set_rows(
            queue_rows(seen.overview, self._roll, self._session.settings.verify, seen.typical)
        )
        self._show_needs(seen)
        self._show_header()
        self._show_selected()

    def on_screen_resume(self) -> None:
        """Catch up with what happened while another screen lay over this one."""
        if self._is_behind and self._seen is not None:
            self.show(self._seen)

    def say_mode(self, mode: str, trouble: str = "") -> None:
        """`dispatching`, `draining`, `viewing`, `stopped`: what this process is; `trouble` is why it stopped."""
        self._mode, self._trouble = mode, trouble
        if self._seen is not None:
            self._show_needs(self._seen)
        self._show_header()

    def _show_needs(self, seen: Seen) -> None:
        self.query_one(NeedsYou).set_rows(need_rows(seen.overview, seen.latest, self._session.keys, self._trouble))

    def _show_header(self) -> None:
        if self._seen is not None:
            needs = len(self.query_one(NeedsYou).all_rows)
            facts = header(
                self._seen.overview,
                mode=self._mode,
                clock=time.strftime("%H:%M", time.localtime(self._session.clock.now().wall)),
                counts=self._roll.counts,
                needs=needs,
                green=self._seen.green,
                keys=self._session.keys,
            )
            self.query_one(StatusStrip).show(facts)

    def _show_selected(self) -> None:
        context, seen = self.context(), self._seen
        if context is None or seen is None:
            return
        type_ = context.task.type if context.task else ""
        self._show_log(context.run, context.task.ref if context.task is not None else None)
        costs = {self._run.id: self.query_one(RunLog).spending.cost_usd} if self._run is not None else {}
        self.query_one(AgentList).set_rows(agent_rows(context.overview, type_, self._roll, seen.weights, costs))
        if isinstance(self.focused, Input):
            self.query_one(WhyLine).show(FILTER_LINE)
            return
        on_agent = self._panes.pane_of(self.focused) == "agents"
        need = self._selected_need()
        line = bottom_line(context, self._roll, self._session.keys, on_agent=on_agent, need=need)
        self.query_one(WhyLine).show(line)

    def _selected_need(self) -> NeedRow | None:
        needs = self.query_one(NeedsYou)
        return needs.cursor_row if self.focused is needs else None

    def _show_log(self, run: Run | None, ref: TaskRef | None) -> None:
        before, self._run, self._ref = self._run, run, ref
        self.query_one(RunLog).show_run(run)
        if run is None or before is None or run.id != before.id:
            self._entitle_log()

    @on(LogView.FollowChanged)
    def _entitle_log(self) -> None:
        view, keys = self.query_one(RunLog), self._session.keys
        entitle(view, *log_titles(self._run, following=view.following, ref=self._ref, raw=view.raw, keys=keys))

    def _switch_raw(self) -> None:
        view = self.query_one(RunLog)
        if view.raw is None:
            self.notify("This agent prints no events, so its log is shown as it came.", markup=False)
        view.switch_raw()
        self._entitle_log()

    # -- what is selected --------------------------------------------------------------------------------------

    def context(self) -> Context | None:
        """Give what a command acts on; None before the store was seen."""
        return context_of(self._seen, self._roll, self._cursors()) if self._seen is not None else None

    def _cursors(self) -> Cursors:
        needs = self.query_one(NeedsYou)
        return Cursors(
            "needs" if self.focused is needs else self._panes.pane_of(self.focused) or "",
            self.tasks.cursor or "",
            self.query_one(AgentList).cursor or "",
            self.query_one(QueueView).cursor or "",
            needs.cursor or "",
        )

    @on(LineList.Selected)
    def _selection_moved(self) -> None:
        self._show_selected()

    def on_descendant_focus(self) -> None:
        pane = self._panes.pane_of(self.focused)
        if pane is not None:
            self._panes.show(pane)
        self._show_selected()

    @on(LineList.Activated)
    async def _activated(self, event: LineList.Activated) -> None:
        if not isinstance(event.sender, NeedsYou):
            await self.action_command("open")
            return
        context, need = self.context(), self._selected_need()
        if context is None or context.task is None:
            self._read(need)
            return
        for id_ in ("conflict", "answer", "open"):
            if not BY_ID[id_].unavailable(context):
                await self.action_command(id_)
                return

    def _read(self, need: NeedRow | None) -> None:
        """Show all that is said of a thing that is no task, and what can be done about it."""
        if need is None or not need.id:
            return
        from recall.ui.screens.prompts import Choose

        def chosen(number: int | None) -> None:
            if number is not None and 0 <= number < len(need.keys):
                self.call_later(self.action_command, need.keys[number].asks)

        ways = [key.does for key in need.keys]
        app: App[Any] = self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - Textual leaves the app's type open
        app.push_screen(Choose(f"{need.id}: {need.whole or need.why}", [*ways, "close"]), chosen)

    @on(Pressed)
    async def _hint_clicked(self, event: Pressed) -> None:
        await self.action_command(event.asks)

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
        self._focus(PANES[index])

    def action_next_pane(self, by: int) -> None:
        stops = [*(("needs",) if self.query_one(NeedsYou).display else ()), *PANES]
        here = self._cursors().pane
        at = stops.index(here) if here in stops else -by
        self._focus(stops[(at + by) % len(stops)])

    def action_back(self) -> None:
        """Undo the nearest thing: the filter, then the zoom, then being anywhere but on the board."""
        box = self.query_one("#filter", Input)
        if box.display or self.tasks.needle:
            box.display = False
            with box.prevent(Input.Changed):  # all of it in one painting
                box.value = ""
            self.tasks.filter("")
            self._show_selected()
        elif self._panes.zoomed:
            self._panes.zoom(None)
            return
        self._focus("tasks")

    def layout_now(self, theme: str) -> Layout:
        """How the screen is arranged, to be kept."""
        tasks, panes = self.tasks, self._panes
        return Layout(theme, tasks.view, tuple(sorted(tasks.folded)), panes.kept_zoom, panes.splits)

    @property
    def _panes(self) -> Panes:
        return self.query_one(Panes)

    @property
    def tasks(self) -> TasksPane:
        return self.query_one(TasksPane)

    @on(Panes.Arranged)
    @on(TasksPane.Arranged)
    def _arranged(self) -> None:
        self._show_selected()
        self.post_message(self.LayoutChanged())

    @on(Panes.Wanted)
    def _pane_wanted(self, event: Panes.Wanted) -> None:
        self._focus(event.pane)

    def _focus(self, name: str) -> None:
        """Put the keys on a pane, which may be out of sight on a narrow screen, or on what needs a person."""
        pane = pane_named(name)
        if pane is not None:
            self._panes.show(pane)
        self.set_focus(self.tasks.focus_target if name == "tasks" else self.query_one(f"#{name}"))

    def _switch_view(self) -> None:
        self.tasks.switch()
        self._panes.stacked = self.tasks.view == "columns"

    def _zoom(self) -> None:
        self._panes.zoom(self._panes.pane_of(self.focused))

    def _follow(self) -> None:
        self.query_one(LogView).action_follow()

    def _next_need(self) -> None:
        keys = [row.key for row in self.query_one(NeedsYou).all_rows]
        if not keys:
            self.notify("Nothing waits for you.", markup=False)
            return
        current = self.tasks.cursor
        self._jump(keys[(keys.index(current) + 1) % len(keys)] if current in keys else keys[0])

    def _jump(self, key: str) -> None:
        ref = ref_of(self._seen, key) if self._seen is not None else None
        if ref is not None and self.tasks.select(task_key(ref)):
            self._focus("tasks")
            return
        list_, name = (AgentList, "agents") if key.startswith("agent:") else (NeedsYou, "needs")
        self.query_one(list_).select(key)
        self._focus(name)

    def _ask_filter(self) -> None:
        box = self.query_one("#filter", Input)
        box.display = True
        box.focus()

    @on(Input.Changed, "#filter")
    def _filter_changed(self, event: Input.Changed) -> None:
        self.tasks.filter(event.value)
        self._show_selected()

    @on(Input.Submitted, "#filter")
    def _filter_done(self, event: Input.Submitted) -> None:
        event.input.display = False
        self._focus("tasks")

    def _grow(self, axis: Axis, by: int) -> None:
        pane = self._panes.pane_of(self.focused)
        if self._panes.one_at_a_time:
            self.notify("One pane has all the room already.", markup=False)
        elif pane is not None:
            self._panes.grow(pane, axis, by)

    #: What the commands of this screen do; all others are the app's.
    OWN: ClassVar[dict[str, Callable[[MainScreen], None]]] = {
        "filter": _ask_filter,
        "view": _switch_view,
        "zoom": _zoom,
        "follow": _follow,
        "raw": _switch_raw,
        "next-need": _next_need,
        "pane-wider": lambda screen: screen._grow("width", 1),
        "pane-narrower": lambda screen: screen._grow("width", -1),
        "pane-higher": lambda screen: screen._grow("height", 1),
        "pane-lower": lambda screen: screen._grow("height", -1),
        "pane-reset": lambda screen: screen._panes.reset(),
    }
