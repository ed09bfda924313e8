"""What happened while nobody looked. It stands still: it tells of a time that is over."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.message import Message

from recall.domain.figures.report import Report
from recall.domain.figures.words import day
from recall.engine.past import read_past, read_report
from recall.gitops.diff_sizes import diff_sizes
from recall.ui.details.report import report_heading, report_rows
from recall.ui.ledger import Seen
from recall.ui.screens.detail import Asker, DetailScreen, listing
from recall.ui.session import Session
from recall_widgets.heading import Heading, HeadingFacts
from recall_widgets.listing import Listing
from recall_widgets.rows import KeyHint, Why


class ReportScreen(DetailScreen):
    """`since` is a wall second."""

    PANES: ClassVar[dict[str, str]] = {"report": "Report"}

    class Read(Message):
        def __init__(self, report: Report) -> None:
            super().__init__()
            self.report = report

    def __init__(self, session: Session, asker: Asker, seen: Seen, since: float) -> None:
        super().__init__(session, asker, seen)
        self._since = since
        self._report: Report | None = None

    def panes(self) -> ComposeResult:
        yield listing("report", self.session)

    def read(self) -> Message:
        session, location = self.session, self.session.location
        past = read_past(session.store, session.settings, session.clock, self._since)
        return self.Read(
            read_report(
                session.store,
                past,
                self.seen.overview,
                measure=lambda changes: diff_sizes(location.common_dir, changes),
                day_of=day,
            )
        )

    def reread(self) -> None:
        """Once is enough: what landed while it is read is seen elsewhere."""
        if self._report is None:
            super().reread()

    @on(Read)
    def _take(self, event: Read) -> None:
        self._report = event.report
        self.show_seen()
        self.show_about()

    def show_seen(self) -> None:
        report = self._report
        if report is None:
            self.query_one(Heading).show(HeadingFacts("Report", "is being read"))
            return
        self.query_one(Heading).show(report_heading(report))
        rows = report_rows(report, self.width_of("report"), self.session.symbols)
        self.query_one("#report", Listing).set_rows(rows)

    def about(self) -> Why:
        return Why("", "recall report --since WHEN prints it", (KeyHint("enter", "open"),))
