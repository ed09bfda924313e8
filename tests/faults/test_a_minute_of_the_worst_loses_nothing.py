"""One minute of `make soak`: dispatchers and shims are killed, a person steps in, agents do what they like."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.soak.night import spend_a_night


@pytest.mark.faults
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("home")
def test_a_minute_of_the_worst_loses_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seed = int(os.environ.get("RECALL_SOAK_SEED", "0")) or random.SystemRandom().randrange(1_000_000)
    figures = spend_a_night(tmp_path, 1.0, seed)
    with capsys.disabled():
        print("\n" + "\n".join(figures.lines()))
    assert figures.clean, "\n".join(figures.lines())
    assert figures.kills >= 3
    assert figures.landed >= 10
