"""Agent CLIs are not started as root by chance."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from recall.bootstrap import agents_are_root, settings_at, with_presets
from recall.domain.errors import ConfigError
from recall.domain.task import TaskState
from recall.engine.hosting import Listener
from recall.gitops.locate import locate
from recall.ui.session import open_session
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


def test_nor_is_one_that_a_command_names(shop: Workshop) -> None:
    shop.extra = '[agents.mine]\ncommand = ["/usr/bin/env", "claude", "-p"]\n'
    shop.tasks("## T-1 One\n- agent: mine")
    shop.settle()
    ended = shop.dispatch()
    assert ended.returncode == 2
    assert "this is root, as whom mine could change anything" in ended.stderr


def test_neither_the_screen_nor_a_visit_in_the_browser_starts_it(shop: Workshop) -> None:
    with open_session(shop.repo.path) as session:  # as both open it, unless somebody says --allow-root
        with pytest.raises(ConfigError, match="this is root"), session.open_engine(shop.repo.path, Listener()):
            pass
        assert not session.dispatcher_runs()


def test_who_lets_agents_run_as_another_user_needs_no_leave(shop: Workshop) -> None:
    shop.extra += '[workspaces]\nkind = "clone"\n[sandbox]\nlevel = "user"\nuser = "nobody"\n'
    shop.settle()
    settings = with_presets(settings_at(locate(shop.repo.path)))
    assert not agents_are_root(settings)
    claude = settings.agent("claude")
    assert claude is not None
    assert "IS_SANDBOX" not in claude.env


def test_with_leave_it_is_started_and_told_that_the_machine_is_disposable(shop: Workshop) -> None:
    ended = shop.dispatch("--until-done", "--allow-root")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert shop.look()["T-1"].state is TaskState.DONE
    assert shop.repo.file("root.txt", "main") == b"1\n"


def test_what_was_started_as_root_counts_as_confirmed_by_whoever_looks(shop: Workshop) -> None:
    assert shop.dispatch("--until-done", "--allow-root").returncode == 0
    assert "no person confirmed" not in shop.recall("status").stdout
    assert "IS_SANDBOX=1" in shop.recall("config", "show", "agents").stdout.replace('"', "").replace(" ", "")
