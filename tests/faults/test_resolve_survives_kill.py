"""Kill -9 of the command line between any two effects of settling a conflict: what was there before still is, the
same command can be given again, and no work is lost."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from signal import SIGKILL

import pytest

import recall
from recall.domain.merge import MergeState
from recall.domain.run import RunResult
from recall.domain.task import TaskState
from tests.cli.conflict_ground import Ground, meeting
from tests.support import forked
from tests.support.hermetic_git import Repo
from tests.support.kept import Kept

pytestmark = [pytest.mark.faults, pytest.mark.timeout(120)]

RESOLVING = ("conflicts.commit_stored", "conflicts.original_kept", "resolve.commit_made")
ENDING = ("resolve.abandoned", "resolve.result_kept", "workspace.work_kept")
TAKE = ("resolve", "T-2", "--take", "task")


def failpoints() -> set[str]:
    """All of the modules that this file is about."""
    names = ("gitops/conflicts.py", "gitops/shelf.py", "engine/resolve.py")
    sources = (Path(recall.__path__[0]) / name for name in names)
    return {name for file in sources for name in re.findall(r'failpoint\("([\w.]+)"\)', file.read_text())}


def test_no_failpoint_is_left_out() -> None:
    here = {*RESOLVING, *ENDING, "resolve.checked_out", "shelf.carried", "shelf.ref_dropped"}
    assert failpoints() - here == set()


def run(ground: Ground, *words: str, failpoint: str = "") -> subprocess.CompletedProcess[str]:
    env = os.environ | {"RECALL_FAILPOINT": failpoint}
    return forked.run("recall.cli:main", *words, cwd=ground.repo.path, env=env)


def kill(ground: Ground, failpoint: str, *words: str) -> None:
    ended = run(ground, *words, failpoint=failpoint)
    assert ended.returncode == -SIGKILL, ended.stdout + ended.stderr


def done(ground: Ground, *words: str) -> str:
    ended = run(ground, *words)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture
def ground(kept: Kept, home: Path) -> Ground:
    return meeting(kept, "one-file", {"x": "main\n"}, {"x": "task\n", "new": "new\n"}, {"x": "x\n"})


def consistent(ground: Ground) -> None:
    with ground.store() as store:
        assert getattr(store, "check")() == []  # noqa: B009 - the port does not have it
    ground.repo.git("fsck", "--connectivity-only")


@pytest.mark.parametrize("point", RESOLVING)
def test_a_resolution_is_given_again_and_lands(ground: Ground, point: str) -> None:
    kill(ground, point, *TAKE)
    assert (ground.entry().state, ground.task().state) == (MergeState.CONFLICT, TaskState.NEEDS_PERSON)
    consistent(ground)
    done(ground, *TAKE)
    ground.step()
    assert ground.runs()[0].result is RunResult.LANDED
    assert ground.repo.file("x", "main") == b"task\n"
    consistent(ground)


def test_a_folder_that_was_written_is_taken_when_it_is_named_again(ground: Ground, tmp_path: Path) -> None:
    folder = str(tmp_path / "by-hand")
    kill(ground, "resolve.checked_out", "resolve", "T-2", "--checkout", folder)
    assert run(ground, "resolve", "T-2", "--continue").returncode == 1
    (tmp_path / "by-hand" / "x").write_text("both\n")
    done(ground, "resolve", "T-2", "--checkout", folder)
    done(ground, "resolve", "T-2", "--continue")
    ground.step()
    assert ground.repo.file("x", "main") == b"both\n"


@pytest.mark.parametrize("way", ["--send-back", "--restart", "--give-up"])
@pytest.mark.parametrize("point", ENDING)
def test_an_end_is_final_and_the_next_start_parks_the_work(ground: Ground, point: str, way: str) -> None:
    kill(ground, point, "resolve", "T-2", way)
    state = TaskState.CANCELLED if way == "--give-up" else TaskState.TODO
    assert (ground.task().state, ground.entry().state) == (state, MergeState.REJECTED)
    assert run(ground, "resolve", "T-2", way).returncode == 1
    with ground.engine():
        pass
    assert ground.repo.file("x", "refs/recall/parked/2") == b"task\n"
    consistent(ground)


def test_a_persons_resolution_is_not_lost_with_the_command_that_gave_it_up(ground: Ground) -> None:
    done(ground, *TAKE)
    ground.repo.commit("by hand", {"x": "person\n"})
    ground.step()
    tip = ground.entry().tip
    kill(ground, "shelf.carried", "resolve", "T-2", "--give-up")
    integration = Repo(ground.repo.git_dir / "recall" / "integration.git")
    assert integration.tip("refs/recall/run/2") == tip
    assert integration.file("x", tip) == b"task\n"
    with ground.engine():
        pass
    assert ground.repo.file("x", "refs/recall/parked/2") == b"task\n"
    consistent(ground)


def test_what_was_dropped_half_way_is_dropped(ground: Ground) -> None:
    done(ground, "resolve", "T-2", "--give-up")
    kill(ground, "shelf.ref_dropped", "workspaces", "drop", "2", "--yes")
    assert "nothing is parked" in done(ground, "workspaces")
    consistent(ground)
