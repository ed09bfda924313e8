"""The agents: how well each does, what it may do, which limits it met."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message

from recall.domain.agent import Agent
from recall.domain.event import Event
from recall.domain.overview import agent_doing
from recall.domain.record import TypeRecord, records
from recall.ui.context import Context
from recall.ui.details.agents import about_rows, agent_lines, agents_heading, limit_rows
from recall.ui.ledger import Seen
from recall.ui.screens.detail import Asker, DetailScreen, command_bindings, listing
from recall.ui.session import Session
from recall_widgets.heading import Heading
from recall_widgets.listing import Listing
from recall_widgets.rows import Why

_COMMANDS = (
    "pause-agent", "lift", "enable-agent", "more-parallel", "less-parallel", "reset-agent", "pause",
)  # fmt: skip
_LIMITS = 200
_LIMIT_KINDS = ("agent.cooling", "agent.cooldown_lifted", "agent.stopped")


class AgentsScreen(DetailScreen):
    PANES: ClassVar[dict[str, str]] = {"list": "Agents", "record": "Record", "limits": "Limits"}
    OFFERED: ClassVar[Sequence[str]] = _COMMANDS[:-1]
    BINDINGS: ClassVar[list[BindingType]] = command_bindings(_COMMANDS)

    class Read(Message):
        """What the store has of the agents' past."""

        def __init__(self, past: Mapping[str, tuple[TypeRecord, ...]], limits: Mapping[str, list[Event]]) -> None:
            super().__init__()
            self.past = past
            self.limits = limits

    def __init__(self, session: Session, asker: Asker, seen: Seen, name: str = "") -> None:
        super().__init__(session, asker, seen)
        self._first = name
        self._past: AgentsScreen.Read | None = None

    def panes(self) -> ComposeResult:
        yield listing("list", self.session)
        with Vertical(classes="column"):
            yield listing("record", self.session)
            yield listing("limits", self.session)

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#list", Listing).select(self._first)

    def read(self) -> Message:
        store, agents = self.session.store, self.seen.overview.agents
        types = {task.ref: task.type for task in self.seen.overview.tasks}
        runs = store.runs()
        return self.Read(
            {agent.name: records(agent, runs, types) for agent in agents},
            {agent.name: self._limits(agent.name) for agent in agents},
        )

    def _limits(self, name: str) -> list[Event]:
        found = [
            event
            for kind in _LIMIT_KINDS
            for event in self.session.store.events_back(None, _LIMITS, agent=name, kind=kind)
        ]
        return sorted(found, key=lambda event: -event.seq)

    @on(Read)
    def _take(self, event: Read) -> None:
        self._past = event
        self._show_selected()

    def context(self) -> Context:
        return Context(self.seen.overview, agent=self._agent())

    def about(self) -> Why:
        agent = self._agent()
        return Why(agent.name, agent_doing(agent, self.seen.overview)) if agent is not None else Why()

    def show_seen(self) -> None:
        self.query_one(Heading).show(agents_heading(self.seen.overview))
        self.query_one("#list", Listing).set_rows(agent_lines(self.seen.overview, self.session.symbols))
        self._show_selected()

    @on(Listing.Selected, "#list")
    def _show_selected(self) -> None:
        agent, past, now = self._agent(), self._past, self.seen.overview.now
        if agent is None:
            return
        mine = past.past.get(agent.name, ()) if past is not None else None
        rows = about_rows(agent, mine, now, self.width_of("record"), self.session.symbols)
        self.query_one("#record", Listing).set_rows(rows)
        self.query_one("#limits", Listing).set_rows(
            limit_rows(past.limits.get(agent.name, []) if past else None, now)
        )
        self.entitle("record", agent.name)

    def _agent(self) -> Agent | None:
        name = self.query_one("#list", Listing).cursor
        return next((agent for agent in self.seen.overview.agents if agent.name == name), None)
