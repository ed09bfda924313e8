"""What an agent's output says of usage limits: structured events first, then words in error position."""

from recall.domain.limits.reading import read_limits
from recall.domain.limits.vocabulary import DEFAULT_PATTERNS

__all__ = ["DEFAULT_PATTERNS", "read_limits"]
