"""An agent works on when its dispatcher is killed; the next one finds, adopts or clears away what is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recall.agents.process import boot_id, end_all, marked, open_pidfd, read_process
from recall.agents.runner import ProcessRunner
from recall.system import SystemClock, SystemRng
from tests.agents.bench import Bench, alive, wait_until

DISPATCHER = """
import sys, time
from pathlib import Path
from tests.agents.bench import Bench
bench = Bench.__new__(Bench)
Bench.__init__(bench, Path(sys.argv[1]))
bench.start(sys.argv[2])
print("started", flush=True)
time.sleep(60)
"""


def another_runner() -> ProcessRunner:
    return ProcessRunner(SystemClock(), SystemRng())


def start_and_kill_the_dispatcher(home: Path, script: str, *, whole_group: bool = False) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", DISPATCHER, str(home), script],
        stdout=subprocess.PIPE, cwd=Path(__file__).parents[2], process_group=0,
    ) as dispatcher:  # fmt: skip
        assert dispatcher.stdout is not None
        assert dispatcher.stdout.readline() == b"started\n"
        os.killpg(dispatcher.pid, signal.SIGKILL) if whole_group else dispatcher.kill()


@pytest.mark.parametrize("whole_group", [False, True])
def test_a_killed_dispatcher_takes_no_agent_along(tmp_path: Path, whole_group: bool) -> None:
    home = tmp_path / "home"
    script = "echo $$ > pid; while [ ! -e go ]; do sleep 0.02; done; echo x > y; exit 3"
    start_and_kill_the_dispatcher(home, script, whole_group=whole_group)
    bench = Bench.__new__(Bench)
    bench.home, bench.folder, bench.slot = home, home / "run", home / "ws" / "slot"
    bench.tree, bench.runner = bench.slot / "tree", another_runner()
    agent = int(bench.wait_for("pid"))
    status = bench.runner.status(bench.folder)
    assert status.live
    assert alive(agent)
    (bench.tree / "go").touch()
    assert bench.finish().status == 3
    assert (bench.tree / "y").exists()


def test_another_dispatcher_can_stop_what_it_did_not_start(bench: Bench) -> None:
    bench.start("sleep 60")
    assert another_runner().stop_and_wait(bench.folder, "cancel")
    record = another_runner().status(bench.folder).exit
    assert record is not None
    assert record.stopped == "cancel"


def test_what_a_killed_shim_left_is_swept(bench: Bench) -> None:
    pid = bench.start(
        "setsid sleep 300 & env -i sleep 300 & trap '' TERM; echo $$ > pid; while :; do sleep 0.1; done"
    )
    agent = int(bench.wait_for("pid"))
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not bench.runner.status(bench.folder).live, "the lock's release")
    assert alive(agent)
    assert another_runner().sweep(bench.folder) >= 3
    assert not alive(agent)
    assert not bench.left()
    assert another_runner().sweep(bench.folder) == 0


def test_a_live_run_is_not_swept(bench: Bench) -> None:
    bench.start("echo up > up; while [ ! -e go ]; do sleep 0.02; done")
    bench.wait_for("up")
    assert another_runner().sweep(bench.folder) == 0
    (bench.tree / "go").touch()
    assert bench.finish().signal is None


def test_a_shim_that_its_agent_made_stand_still_can_be_stopped(bench: Bench) -> None:
    bench.start("kill -STOP $PPID; echo done > stopped; sleep 60")
    bench.wait_for("stopped")
    assert another_runner().stop_and_wait(bench.folder, "lease_lost", 10)
    assert bench.finish().stopped == "lease_lost"


def test_a_foreign_process_with_a_pid_of_ours_is_not_touched(bench: Bench) -> None:
    bench.run("true")
    with subprocess.Popen(["sleep", "60"], cwd=bench.tree, start_new_session=True) as foreign:
        known = read_process(foreign.pid)
        assert known is not None
        holder = {"pid": foreign.pid, "start": known.start - 1, "boot": boot_id()}
        (bench.folder / "lock").write_text(json.dumps(holder))
        assert open_pidfd(foreign.pid, known.start - 1) is None
        assert bench.runner.pidfd(bench.folder) is None
        bench.runner.stop(bench.folder, "cancel")
        bench.runner.sweep(bench.folder)
        assert foreign.poll() is None
        foreign.kill()


def test_a_lock_of_an_earlier_boot_names_nobody(bench: Bench) -> None:
    bench.start("echo up > up; sleep 60")
    bench.wait_for("up")
    handle = bench.runner.pidfd(bench.folder)
    assert handle is not None
    os.close(handle)
    holder = json.loads((bench.folder / "lock").read_text())
    (bench.folder / "lock").write_text(json.dumps({**holder, "boot": "another"}))
    assert bench.runner.pidfd(bench.folder) is None
    (bench.folder / "lock").write_text(json.dumps(holder))


def test_only_the_exact_marker_is_ours() -> None:
    env = {**os.environ, "RECALL_RUN_MARKER": "abcdef"}
    with subprocess.Popen(["sleep", "60"], env=env) as child:
        wait_until(lambda: [one.pid for one in marked("abcdef")] == [child.pid], "the marker")
        assert marked("abc") == []
        assert marked("bcdef") == []
        assert end_all(lambda: marked("abcdef")) == 1
        assert child.wait(5) == -signal.SIGTERM


def test_a_shim_that_dies_before_it_is_ready_is_an_error_in_words(bench: Bench) -> None:
    from recall.domain.errors import EnvironmentFailure

    bench.folder.mkdir()
    (bench.folder / "transcript.keep").mkdir()
    with pytest.raises(EnvironmentFailure):
        bench.start("true")


def test_starting_is_quick(bench: Bench) -> None:
    started = time.monotonic()
    bench.start("true")
    assert time.monotonic() - started < 2
    bench.finish()
