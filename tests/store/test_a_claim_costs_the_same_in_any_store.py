"""What a claim costs does not grow with the tasks that wait, are blocked, or run: counted in SQLite's own steps."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from unittest.mock import patch

import pytest

from recall.store.connection import connect
from tests.support.builders import FOREVER, import_specs, make_store, spec
from tests.support.clock import FakeClock


class Steps:
    """Counts the steps of SQLite's machine on every connection that is opened."""

    def __init__(self) -> None:
        self.count = 0

    def opened(self, path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.set_progress_handler(self._step, 1)
        return connection

    def _step(self) -> int:
        self.count += 1
        return 0


def steps_of_a_claim(folder: Path, *, ready: int = 20, blocked: int = 0, running: int = 1) -> int:
    steps = Steps()
    with patch("recall.store.store.connect", steps.opened), make_store(folder, FakeClock()) as store:
        import_specs(
            store,
            spec("GATE", priority=99),
            *(spec(f"R-{number}", priority=98) for number in range(running)),
            *(spec(f"B-{number}", "GATE", priority=9) for number in range(blocked)),
            *(spec(f"T-{number}") for number in range(ready)),
        )
        for number in range(running + 1):
            assert store.claim_next("amy", f"amy-{number}", FOREVER) is not None
        before = steps.count
        claim = store.claim_next("amy", "amy", FOREVER)
        assert claim is not None
        assert claim.ref.id == "T-0"
        return steps.count - before


@pytest.mark.parametrize("more", [{"ready": 1000}, {"blocked": 1000}, {"running": 300}])
def test_the_steps_of_a_claim_hardly_grow(tmp_path: Path, more: dict[str, int]) -> None:
    few, many = steps_of_a_claim(tmp_path / "few"), steps_of_a_claim(tmp_path / "many", **more)
    assert many < 1.1 * few
