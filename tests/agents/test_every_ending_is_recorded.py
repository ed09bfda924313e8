"""How an agent ended stands in `exit.json`, with what it said and what it did kept apart."""

from __future__ import annotations

import json
import os
import stat

import pytest

from recall.domain.errors import EnvironmentFailure
from tests.agents.bench import TOKEN, Bench, wait_until


@pytest.mark.parametrize("status", [0, 1, 3, 255])
def test_its_exit_status(bench: Bench, status: int) -> None:
    record = bench.run(f"exit {status}")
    assert (record.status, record.signal, record.stopped, record.error) == (status, None, None, "")
    assert 0 < record.started_at <= record.ended_at


def test_its_killing_for_memory(bench: Bench) -> None:
    record = bench.run("echo leftover > file; kill -9 $$")
    assert (record.status, record.signal, record.stopped) == (None, 9, None)
    assert (bench.tree / "file").exists()


def test_a_good_report_and_a_bad_exit_both(bench: Bench) -> None:
    record = bench.run(f"{bench.report} --result success --summary fine; exit 1")
    assert record.status == 1
    assert record.report is not None
    assert (record.report.result, record.report.summary) == ("success", "fine")


@pytest.mark.parametrize("argv", ["/nowhere/agent", "no-such-agent-anywhere", "/etc/passwd"])
def test_that_it_could_not_be_started(bench: Bench, argv: str) -> None:
    record = bench.run("", argv=(argv,), shell=False)
    assert (record.status, record.signal) == (None, None)
    assert argv in record.error


def test_that_the_workspace_does_not_have_it(bench: Bench) -> None:
    assert "commit it on main" in bench.run("", argv=("./agent.sh",), shell=False).error
    (bench.tree / "agent.sh").write_text("#!/bin/sh\n")
    assert "commit it" not in bench.run("", argv=("./agent.sh",), shell=False).error, "it is there, but no program"


def test_that_its_folder_is_not_there(bench: Bench) -> None:
    record = bench.run("true", cwd=bench.tree / "gone")
    assert record.status is None
    assert "gone" in record.error


def test_the_run_is_live_from_the_start_to_the_record(bench: Bench) -> None:
    pid = bench.start("while [ ! -e go ]; do sleep 0.02; done")
    status = bench.runner.status(bench.folder)
    assert (status.live, status.exit, status.pid) == (True, None, pid)
    (bench.tree / "go").touch()
    assert bench.finish().status == 0


def test_a_descriptor_tells_of_the_end(bench: Bench) -> None:
    import select

    bench.start("while [ ! -e go ]; do sleep 0.02; done")
    handle = bench.runner.pidfd(bench.folder)
    assert handle is not None
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    assert poll.poll(0) == []
    (bench.tree / "go").touch()
    assert poll.poll(10_000)
    os.close(handle)
    assert not bench.runner.status(bench.folder).live
    assert bench.runner.pidfd(bench.folder) is None


def test_a_folder_is_used_again_only_when_its_run_is_over(bench: Bench) -> None:
    bench.start("while [ ! -e go ]; do sleep 0.02; done; echo first; exit 3")
    with pytest.raises(EnvironmentFailure, match="under way already"):
        bench.start("true")
    (bench.tree / "go").touch()
    assert bench.finish().status == 3
    assert bench.run("echo second").status == 0
    assert bench.output() == b"second\n"


def test_a_stop_wish_for_an_earlier_run_does_not_stop_the_next(bench: Bench) -> None:
    bench.start("sleep 60")
    bench.runner.stop(bench.folder, "cancel")
    bench.finish()
    bench.runner.stop(bench.folder, "cancel")
    assert bench.run("exit 0").stopped is None


def test_what_others_must_not_read_is_private(bench: Bench) -> None:
    bench.run("true", prompt="secret", prompt_mode="stdin")
    assert stat.S_IMODE(bench.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((bench.slot / "run.json").stat().st_mode) == 0o400
    kept = {path.name: stat.S_IMODE(path.stat().st_mode) for path in bench.folder.iterdir()}
    assert set(kept.values()) == {0o600}, kept
    assert stat.S_IMODE(bench.slot.stat().st_mode) == 0o700
    assert stat.S_IMODE((bench.slot / "closed.json").stat().st_mode) == 0o600


def test_the_agent_gets_its_environment_and_little_else(bench: Bench) -> None:
    bench.run("env")
    names = {line.partition("=")[0] for line in bench.output().decode().splitlines()}
    assert names <= {"PATH", "HOME", "PWD", "OLDPWD", "SHLVL", "_", "RECALL_RUN_ID", "RECALL_RUN_MARKER"}
    assert TOKEN.encode() not in bench.output()


def test_a_start_that_fails_says_why(bench: Bench) -> None:
    bench.folder.mkdir()
    (bench.folder / "lock").mkdir()
    with pytest.raises(EnvironmentFailure):
        bench.start("true")


def test_signals_that_its_starter_ignored_are_not_ignored_by_the_agent(bench: Bench) -> None:
    bench.run("grep SigIgn /proc/self/status")
    assert int(bench.output().split()[1], 16) & 0b11 == 0


def test_the_record_names_its_protocol(bench: Bench) -> None:
    bench.run("echo 12345")
    record = json.loads((bench.folder / "exit.json").read_text())
    assert (record["protocol"], record["run_id"], record["output"]) == (1, 7, 6)


def test_a_killed_shim_leaves_no_record(bench: Bench) -> None:
    pid = bench.start("sleep 60")
    os.kill(pid, 9)
    wait_until(lambda: not bench.runner.status(bench.folder).live, "the lock's release")
    assert bench.runner.status(bench.folder).exit is None
