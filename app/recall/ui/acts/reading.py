"""Acts that lay something to read over the screen."""

from __future__ import annotations

from textual.message import Message

from recall.domain.run import Run
from recall.domain.task import TaskRef
from recall.ui.acts.kind import OwnAct
from recall.ui.bridge import Done, Found
from recall.ui.context import Context
from recall.ui.front import Front
from recall.ui.screens.agents import AgentsScreen
from recall.ui.screens.history import HistoryScreen
from recall.ui.screens.office import OfficeScreen
from recall.ui.screens.reference import HelpScreen, SettingsScreen
from recall.ui.screens.report import ReportScreen
from recall.ui.screens.run import RunScreen
from recall.ui.screens.task import TaskScreen
from recall.ui.screens.timeline import TimelineScreen

_LOG_PANE = 3


def open_task(front: Front, ref: TaskRef) -> None:
    if front.seen is not None:
        front.over(TaskScreen(front.session, front, front.seen, ref))


def open_run(front: Front, run_id: int, pane: str) -> None:
    """Look for a run, and show it from this pane on."""
    store = front.session.store

    def look() -> Message:
        run = store.run(run_id)
        return Found(run, pane) if run is not None else Done(f"there is no run {run_id}", refused=True)

    front.ask(look)


def show_run(front: Front, run: Run, pane: str) -> None:
    if front.seen is not None:
        front.over(RunScreen(front.session, front, front.seen, run, pane))


def _open(front: Front, context: Context) -> None:
    if context.task is None:
        front.say("select a task first", "warning")
    else:
        open_task(front, context.ref)


def _log(front: Front, _: Context) -> None:
    front.main.action_pane(_LOG_PANE)


def _diff(front: Front, context: Context) -> None:
    if context.run is not None:
        show_run(front, context.run, "diff")


def _history(front: Front, _: Context) -> None:
    if front.seen is not None:
        front.over(HistoryScreen(front.session, front, front.seen))


def _report(front: Front, _: Context) -> None:
    if front.seen is not None:
        front.over(ReportScreen(front.session, front, front.seen, front.absence.since(front.seen.overview.now)))


def _timeline(front: Front, _: Context) -> None:
    if front.seen is not None:
        front.over(TimelineScreen(front.session, front, front.seen))


def _office(front: Front, context: Context) -> None:
    if front.seen is not None:
        name = context.agent.name if context.agent is not None else ""
        front.over(OfficeScreen(front.session, front, front.seen, name))


def _agents(front: Front, context: Context) -> None:
    if front.seen is not None:
        name = context.agent.name if context.agent is not None else ""
        front.over(AgentsScreen(front.session, front, front.seen, name))


def _settings(front: Front, _: Context) -> None:
    if front.seen is not None:
        front.over(SettingsScreen(front.session, front, front.seen))


def _help(front: Front, _: Context) -> None:
    if front.seen is not None:
        front.over(HelpScreen(front.session, front, front.seen))


ACTS: dict[str, OwnAct] = {
    "open": _open,
    "log": _log,
    "diff": _diff,
    "history": _history,
    "report": _report,
    "timeline": _timeline,
    "office": _office,
    "agents": _agents,
    "settings": _settings,
    "help": _help,
}
