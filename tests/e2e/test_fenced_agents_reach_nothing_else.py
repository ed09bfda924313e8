"""Agents and verification in each level of the sandbox, with the real program: they work, land, and reach nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from recall.agents.sandbox import LEVELS
from recall.domain.task import TaskState
from tests.support.tools import need
from tests.support.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

#: What an agent that means harm tries, with the repository as $REPO and its own slot as $SLOT. None may succeed.
_ATTEMPTS = """\
SLOT=$(dirname "$PWD")
attempt() { if sh -c "$2" >/dev/null 2>&1; then echo "$1" >> reached.txt; fi; }
: > reached.txt
attempt home 'echo x > "$HOME/planted"'
attempt checkout "echo x >> '$REPO/README.md'"
attempt main "git -C '$REPO' update-ref refs/heads/main HEAD~0 && git -C '$REPO' branch planted"
attempt config "git -C '$REPO' config core.hooksPath /tmp/hooks"
attempt objects "rm -rf '$REPO'/.git/objects/??"
attempt store "echo x >> '$REPO/.git/recall/recall.db'"
attempt trust "cd '$REPO' && '$PYTHON' -m recall pause"
attempt confirm "cd '$REPO' && '$PYTHON' -m recall config trust"
attempt identity "echo x > '$SLOT/run.json'"
attempt neighbour "echo x > '$SLOT/../planted'"
attempt profile "echo x >> '$HOME/.profile'"
"""


@pytest.fixture(params=LEVELS)
def shop(request: pytest.FixtureRequest, tmp_path: Path, home: Path) -> Workshop:
    if request.param == "bwrap":
        need("bwrap")
    shop = Workshop.create(tmp_path)
    shop.extra = f'[workspaces]\nkind = "clone"\n[sandbox]\nlevel = "{request.param}"\n'
    return shop


def test_a_hostile_agent_reaches_nothing_and_its_work_lands(shop: Workshop) -> None:
    prelude = f'REPO="{shop.repo.path}"; PYTHON="{sys.executable}"\n'
    shop.agent("ant", prelude + _ATTEMPTS + 'mktemp > /dev/null && echo "$TMPDIR" > tmp.txt; commit all; success')
    shop.tasks("## T-1 Reach out")
    shop.settle()
    before = shop.repo.git("rev-parse", "HEAD")
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert shop.look()["T-1"].state is TaskState.DONE
    assert shop.repo.file("reached.txt", "main") == b""
    assert shop.repo.file("tmp.txt", "main").strip().endswith(b"/scratch")
    assert shop.repo.git("rev-parse", "main~1").strip() == before.strip()
    assert shop.repo.status() == []
    shop.repo.git("fsck", "--strict")


def test_verification_is_fenced_too(shop: Workshop) -> None:
    shop.verify = f"! (echo x > '{shop.home}/planted') 2>/dev/null && mktemp >/dev/null && echo x > built.tmp"
    shop.agent("ant", 'echo "$TASK" > "$TASK.txt"; commit one; success')
    shop.tasks("## T-1 Verify me")
    shop.settle()
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "T-1.txt" in shop.on_main()
    assert not (shop.home / "planted").exists()
