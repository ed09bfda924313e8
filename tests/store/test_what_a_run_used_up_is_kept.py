"""Session, tokens and price of a run: kept for the run that the owner holds, absent in stores from before."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from recall.domain.stream.spending import Spending, spending_of
from recall.store.connection import connect
from recall.store.migrate import known_migrations, migrate
from tests.support.builders import claimed, import_specs, make_store, ref, spec
from tests.support.clock import FakeClock

SPENT = Spending("s-1", 33_000, 840, 30_000, 0.4137)
BEFORE = next(one.version for one in known_migrations() if one.name == "0006_spending.sql") - 1
OLD_RUN = """
INSERT INTO runs (region, task, agent, owner, version, number, state, result, claimed_at)
VALUES ('main', 'T-1', 'old', 'old-1', 1, 1, 'settled', 'landed', 5.0)
"""


def test_it_is_kept_with_the_run(tmp_path: Path) -> None:
    with make_store(tmp_path, FakeClock()) as store:
        import_specs(store, spec("T-1"))
        claim = claimed(store, "T-1")
        run = store.run(claim.run_id)
        assert run is not None
        assert spending_of(run) == Spending()
        for _ in range(2):
            store.keep_spending(claim.run_id, claim.owner, claim.version, SPENT)
        kept = store.run(claim.run_id)
        assert kept is not None
        assert spending_of(kept) == SPENT
        assert store.runs(ref("T-1")) == [kept]


@pytest.mark.parametrize(("owner", "version"), [("another-1", 1), (None, 2)])
def test_nobody_else_writes_it(tmp_path: Path, owner: str | None, version: int) -> None:
    with make_store(tmp_path, FakeClock()) as store:
        import_specs(store, spec("T-1"))
        claim = claimed(store, "T-1")
        store.keep_spending(claim.run_id, owner or claim.owner, version, SPENT)
        run = store.run(claim.run_id)
        assert run is not None
        assert spending_of(run) == Spending()


def test_runs_from_before_have_none(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    with closing(connect(tmp_path / "state" / "recall.db")) as connection:
        migrate(connection, known_migrations()[:BEFORE])
        connection.execute("INSERT INTO agents (name, configured) VALUES ('old', 0)")
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(OLD_RUN)
    with make_store(tmp_path) as store:
        (run,) = store.runs()
        assert (run.number, run.claimed_at) == (1, 5.0)
        assert spending_of(run) == Spending()
