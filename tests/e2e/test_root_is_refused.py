"""Agent CLIs are not started as root by chance."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from recall.domain.task import TaskState
from tests.support.workshop import Workshop

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(180),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can be refused; an ordinary user is never"),
]


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Workshop:
    """A project whose agent is known by its preset, started through a program that a test wrote."""
    shop = Workshop.create(tmp_path)
    shop.agent("ant", 'echo "$IS_SANDBOX" > root.txt; commit one; success')
    script = shop.home / "agents" / "ant.sh"
    shop.extra = f'[agents.claude]\npreset = "claude"\ncommand = ["/bin/bash", "{script}"]\n'
    shop.tasks("## T-1 One\n- agent: claude")
    shop.settle()
    return shop


def test_a_known_agent_is_not_started_as_root_and_it_is_said_why(shop: Workshop) -> None:
    ended = shop.dispatch()
    assert ended.returncode == 2
    assert "this is root, as whom claude could change anything" in ended.stderr
    assert shop.runs() == []


def test_with_leave_it_is_started_and_told_that_the_machine_is_disposable(shop: Workshop) -> None:
    ended = shop.dispatch("--until-done", "--allow-root")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert shop.look()["T-1"].state is TaskState.DONE
    assert shop.repo.file("root.txt", "main") == b"1\n"


def test_what_was_started_as_root_counts_as_confirmed_by_whoever_looks(shop: Workshop) -> None:
    assert shop.dispatch("--until-done", "--allow-root").returncode == 0
    assert "no person confirmed" not in shop.recall("status").stdout
    assert "IS_SANDBOX=1" in shop.recall("config", "show", "agents").stdout.replace('"', "").replace(" ", "")
