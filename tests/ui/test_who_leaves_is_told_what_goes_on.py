"""The terminal that a person gets back says which agents are still at work."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.terminal import terminal
from tests.support.workshop import Workshop

TUI = [sys.executable, "-c", "from recall.cli.tui import main; main()"]

pytestmark = pytest.mark.timeout(120)


@pytest.mark.e2e
def test_agents_that_are_left_at_work_are_named_in_the_terminal(tmp_path: Path, home: Path) -> None:
    shop = Workshop.create(tmp_path)
    go = tmp_path / "go"
    shop.agent("ant", f"echo started; while [ ! -e {go} ]; do sleep 0.1; done; success")
    shop.tasks("## T-1 First")
    shop.settle()
    with terminal(TUI, shop.repo.path) as screen:
        screen.shows("T-1", "dispatching", "started")
        screen.type("q")
        screen.shows("Still at work: T-1 (ant)")
        screen.type("1")
        assert screen.ends() == 0
        end = screen.text.rpartition("Still at work")[2]
    assert "still at work: T-1 (ant)" in end
    assert "the next start of recall-tui adopts them" in end
    go.touch()
    assert shop.dispatch().returncode is not None
