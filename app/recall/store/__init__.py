"""The store: the only truth and the only channel. SQL stands nowhere else."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recall.store.connection import sqlite_version
    from recall.store.store import SqliteStore, open_store

__all__ = ["SqliteStore", "open_store", "sqlite_version"]

_HOMES = {"SqliteStore": "store", "open_store": "store", "sqlite_version": "connection"}
_PARTS = frozenset(
    {"checking", "conflicts", "contract", "import_plan", "importing", "interventions", "listing", "merge_order",
     "merges", "receipts", "resolutions"}
)  # fmt: skip


def __getattr__(name: str) -> object:
    """Import a part when it is first used: a claim, which agents wait for, needs few of them."""
    if name in _HOMES:
        return getattr(import_module(f"recall.store.{_HOMES[name]}"), name)
    if name in _PARTS:
        return import_module(f"recall.store.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
