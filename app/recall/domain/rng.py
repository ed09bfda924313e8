"""Randomness as a value that is passed in, so that every choice can be replayed."""

from __future__ import annotations

from typing import Protocol


class Rng(Protocol):
    """A source of chance: the system's, or a seeded one in tests."""

    def random(self) -> float:
        """Give a number in [0, 1)."""
        ...

    def token(self, length: int = 8) -> str:
        """Give `length` lower-case hexadecimal characters that nobody can guess."""
        ...
