"""Agents as lines: what each does and may do, how its runs came out, which limits it met."""

from __future__ import annotations

from collections.abc import Sequence

from recall.domain.agent import Agent
from recall.domain.event import Event
from recall.domain.overview import Overview, agent_doing, agent_word, spaced
from recall.domain.record import TypeRecord
from recall.domain.words import chosen_words, moment, until
from recall.ui.details.events import local_moment
from recall.ui.details.lines import blank_row, counted, fact_rows, title_row
from recall_widgets.glyphs import GLYPHS, UNICODE, Shown, Symbols
from recall_widgets.heading import HeadingFacts
from recall_widgets.listing import ListRow
from recall_widgets.spans import Span

_NAME, _WORD, _TYPE = 12, 9, 14
_PATH = 24
SHOWN_AGENT = {
    "running": Shown.ACTIVE,
    "idle": Shown.READY,
    "paused": Shown.HELD,
    "cooling": Shown.COOLING,
    "stopped": Shown.NEEDS_YOU,
    "disabled": Shown.CANCELLED,
}


def state_word(agent: Agent, now: float) -> str:
    """The word that every list has, but for a disabled agent, which is more than paused."""
    return "disabled" if not agent.enabled and not agent.running else agent_word(agent, now)


def agents_heading(overview: Overview) -> HeadingFacts:
    may = sum(agent.enabled and not agent.paused and not agent.stopped_reason for agent in overview.agents)
    runs = sum(agent.running for agent in overview.agents)
    return HeadingFacts("Agents", f"{may} of {len(overview.agents)} may start tasks", right=f"{runs} running")


def agent_lines(overview: Overview, symbols: Symbols = UNICODE) -> list[ListRow]:
    """One line an agent, keyed by its name."""
    rows = [_agent_line(agent, overview, symbols) for agent in overview.agents]
    none = ListRow("", (Span("no agents yet: add [agents.NAME] to recall.toml", "muted"),))
    return rows or [none]


def _agent_line(agent: Agent, overview: Overview, symbols: Symbols) -> ListRow:
    word = state_word(agent, overview.now)
    glyph = GLYPHS[SHOWN_AGENT[word]]
    left = (
        Span(f"{symbols.glyph(SHOWN_AGENT[word])} ", glyph.tone),
        Span(f"{agent.name:<{_NAME}} ", "strong"),
        Span(f"{word:<{_WORD}} ", glyph.tone),
        Span(agent_doing(agent, overview)),
    )
    chosen = agent.chosen_enabled is not None or agent.chosen_parallel is not None
    right = Span(f"{agent.running}/{agent.parallel}{' *' if chosen else '  '}", "needs-you" if chosen else "muted")
    return ListRow(agent.name, left, (right,))


def standing_rows(agent: Agent, now: float, width: int) -> list[ListRow]:
    """What an agent may do, by whose word, and what holds it."""
    rows = fact_rows("may", "may run", chosen_words(agent), width)
    rows += fact_rows("types", "takes", ", ".join(agent.types) or "every type of task", width)
    rows += fact_rows("account", "account", agent.account, width)
    paused = agent.paused_reason or "yes"
    rows += fact_rows("paused", "paused", paused if agent.paused else "", width)
    rows += fact_rows("stopped", "stopped", agent.stopped_reason, width, "needs-you")
    if agent.cooling_until is not None and agent.cooling_until > now:
        rows += fact_rows("cooling", "cooling", f"until {until(agent.cooling_until, now)}", width, "cool")
        quote = f'"{agent.cooling_line}"' if agent.cooling_line else ""
        rows += fact_rows("line", "read from", quote, width)
        rows += fact_rows("because", "because", "" if quote else agent.cooling_reason, width)
    return rows


def record_rows(records: Sequence[TypeRecord] | None, symbols: Symbols = UNICODE) -> list[ListRow]:
    """Each task type: how many runs, how many landed, the weights so far; its results below. None: not read yet."""
    if not records:
        return [ListRow("none", (Span("looking" if records is None else "no run is over yet", "muted"),))]
    return [row for record in records for row in _record_rows(record, symbols)]


def _record_rows(record: TypeRecord, symbols: Symbols) -> list[ListRow]:
    share = "" if record.success is None else f"{record.success:>4.0%}"
    path = symbols.sparkline(record.weights[-_PATH:])
    left = (
        Span(f"{record.type:<{_TYPE}} ", "strong"),
        Span(f"{counted(record.runs, 'run'):>9}  {record.landed} landed {share}"),
    )
    results = ", ".join(f"{count} {spaced(name)}" for name, count in record.results)
    rows = [ListRow(f"type:{record.type}", left, (Span(f"{path} ", "muted"), Span(f"{record.weight:.2f}")))]
    return [*rows, ListRow(f"results:{record.type}", (Span(f"  {results}", "muted"),))] if results else rows


def limit_rows(events: Sequence[Event] | None, now: float) -> list[ListRow]:
    """Each limit that was hit, the newest first: when, until when, the line that said so."""
    if not events:
        return [ListRow("none", (Span("looking" if events is None else "no limit met yet", "muted"),))]
    return [row for event in events for row in _limit_rows(event, now)]


def _limit_rows(event: Event, now: float) -> list[ListRow]:
    lifted = event.kind == "agent.cooldown_lifted"
    what = Span("lifted", "good") if lifted else Span(f"until {local_moment(event.after or '', now)}", "cool")
    who = () if event.actor == "dispatcher" else (Span(f"by {event.actor}", "muted"),)
    opens = f"run:{event.run_id}" if event.run_id is not None else ""
    rows = [ListRow(str(event.seq), (Span(f"{moment(event.at, now):<6}  ", "muted"), what), who, opens)]
    if event.reason:
        said = Span(f'        "{" ".join(event.reason.split())}"', "muted")
        rows.append(ListRow(f"reason:{event.seq}", (said,), (), opens))
    return rows


def about_rows(
    agent: Agent, records: Sequence[TypeRecord] | None, now: float, width: int, symbols: Symbols
) -> list[ListRow]:
    """Everything about one agent but its limits."""
    return [
        *standing_rows(agent, now, width),
        blank_row("record"),
        title_row("record", "How its runs came out", "weight over time, and now"),
        *record_rows(records, symbols),
    ]
