"""Events as lines, and which of them a person asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from recall.domain.event import Event
from recall.domain.overview import spaced
from recall.domain.task import TaskRef
from recall.domain.words import moment
from recall_widgets.glyphs import UNICODE, Symbols
from recall_widgets.listing import ListRow
from recall_widgets.spans import Span

_FIELDS = ("kind", "task", "agent", "who")
_ABOUT = 12
_KIND, _SHORT_KIND = 22, 11


@dataclass(frozen=True, slots=True)
class Entry:
    """An event with what is looked for in it: kind, whom it is about, agent and actor, and all of its text."""

    key: str
    event: Event
    fields: tuple[str, str, str, str]
    text: str


def entry_of(event: Event) -> Entry:
    """Make an event ready to be looked through many times."""
    about, agent = subject(event).casefold(), (event.agent or "").casefold()
    fields = (event.kind, about, agent, event.actor.casefold())
    text = " ".join((*fields, event.before or "", event.after or "", event.reason.casefold()))
    return Entry(str(event.seq), event, fields, text)


@dataclass(frozen=True, slots=True)
class Query:
    """What events are to be shown. Every word must occur somewhere; `kind`, `task`, `agent` and `who` are parts of
    those fields. An empty text asks for nothing."""

    words: tuple[str, ...] = ()
    kind: str = ""
    task: str = ""
    agent: str = ""
    who: str = ""

    @property
    def is_open(self) -> bool:
        return self == Query()

    def pick(self, entries: Iterable[Entry]) -> list[Entry]:
        """Give those that are asked for."""
        kept = list(entries)
        for place, want in enumerate((self.kind, self.task, self.agent, self.who)):
            if want:
                kept = [entry for entry in kept if want in entry.fields[place]]
        for word in self.words:
            kept = [entry for entry in kept if word in entry.text]
        return kept


def read_query(text: str) -> Query:
    """Read `kind:claimed agent:ant some words`, in any order and case."""
    fields: dict[str, str] = {}
    words: list[str] = []
    for word in text.casefold().split():
        name, colon, value = word.partition(":")
        if colon and name in _FIELDS:
            fields[name] = value
        else:
            words.append(word)
    return Query(tuple(words), **fields)


def subject(event: Event) -> str:
    """Whom an event is about: a task, else an agent."""
    if event.region and event.task:
        return str(TaskRef(event.region, event.task))
    return event.agent or ""


def event_row(event: Event, now: float, symbols: Symbols = UNICODE, *, about: bool = True) -> ListRow:
    """One line: when, what happened, why; by whom at the right. Without `about`, for lists about one thing, it is
    short and does not say whom it is about."""
    kind = spaced(event.kind.replace(".", " ") if about else event.kind.partition(".")[2])
    left = [
        Span(f"{moment(event.at, now):<6} ", "muted"),
        Span(f"{subject(event):<{_ABOUT}} " if about else "", "strong"),
        Span(f"{kind:<{_KIND if about else _SHORT_KIND}} ", _tone(event.kind)),
    ]
    reason = event.reason.splitlines()[0] if event.reason else ""
    if (event.before or event.after) and (about or not reason):
        left.append(Span(f"{_value(event.before, now)} {symbols.arrow} {_value(event.after, now)}  ", "muted"))
    left.append(Span(reason))
    agent = (
        f"{event.agent} {symbols.dot} "
        if about and event.agent and event.task and event.agent not in event.actor
        else ""
    )
    opens = f"run:{event.run_id}" if event.run_id is not None else ""
    return ListRow(str(event.seq), tuple(left), (Span(f"{agent}{event.actor}", "muted"),), opens)


def event_words(event: Event, symbols: Symbols = UNICODE) -> str:
    """Everything that one event says, for the line below the list."""
    before, after = spaced(event.before or ""), spaced(event.after or "")
    move = f"{before} {symbols.arrow} {after}: " if before or after else ""
    return move + (" ".join(event.reason.split()) or "no reason was given")


def local_moment(written: str, now: float) -> str:
    """A moment as the event log has it, in ISO format, for people; any other text as it is."""
    try:
        return moment(datetime.fromisoformat(written).timestamp(), now) if "T" in written else written
    except ValueError:
        return written


def _value(text: str | None, now: float) -> str:
    """What was before an event, or is after it."""
    return spaced(local_moment(text or "", now))


def _tone(kind: str) -> str:
    if kind.endswith((".landed", ".done")):
        return "good"
    if kind.endswith((".cooling", ".rejected", ".conflict", ".stopped", ".refused")):
        return "needs-you"
    return ""
