"""What an agent's output says of usage limits: structured events first, then words in error position."""

from recall.domain.limits.reading import read_limits, read_run
from recall.domain.limits.vocabulary import DEFAULT_PATTERNS
from recall.domain.usage import TAIL_BYTES, TAIL_LINES

__all__ = ["DEFAULT_PATTERNS", "TAIL_BYTES", "TAIL_LINES", "read_limits", "read_run"]
