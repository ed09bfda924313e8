"""The office: the agents as engineers, each at the place where its work stands; one is selected and acted on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message

from recall.agents.transcript import Transcript
from recall.domain.agent import Agent
from recall.domain.overview import agent_doing
from recall.domain.run import Run
from recall.ui.context import Context
from recall.ui.details.office import card, office_heading
from recall.ui.ledger import Seen
from recall.ui.office import landed_since, office_of, past_of, runs_of, shown_run
from recall.ui.roll import Roll
from recall.ui.screens.detail import Asker, DetailScreen, OpenRun, OpenTask, command_bindings
from recall.ui.session import Session
from recall_widgets.heading import Heading
from recall_widgets.office.view import OfficeView
from recall_widgets.rows import KeyHint, Why

_COMMANDS = (
    "pause-agent", "lift", "enable-agent", "more-parallel", "less-parallel", "reset-agent",
    "stop-run", "answer", "conflict", "send-back", "start-over", "requeue", "hold", "cancel", "raise", "lower",
    "retry", "merge-up", "merge-down", "skip", "release-queue", "shell", "editor", "log", "diff", "pause", "trust",
)  # fmt: skip


class OfficeScreen(DetailScreen):
    PANES: ClassVar[dict[str, str]] = {"room": "Office"}
    OFFERED: ClassVar[Sequence[str]] = ("answer", "conflict", "lift", "log", "diff", "pause-agent", "stop-run")
    BINDINGS: ClassVar[list[BindingType]] = [
        *command_bindings(_COMMANDS),
        Binding("n", "other_run", show=False, id="office.run"),
        Binding("t", "task", show=False, id="office.task"),
    ]

    class Read(Message):
        """How much the runs that agents are at have put out, by run."""

        def __init__(self, sizes: Mapping[int, int]) -> None:
            super().__init__()
            self.sizes = sizes

    def __init__(self, session: Session, asker: Asker, seen: Seen, name: str = "") -> None:
        super().__init__(session, asker, seen)
        self._first = f"agent:{name}"
        self._roll = Roll.of(seen.overview.tasks)
        self._past = past_of(seen)
        self._logs: dict[int, Transcript] = {}
        self._sizes: Mapping[int, int] = {}
        self._typed: frozenset[str] = frozenset()
        self._number = 0

    def panes(self) -> ComposeResult:
        symbols = self.session.symbols
        with Vertical(classes="column"):
            yield OfficeView(symbols=symbols, id="room")
            yield Heading(symbols=symbols, id="card")

    def on_mount(self) -> None:
        super().on_mount()
        self._view.select(self._first)

    def see(self, seen: Seen) -> None:
        before = self.seen
        changed = seen.seq != before.seq
        if changed:
            self._roll = self._roll.after(seen.overview.tasks)
            self._past = past_of(seen)
        super().see(seen)
        if changed:
            self._view.cheer(f"agent:{name}" for name in landed_since(before, seen))
        elif seen.overview.runs and self._view.animates:
            self.reread()

    def read(self) -> Message | None:
        """Only whether logs grow."""
        overview = self.seen.overview
        runs = [run for agent in overview.agents for run in runs_of(agent.name, overview)]
        self._logs = {run.id: self._logs.get(run.id) or Transcript(self.session.run_folder(run.id)) for run in runs}
        return self.Read({id_: log.size() for id_, log in self._logs.items()})

    @on(Read)
    def _logs_grew(self, event: Read) -> None:
        """It is seen with the next change: each second while anybody is at work."""
        before, self._sizes = self._sizes, event.sizes
        agents = {run.id: run.agent for run in self.seen.overview.runs}
        grown = (id_ for id_, size in event.sizes.items() if size > before.get(id_, size))
        self._typed = frozenset(f"agent:{agents[id_]}" for id_ in grown if id_ in agents)

    def show_seen(self) -> None:
        self._view.show(office_of(self.seen, self._roll, self._past), self._typed)
        self._typed = frozenset()
        self._show_heading()
        self._show_card()

    @on(OfficeView.Selected)
    def _selected(self) -> None:
        self._number = 0
        self._show_heading()
        self._show_card()
        self.show_about()

    def _show_heading(self) -> None:
        view = self._view
        self.query_one("#about", Heading).show(office_heading(view.office, view.in_sight))

    def _show_card(self) -> None:
        worker = self._view.office.worker(self._view.cursor)
        context = self.context()
        runs = len(runs_of(worker.name, self.seen.overview)) if worker is not None else 0
        self.query_one("#card", Heading).show(card(worker, context, self._number % runs + 1 if runs else 0, runs))

    def context(self) -> Context:
        """The selected agent and its run, with what that run is about."""
        agent, run, overview = self._agent(), self._run(), self.seen.overview
        if run is None:
            return Context(overview, agent=agent)
        entry = next((one for one in overview.merges if one.ref == run.ref), None)
        return Context(overview, overview.index.get(run.ref), agent, entry, run)

    def about(self) -> Why:
        agent, run = self._agent(), self._run()
        if agent is None:
            return Why()
        keys = (KeyHint("enter", "run"),) if run is not None else ()
        return Why(agent.name, agent_doing(agent, self.seen.overview), keys)

    @on(OfficeView.Activated)
    def _open_run(self) -> None:
        run = self._run()
        if run is None:
            self.notify("It has had no run yet.", markup=False)
        else:
            self.post_message(OpenRun(run.id))

    async def action_command(self, id_: str) -> None:
        """The log and the diff are those of the run that is shown here."""
        run = self._run()
        if id_ in ("log", "diff") and run is not None:
            self.post_message(OpenRun(run.id, id_))
        else:
            await super().action_command(id_)

    def action_task(self) -> None:
        run = self._run()
        if run is not None:
            self.post_message(OpenTask(run.ref))

    def action_other_run(self) -> None:
        """Go to the next one of several that the agent is at."""
        self._number += 1
        self._show_card()
        self.show_about()

    def _agent(self) -> Agent | None:
        cursor = self._view.cursor
        return next((agent for agent in self.seen.overview.agents if f"agent:{agent.name}" == cursor), None)

    def _run(self) -> Run | None:
        agent = self._agent()
        return shown_run(agent.name, self.seen, self._past, self._number) if agent is not None else None

    @property
    def _view(self) -> OfficeView:
        return self.query_one(OfficeView)
