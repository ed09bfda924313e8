"""An agent as the scheduler sees it: who it is, whether it may start something, how well it does."""

from __future__ import annotations

from dataclasses import field
from math import sqrt
from typing import NamedTuple

from recall.domain.frozen import frozen

#: The 97.5th percentile of the normal distribution.
_Z = 1.96


class AgentSpec(NamedTuple):
    """What recall.toml says of an agent. Agents of one `account` share usage limits."""

    name: str
    enabled: bool = True
    parallel: int = 1
    types: tuple[str, ...] = ()
    account: str = ""


@frozen
class AgentChoice:
    """What a person wants of an agent in place of what recall.toml says; None leaves open. Nothing chosen at all
    means: as recall.toml says."""

    enabled: bool | None = None
    parallel: int | None = None

    @property
    def is_reset(self) -> bool:
        return self.enabled is None and self.parallel is None

    def with_(self, other: AgentChoice) -> AgentChoice:
        """Take over what the other one says."""
        enabled = self.enabled if other.enabled is None else other.enabled
        return AgentChoice(enabled, self.parallel if other.parallel is None else other.parallel)


@frozen
class Weight:
    """How much an agent is trusted with one task type: [0, 1], four digits, 0.5 at first."""

    value: float = 0.5
    landed: int = 0
    failed: int = 0

    @property
    def runs(self) -> int:
        """The runs that said something about ability."""
        return self.landed + self.failed

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true share of landings lies with 95 % confidence, after Wilson (1927): 1 of 1 says little,
        0.21 to 1, and 17 of 20 much, 0.64 to 0.95. Without runs, 0 to 1."""
        if not self.runs:
            return 0.0, 1.0
        share, spread = self.landed / self.runs, _Z * _Z / self.runs
        middle = (share + spread / 2) / (1 + spread)
        half = _Z * sqrt(share * (1 - share) / self.runs + spread / (4 * self.runs)) / (1 + spread)
        return max(0.0, middle - half), min(1.0, middle + half)


@frozen
class Agent:
    """One row of the store joined with its configuration. Times are wall seconds UTC.

    `cooling_until` is a provider's reset time plus margin; `cooling_line` is the line it was read from and
    `limits_in_a_row` how often in a row no time could be read. `suspicions` counts how often
    in a row it was held because it failed at once on task after task. `stopped_reason` is set when only a person can
    help (credit, sign-in). `over_budget` says which budget is used up; the store does not know it. A `driven` agent
    is not in recall.toml: it claims by itself, nothing is started for it. `enabled` and `parallel` are what holds:
    what a person chose (None: nothing), else what recall.toml says.
    """

    name: str
    enabled: bool = True
    parallel: int = 1
    types: tuple[str, ...] = ()
    account: str = ""
    paused: bool = False
    paused_reason: str = ""
    cooling_until: float | None = None
    cooling_reason: str = ""
    cooling_line: str = ""
    limits_in_a_row: int = 0
    suspicions: int = 0
    stopped_reason: str = ""
    over_budget: str = ""
    running: int = 0
    driven: bool = False
    listed_enabled: bool = True
    listed_parallel: int = 1
    chosen_enabled: bool | None = None
    chosen_parallel: int | None = None
    weights: dict[str, Weight] = field(default_factory=dict[str, Weight])

    def weight(self, type_: str) -> Weight:
        return self.weights.get(type_, Weight())
