"""Rows that are made when they are looked at: a list of 10,000 shows forty."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

RowT = TypeVar("RowT")


class KeyedRows(Sequence[RowT]):
    """Knows the keys of all its rows, in order; `make` gives the row of a key. What `make` looks at must not change
    afterwards: a list finds out what to draw again by comparing these rows with the ones before."""

    def __init__(self, keys: Sequence[str], make: Callable[[str], RowT]) -> None:
        self.keys = keys
        self._make = make
        self._made: dict[str, RowT] = {}

    def __len__(self) -> int:
        return len(self.keys)

    @overload
    def __getitem__(self, index: int) -> RowT: ...
    @overload
    def __getitem__(self, index: slice) -> list[RowT]: ...
    def __getitem__(self, index: int | slice) -> RowT | list[RowT]:
        if isinstance(index, slice):
            return [self._row(key) for key in self.keys[index]]
        return self._row(self.keys[index])

    def _row(self, key: str) -> RowT:
        row = self._made.get(key)
        if row is None:
            row = self._made[key] = self._make(key)
        return row


def keys_of(rows: Sequence[Any]) -> Sequence[str]:
    """The keys of rows of any kind, without making any."""
    if isinstance(rows, KeyedRows):
        return rows.keys
    return [row.key for row in rows]
