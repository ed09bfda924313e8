"""The store: the only truth and the only channel. SQL stands nowhere else."""

from recall.store.connection import sqlite_version
from recall.store.store import SqliteStore, open_store

__all__ = ["SqliteStore", "open_store", "sqlite_version"]
