"""A process of its own that claims from the store. Run as `python -m tests.store.claimant DATABASE NAME MODE`.

It prints `ready`, then obeys one line of standard input after the other: each is `ID ...` (tasks to try in
this order) and is answered with a JSON list of what was won. `next` takes whatever comes first."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from recall.domain.run import Claim
from recall.domain.task import TaskRef
from recall.store import SqliteStore, open_store
from recall.system import SystemClock, SystemRng


def main() -> None:
    database, name = Path(sys.argv[1]), sys.argv[2]
    store = open_store(database, SystemClock(), SystemRng())
    try:
        print("ready", flush=True)
        for line in sys.stdin:
            moment, *ids = line.split()
            while time.monotonic() < float(moment):
                pass
            print(json.dumps(_claim_all(store, name, ids)), flush=True)
    finally:
        store.close()


def _claim_all(store: SqliteStore, name: str, ids: list[str]) -> list[str]:
    won = list[str]()
    for number, id_ in enumerate(ids):
        owner = f"{name}-{id_}-{number}"
        if id_ == "next":
            claim = store.claim_next(name, owner, 1000.0)
        else:
            claim = store.claim(TaskRef("main", id_), name, owner, 1000.0, pulled=True)
        if isinstance(claim, Claim):
            won.append(claim.ref.id)
    return won


if __name__ == "__main__":
    main()
