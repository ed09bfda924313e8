"""The office in words: who does what, and all there is to say of the selected one in a line."""

from __future__ import annotations

from collections import Counter

from recall.domain.figures.words import result_words
from recall.domain.run import Run
from recall.domain.words import elapsed
from recall.ui.context import Context
from recall_widgets.heading import HeadingFacts
from recall_widgets.office.people import Office, Place, Worker


def office_heading(office: Office, in_sight: tuple[int, int]) -> HeadingFacts:
    """`in_sight` are the first and the last desk that are, from 1."""
    count = len(office.workers)
    places = Counter(_group(worker) for worker in office.workers)
    words = ", ".join(f"{places[group]} {group}" for group in _GROUPS if places[group])
    words += f"  {office.halt}" if office.halt else ""
    first, last = in_sight
    part = f"desks {first} to {last} of {count}, pgup and pgdn turn" if (first, last) != (1, count) and count else ""
    return HeadingFacts("Office", words, right=part)


_GROUPS = ("at work", "idle", "resting", "in line for you")


def _group(worker: Worker) -> str:
    if worker.place is Place.DESK:
        return "at work" if worker.run else "idle"
    return "resting" if worker.place is Place.SOFA else "in line for you"


def card(worker: Worker | None, context: Context, number: int, runs: int) -> HeadingFacts:
    """Name, state, task and times of the selected one; `number` of `runs` is the run that is shown."""
    if worker is None:
        return HeadingFacts()
    run, task = context.run, context.task
    title = f"{run.ref} {task.title if task is not None else ''}".rstrip() if run is not None else "no run yet"
    facts = [_run_words(run)] if run is not None else []
    facts += [f"{number} of {runs}, n for the next"] if runs > 1 else []
    facts += [f"{worker.badge} waiting for you"] if worker.badge else []
    word = f"{worker.word} {_time(worker, context)}".rstrip()
    return HeadingFacts(worker.name, title, worker.state, word, right=", ".join(facts))


def _time(worker: Worker, context: Context) -> str:
    """To the second, for one of them."""
    run = context.run
    if not worker.run or run is None:
        return worker.time
    return elapsed(context.overview.now - (run.started_at or run.claimed_at))


def _run_words(run: Run) -> str:
    words = f"run {run.id}" + (f", attempt {run.number}" if run.number > 1 else "")
    return f"{words}, {result_words(run.result)}" if run.result is not None else words
