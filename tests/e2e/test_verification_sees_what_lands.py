"""Each candidate is set up and verified alone, in a checkout that holds its tree and what the settings name."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from recall.domain.run import RunResult
from recall.domain.task import TaskState
from tests.support.workshop import Workshop

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

WORKS = 'echo "$TASK" > "$TASK.txt"; commit "$TASK: write"; success'
TWO = ("## T-1 First", "## T-2 Second\n- after: T-1")


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Workshop:
    shop = Workshop.create(tmp_path)
    shop.agent("ant", WORKS)
    return shop


def done(shop: Workshop) -> str:
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_setup_and_included_files_are_there_for_agents_and_for_the_verify_command(shop: Workshop) -> None:
    shop.top = 'setup = "test -e .env && cp .env made-by-setup"\n'
    shop.verify = "test -e made-by-setup"
    shop.agent("ant", "test -e made-by-setup && test -e .env || exit 1\n" + WORKS)
    shop.repo.commit("ignore", {".gitignore": ".env\nmade-by-setup\n", ".worktreeinclude": ".env\n"})
    shop.repo.write(".env", "KEY=1\n")
    shop.tasks(*TWO)
    shop.settle()
    done(shop)
    assert {"made-by-setup", ".env"}.isdisjoint(shop.on_main())
    assert shop.repo.status() == []


def test_a_setup_that_fails_blames_no_agent(shop: Workshop) -> None:
    shop.top = 'setup = "echo no compiler here; exit 3"\n'
    shop.tasks("## T-1 First")
    shop.settle()
    ended = shop.dispatch()
    assert ended.returncode == 1
    assert "set-up command failed" in ended.stdout and "no compiler here" in ended.stdout
    task = shop.look()["T-1"]
    assert (task.state, task.attempts) == (TaskState.NEEDS_PERSON, 0)
    assert {run.result for run in shop.runs()} == {RunResult.ORPHANED}
    gaps = [later.claimed_at - sooner.claimed_at for sooner, later in pairwise(shop.runs())]
    assert [gap >= 0.1 * 2**tried for tried, gap in enumerate(gaps)] == [True] * 4, "what fails at once waits longer"
    assert shop.strays() == []


def test_a_verify_command_that_hangs_is_stopped_with_all_that_it_started(shop: Workshop) -> None:
    hang = "test -e T-1.txt || exit 0; setsid sleep 600 & (trap '' TERM; sleep 600) & sleep 600"
    shop.verify = hang
    shop.tasks("## T-1 First")
    shop.settle()
    config = shop.repo.path / "recall.toml"
    text = config.read_text().replace('verify_timeout = "30s"', 'verify_timeout = "1s"')
    shop.repo.commit("be quick", {"recall.toml": text.replace("backoff", "attempts = 1\nbackoff")})
    ended = shop.dispatch()
    assert ended.returncode == 1
    assert [run.result for run in shop.runs()] == [RunResult.VERIFY_FAILED]
    assert "1 s" in ended.stdout or "time" in ended.stdout
    assert shop.strays() == []
    assert "T-1.txt" not in shop.on_main()


def test_only_named_caches_outlive_a_verification(shop: Workshop) -> None:
    shop.extra = '[workspaces]\nkeep = ["cache/"]\n'
    seen = shop.home / "seen"
    shop.verify = f"ls -d cache junk >> {seen} 2>/dev/null; mkdir -p cache junk; touch cache/x junk/x; true"
    shop.repo.commit("ignore", {".gitignore": "cache/\njunk/\n"})
    shop.tasks(*TWO)
    shop.settle()
    done(shop)
    assert seen.read_text().split() == ["cache"]


def test_keeping_compiled_modules_is_refused(shop: Workshop) -> None:
    shop.extra = '[workspaces]\nkeep = ["**/__pycache__/"]\n'
    shop.tasks("## T-1 First")
    shop.settle()
    refused = shop.dispatch()
    assert refused.returncode == 2
    assert "__pycache__" in refused.stderr


def test_yesterdays_output_does_not_turn_todays_tree_green(shop: Workshop) -> None:
    """The module is gone, its compiled form was there, and Python would import that."""
    shop.verify = "python3 -c 'import helper' && python3 -m compileall -q -b ."
    shop.repo.commit("module", {"helper.py": "x = 1\n", ".gitignore": "*.pyc\n__pycache__/\n"})
    shop.agent("ant", '[ "$TASK" = T-1 ] || git rm -q helper.py\n' + WORKS)
    shop.tasks(*TWO)
    shop.settle()
    ended = shop.dispatch()
    assert ended.returncode == 1
    tasks = shop.look()
    assert tasks["T-1"].state is TaskState.DONE
    assert tasks["T-2"].state is TaskState.NEEDS_PERSON
    assert "helper.py" in shop.on_main()
