"""Figures in Prometheus' text format, 0.0.4: what a node exporter's textfile collector takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from recall.domain.figures.measure import Figures
from recall.domain.figures.spread import Spread
from recall.domain.overview import Overview, agent_word
from recall.domain.text import clean_line

_WORDS = ("running", "idle", "cooling", "paused", "stopped")

Labels = Mapping[str, str]

_NO_LABELS: Labels = {}


class Family(NamedTuple):
    """One metric: a line a sample. `suffix` is appended to the name, as `_sum` of a summary."""

    name: str
    kind: str
    help: str
    samples: tuple[tuple[str, Labels, float], ...]


def exposition(figures: Figures, overview: Overview) -> str:
    """`figures` must be of everything that ever happened: a counter never falls."""
    return "".join(f"{line}\n" for family in _families(figures, overview) for line in _lines(family))


def _families(figures: Figures, overview: Overview) -> Iterator[Family]:
    yield from _of_now(overview)
    yield from _of_runs(figures)
    yield from _of_leases(figures)
    yield from _of_use(figures)


def _of_now(overview: Overview) -> Iterator[Family]:
    counts = [({"state": word}, float(count)) for word, count in overview.counts.items()]
    yield _gauge("recall_tasks", "Tasks by their state now.", counts)
    waits = float(len(overview.standing.waits))
    yield _gauge("recall_needs_you", "What waits for a person.", [({}, waits)])
    yield _gauge("recall_merge_queue_entries", "Results that wait to land.", [({}, float(len(overview.merges)))])
    yield _gauge("recall_dispatcher_up", "Whether a dispatcher runs.", [({}, float(overview.dispatcher))])
    states = [
        ({"agent": agent.name, "state": word}, float(agent_word(agent, overview.now) == word))
        for agent in overview.agents
        for word in _WORDS
    ]
    yield _gauge("recall_agent_state", "1 for the state that the agent is in.", states)


def _of_runs(figures: Figures) -> Iterator[Family]:
    yield _counter("recall_landed_total", "Tasks whose commits came to main.", [({}, float(figures.landed))])
    ended = [
        ({"agent": one.agent, "type": one.type, "result": result.value}, float(count))
        for one in figures.success
        for result, count in one.results
    ]
    yield _counter("recall_runs_total", "Runs that came to an end, by how.", ended)
    times = figures.times
    yield _summary("recall_task_seconds", "From claim to main, of what landed.", times.task)
    yield _summary("recall_start_seconds", "From claim until the agent began.", times.start)
    yield _summary("recall_work_seconds", "While the agent ran.", times.work)
    yield _summary("recall_queue_seconds", "In the merge queue before verification.", times.queue)
    yield _summary("recall_verify_seconds", "The verify command.", times.verify)


def _of_leases(figures: Figures) -> Iterator[Family]:
    leases = figures.leases
    yield _counter("recall_lease_renewals_total", "Renewals of leases.", [({}, float(leases.renewals))])
    yield _summary("recall_lease_gap_seconds", "Each run's longest time between renewals.", leases.gaps)
    yield _counter("recall_leases_expired_total", "Leases that ran out.", [({}, float(leases.ran_out))])
    yield _counter("recall_takeovers_total", "Tasks claimed again after that.", [({}, float(leases.taken_over))])
    yield _counter("recall_refused_writes_total", "Writes turned down as too late.", [({}, float(leases.refused))])
    yield _counter("recall_clock_steps_total", "Runs that saw the wall clock step.", [({}, float(leases.steps))])


def _of_use(figures: Figures) -> Iterator[Family]:
    cooled = [({"agent": one.agent}, one.cooled) for one in figures.limits]
    yield _counter("recall_cooled_seconds_total", "How long an agent could start nothing.", cooled)
    cut = [({"agent": one.agent}, float(one.interrupted)) for one in figures.limits]
    yield _counter("recall_limited_runs_total", "Runs that ended at a limit.", cut)
    tokens: Counter[tuple[str, str, str]] = Counter()
    cost: dict[tuple[str, str], float] = {}
    for one in figures.spending:
        told = (("input", one.input_tokens), ("output", one.output_tokens), ("cached", one.cached_tokens))
        for kind, count in told:
            if count is not None:
                tokens[one.agent, one.type, kind] += count
        if one.cost_usd is not None:
            cost[one.agent, one.type] = cost.get((one.agent, one.type), 0.0) + one.cost_usd
    used = [({"agent": agent, "type": type_, "kind": kind}, float(n)) for (agent, type_, kind), n in tokens.items()]
    yield _counter("recall_tokens_total", "Tokens that agents told of; input includes cached.", used)
    paid = [({"agent": agent, "type": type_}, dollars) for (agent, type_), dollars in cost.items()]
    yield _counter("recall_cost_dollars_total", "US dollars that agents told of.", paid)


def _gauge(name: str, help_: str, samples: Iterable[tuple[Labels, float]]) -> Family:
    return Family(name, "gauge", help_, tuple(("", labels, value) for labels, value in samples))


def _counter(name: str, help_: str, samples: Iterable[tuple[Labels, float]]) -> Family:
    return Family(name, "counter", help_, tuple(("", labels, value) for labels, value in samples))


def _summary(name: str, help_: str, spread: Spread) -> Family:
    known = (("0.5", spread.median), ("0.95", spread.p95), ("1", spread.longest))
    quantiles: list[tuple[str, Labels, float]] = [
        ("", {"quantile": share}, value) for share, value in known if value is not None
    ]
    sums = [("_sum", _NO_LABELS, spread.total), ("_count", _NO_LABELS, float(spread.count))]
    return Family(name, "summary", help_, (*quantiles, *sums))


def _lines(family: Family) -> Iterator[str]:
    yield f"# HELP {family.name} {_escaped(family.help)}"
    yield f"# TYPE {family.name} {family.kind}"
    for suffix, labels, value in family.samples:
        inside = ",".join(f'{name}="{_quoted(text)}"' for name, text in labels.items())
        yield f"{family.name}{suffix}{f'{{{inside}}}' if inside else ''} {value!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n")


def _quoted(text: str) -> str:
    return _escaped(clean_line(text)).replace('"', r"\"")
