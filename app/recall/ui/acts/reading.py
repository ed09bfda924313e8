"""Acts that lay something to read over the screen; what has to be looked up is looked up off its thread."""

from __future__ import annotations

from recall.config.document import read_document
from recall.config.explain import explain_settings
from recall.ui.acts.kind import OwnAct
from recall.ui.bridge import Shown
from recall.ui.context import Context
from recall.ui.diffs import diff_of_run
from recall.ui.front import Front
from recall.ui.texts import agents_text, history_text, keys_text, settings_text, task_text

#: More events than any store holds.
_ALL = 1_000_000
_LOG_PANE = 3


def _open(front: Front, context: Context) -> None:
    task = context.task
    if task is None:
        front.say("select a task first", "warning")
        return
    store, overview = front.session.store, context.overview

    def read() -> Shown:
        events = [event for event in store.events_since(0, _ALL) if (event.region, event.task) == task.ref]
        return Shown(str(task.ref), task_text(task, overview, store.runs(task.ref), events))

    front.ask(read)


def _log(front: Front, _: Context) -> None:
    front.main.action_pane(_LOG_PANE)


def _diff(front: Front, context: Context) -> None:
    run = context.run
    if run is None or run.base is None:
        front.say("this run has no workspace to compare", "warning")
        return
    location, base, branch = front.session.location, run.base, run.branch or ""
    title = f"{run.ref}: what run {run.id} changed"
    front.ask(lambda: Shown(title, diff_of_run(location, run.id, base, branch)))


def _history(front: Front, context: Context) -> None:
    store, now = front.session.store, context.overview.now
    front.ask(lambda: Shown("History", history_text(store.events_since(0, _ALL), now)))


def _agents(front: Front, context: Context) -> None:
    store, overview = front.session.store, context.overview
    front.ask(lambda: Shown("Agents", agents_text(overview, store.runs())))


def _settings(front: Front, _: Context) -> None:
    settings = front.session.settings

    def read() -> Shown:
        explained = list(explain_settings(settings, read_document(settings.file)))
        return Shown(f"Settings of {settings.file}", settings_text(explained))

    front.ask(read)


def _help(front: Front, _: Context) -> None:
    front.read("Keys", keys_text(front.session.keys))


ACTS: dict[str, OwnAct] = {
    "open": _open,
    "log": _log,
    "diff": _diff,
    "history": _history,
    "agents": _agents,
    "settings": _settings,
    "help": _help,
}
