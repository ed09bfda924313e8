"""The runs of each agent in time, and how much landed in each hour."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from recall.domain.run import Run, RunResult
from recall.ui.details.lines import counted
from recall.ui.details.timeline import lanes_of, run_words
from recall.ui.ledger import Seen
from recall.ui.screens.detail import Asker, DetailScreen, OpenRun
from recall.ui.session import Session
from recall_widgets.heading import Heading, HeadingFacts
from recall_widgets.landed_chart import LandedChart, Landings
from recall_widgets.rows import KeyHint, Why
from recall_widgets.timeline import Lane, TimeAxis, TimelineView

_PAGE = 1000


class TimelineScreen(DetailScreen):
    """Reads every run once, afterwards those that events name."""

    PANES: ClassVar[dict[str, str]] = {"lanes": "Timeline"}

    class Read(Message):
        """Runs by id: all of them, or those that changed up to event `seq`."""

        def __init__(self, runs: Mapping[int, Run], seq: int) -> None:
            super().__init__()
            self.runs = runs
            self.seq = seq

    def __init__(self, session: Session, asker: Asker, seen: Seen) -> None:
        super().__init__(session, asker, seen)
        self._runs: dict[int, Run] = {}
        self._seq: int | None = None
        self._lanes: list[Lane] = []
        self._landed: tuple[float, ...] = ()

    def panes(self) -> ComposeResult:
        symbols = self.session.symbols
        with Vertical(classes="column"):
            yield TimeAxis(None, symbols=symbols, id="axis")
            yield TimelineView(symbols=symbols, id="lanes")
            yield LandedChart(symbols=symbols, id="chart")

    def read(self) -> Message:
        store, known = self.session.store, self._seq
        seq = store.last_seq()
        if known is None or seq - known > _PAGE:
            return self.Read({run.id: run for run in store.runs()}, seq)
        ids = {event.run_id for event in store.events_since(known, _PAGE) if event.run_id is not None}
        found = (store.run(id_) for id_ in sorted(ids))
        return self.Read({run.id: run for run in found if run is not None}, seq)

    @on(Read)
    def _take(self, event: Read) -> None:
        self._runs.update(event.runs)
        self._seq = event.seq
        self._lay_out()
        self.show_seen()
        self.show_about()

    def _lay_out(self) -> None:
        """Once for each change: time passing moves no bar to another lane."""
        runs = self._runs.values()
        self._lanes = lanes_of(runs, [agent.name for agent in self.seen.overview.agents])
        self._landed = tuple(sorted(run.settled_at or 0.0 for run in runs if run.result is RunResult.LANDED))

    def show_seen(self) -> None:
        overview = self.seen.overview
        self.query_one(TimelineView).show(self._lanes, overview.now)
        running = sum(agent.running for agent in overview.agents)
        facts = f"{counted(len(self._runs), 'run')}, {len(self._landed)} landed"
        self.query_one(Heading).show(HeadingFacts("Timeline", facts, right=f"{running} running"))

    @on(TimelineView.Moved)
    def _show_time(self) -> None:
        window = self.query_one(TimelineView).window
        self.query_one(TimeAxis).show(window)
        self.query_one(LandedChart).show(Landings(window, self._landed) if window is not None else None)
        self.show_about()

    @on(TimelineView.Activated)
    def _open_run(self) -> None:
        if (run := self._selected()) is not None:
            self.post_message(OpenRun(run.id))

    def about(self) -> Why:
        run = self._selected()
        keys = (KeyHint("← →", "run"), KeyHint("+ -", "zoom"), KeyHint("h l", "move"), KeyHint("n", "now"))
        return Why("", run_words(run, self.seen.overview.now) if run is not None else "", keys)

    def _selected(self) -> Run | None:
        bar = self.query_one(TimelineView).bar
        return self._runs.get(int(bar.key.removeprefix("run:"))) if bar is not None else None
