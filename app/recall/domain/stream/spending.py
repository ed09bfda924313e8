"""What a run used up, as far as its events tell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from recall.domain.frozen import frozen
from recall.domain.run import Run
from recall.domain.stream.facts import Fact, SessionNamed, Used

#: Nobody used more; a hostile event may say so.
_MOST: Final = 1 << 53
_NOTHING: Final = Used()


@frozen
class Spending:
    """The session that the run was, its tokens and its price in US dollars; None: not told. `input_tokens` includes
    `cached_tokens`, those that the provider had read before."""

    session: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None


def spending_of(run: Run) -> Spending:
    """What a run used up, as the store keeps it."""
    return Spending(run.session, run.input_tokens, run.output_tokens, run.cached_tokens, run.cost_usd)


def since(spending: Spending, earlier: Iterable[Run]) -> Spending:
    """What was used up since these runs, if the price includes theirs as far as they were the same session."""
    before = sum(run.cost_usd or 0.0 for run in earlier if run.session == spending.session)
    if spending.session is None or spending.cost_usd is None or not before:
        return spending
    return replace(spending, cost_usd=round(max(spending.cost_usd - before, 0.0), 9))


@frozen
class Tally:
    """Adds up what events tell. A use with the key of the one before takes its place: some programs tell the
    growing use of one answer with every piece of it."""

    settled: Spending = Spending()
    latest: Used = _NOTHING

    @property
    def spending(self) -> Spending:
        return _plus(self.settled, self.latest)

    def after(self, fact: Fact) -> Tally:
        if isinstance(fact, SessionNamed):
            return replace(self, settled=replace(self.settled, session=fact.id))
        if not isinstance(fact, Used):
            return self
        if fact.total:
            return Tally(_over(self.spending, fact))
        if fact.key and fact.key == self.latest.key:
            return replace(self, latest=fact)
        return Tally(self.spending, fact)


def _plus(so_far: Spending, used: Used) -> Spending:
    return Spending(
        so_far.session,
        _sum(so_far.input_tokens, used.input_tokens),
        _sum(so_far.output_tokens, used.output_tokens),
        _sum(so_far.cached_tokens, used.cached_tokens),
        so_far.cost_usd if used.cost_usd is None else (so_far.cost_usd or 0.0) + used.cost_usd,
    )


def _over(so_far: Spending, used: Used) -> Spending:
    """What a total tells counts instead of what was added up."""
    return Spending(
        so_far.session,
        so_far.input_tokens if used.input_tokens is None else used.input_tokens,
        so_far.output_tokens if used.output_tokens is None else used.output_tokens,
        so_far.cached_tokens if used.cached_tokens is None else used.cached_tokens,
        so_far.cost_usd if used.cost_usd is None else used.cost_usd,
    )


def _sum(one: int | None, other: int | None) -> int | None:
    return one if other is None else min((one or 0) + other, _MOST)


def dollars(cost: float | None) -> str:
    """A price as `$0.41`; "" for one that is not known."""
    if cost is None:
        return ""
    return f"${cost:.2f}" if cost >= 0.005 else "<$0.01"


def spending_words(spending: Spending) -> str:
    """Tokens and price as `41.2k tokens in (38.0k cached), 3.1k out, $0.41`; "" when nothing is known."""
    parts: list[str] = []
    if spending.input_tokens is not None:
        cached = f" ({in_short(spending.cached_tokens)} cached)" if spending.cached_tokens else ""
        parts.append(f"{in_short(spending.input_tokens)} tokens in{cached}")
    if spending.output_tokens is not None:
        parts.append(f"{in_short(spending.output_tokens)}{'' if parts else ' tokens'} out")
    if spending.cost_usd is not None:
        parts.append(dollars(spending.cost_usd))
    return ", ".join(parts)


def in_short(count: int) -> str:
    if count < 1000:
        return str(count)
    return f"{count / 1000:.1f}k" if count < 999_950 else f"{count / 1_000_000:.1f}M"
