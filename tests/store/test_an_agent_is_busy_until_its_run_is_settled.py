"""A run that has ended may still turn out to be a usage limit: its agent gets nothing new before that is known."""

from __future__ import annotations

from pathlib import Path

from recall.domain.agent import AgentSpec
from tests.support.builders import ended, import_specs, make_store, spec


def test_an_ended_run_still_counts_as_running(tmp_path: Path) -> None:
    with make_store(tmp_path) as store:
        store.sync_agents([AgentSpec("amy")])
        import_specs(store, spec("T-1"), spec("T-2"))
        ended(store, "T-1", agent="amy")
        assert [agent.running for agent in store.snapshot().agents] == [1]
