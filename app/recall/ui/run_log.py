"""The log of a run: what its agent's events say or, raw, what it put out."""

from __future__ import annotations

from typing import Final

from textual.timer import Timer

from recall.agents.rendered import RenderedTranscript, dialect_for, output_of
from recall.agents.transcript import Transcript
from recall.domain.run import Run, RunState
from recall.domain.stream.spending import Spending, spending_of
from recall.ui.covered import is_covered
from recall.ui.session import Session
from recall_widgets.log_view import LogView

#: While a run is live its output is looked at this often, in seconds.
_PERIOD: Final = 0.2
_LIVE: Final = frozenset({RunState.PREPARING, RunState.RUNNING})


class RunLog(LogView):
    """Follows the run that it shows while that is live. It looks at its output in small steps, between which the
    rest of the app gets its turn."""

    def __init__(self, session: Session, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(symbols=session.symbols, id=id, classes=classes)
        self._session = session
        self._run: Run | None = None
        self._raw = False
        self._output: Transcript | RenderedTranscript | None = None
        self._timer: Timer | None = None

    @property
    def raw(self) -> bool | None:
        """Whether the output is shown as it came; None: there is no other way to show it."""
        if self._run is None or dialect_for(self._session.settings, self._run.agent) is None:
            return None
        return self._raw

    @property
    def spending(self) -> Spending:
        """What the run that is shown used up, as far as is known by now."""
        if self._run is None:
            return Spending()
        kept = spending_of(self._run)
        read = self._output.spending if isinstance(self._output, RenderedTranscript) else kept
        return read if kept == Spending() else kept

    def show_run(self, run: Run | None, *, follow: bool = True) -> None:
        """Show the log of a run, or go on with it."""
        before, self._run = self._run, run
        if run is None or before is None or run.id != before.id:
            if run is not None or before is not None:
                self._open(follow=follow)
        elif run != before:
            self._look()
        self._wait()

    def switch_raw(self) -> None:
        """Show what came as it came, or what it says; a log without events stays as it is."""
        if self.raw is not None:
            self._raw = not self._raw
            self._open(follow=self.following)

    def on_mount(self) -> None:
        super().on_mount()
        self._timer = self.set_interval(_PERIOD, self._look, pause=True)
        self._wait()

    def _open(self, *, follow: bool) -> None:
        self._output = self._output_of(self._run) if self._run is not None else None
        if self._output is None:
            self.show(None)
        else:
            self.show(self._output.read, self._output.size(), follow=follow)
            self._take_more()

    def _output_of(self, run: Run) -> Transcript | RenderedTranscript:
        folder = self._session.run_folder(run.id)
        if self._raw:
            return Transcript(folder)
        return output_of(folder, self._session.settings, run, self._session.workspaces)

    def _look(self) -> None:
        if self._output is not None and not is_covered(self.screen):
            self.grew(self._output.size())
            self._take_more()

    def _take_more(self) -> None:
        """Take the next step, unless everything was taken."""
        if isinstance(self._output, RenderedTranscript) and not self._output.is_complete and self.is_attached:
            self.call_later(self._step, self._output)

    def _step(self, output: RenderedTranscript) -> None:
        if output is self._output:
            self._look()

    def _wait(self) -> None:
        if self._timer is None:
            return
        if self._run is not None and self._run.state in _LIVE:
            self._timer.resume()
        else:
            self._timer.pause()
