"""Limits end a run that takes too long or hangs, and never one that works or was only asleep."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tests.agents.bench import Bench, alive


def test_the_time_limit_ends_a_run(bench: Bench) -> None:
    record = bench.run("sleep 60", timeout=0.4)
    assert (record.stopped, record.signal) == ("timeout", 15)
    assert 0.3 < record.ended_at - record.started_at < 4


@pytest.mark.parametrize("idle", ["sleep 60", "while :; do sleep 0.3; done", "read line < pipe", "sleep 60 & wait"])
def test_silence_is_a_stall(bench: Bench, idle: str) -> None:
    os.mkfifo(bench.tree / "pipe")
    record = bench.run(idle, stall=1.0)
    assert record.stopped == "stall"


@pytest.mark.parametrize(
    "work",
    [
        "while [ $i -lt 40 ]; do i=$((i+1)); echo $i; sleep 0.05; done",
        "timeout 2 sh -c 'while :; do :; done' >/dev/null",
        "(timeout 2 sh -c 'while :; do :; done'); true",
        "while [ $i -lt 8 ]; do i=$((i+1)); echo x > file$i; sleep 0.25; done",
        "dd if=/dev/zero bs=64k count=100 2>/dev/null | (while dd of=/dev/null bs=64k count=10 2>/dev/null; do "
        "[ $i -lt 8 ] || break; i=$((i+1)); sleep 0.25; done)",
    ],
    ids=["output", "cpu", "cpu of a child", "files", "transfer"],
)
def test_work_is_no_stall(bench: Bench, work: str) -> None:
    record = bench.run(f"i=0; {work}", stall=1.0)
    assert record.stopped is None


def test_a_heartbeat_keeps_a_silent_agent_alive(bench: Bench) -> None:
    beat = bench.report.replace(" outcome ", " heartbeat ")
    record = bench.run(f"for i in 1 2 3 4; do sleep 0.5; {beat} > /dev/null; done; exit 0", stall=1.2)
    assert record.stopped is None
    assert record.report is None


def test_a_shim_that_was_stopped_takes_its_pause_for_no_hang(bench: Bench) -> None:
    pid = bench.start("echo $$ > pid; sleep 60", stall=2.5, timeout=3.0)
    agent = int(bench.wait_for("pid"))
    os.kill(pid, signal.SIGSTOP)
    time.sleep(3.2)  # the pause itself is what is tested
    os.kill(pid, signal.SIGCONT)
    time.sleep(0.5)
    assert bench.runner.status(bench.folder).live
    assert alive(agent)
    assert bench.finish().stopped in {"stall", "timeout"}


def test_an_agent_that_stays_after_its_report_is_ended_and_its_report_counts(bench: Bench) -> None:
    record = bench.run(f"{bench.report} --summary good; sleep 60", after_report=0.4)
    assert record.stopped == "after_report"
    assert record.report is not None
    assert record.report.result == "success"


def test_an_agent_that_ends_by_itself_after_its_report_was_not_stopped(bench: Bench) -> None:
    record = bench.run(f"{bench.report}; sleep 0.3; exit 0", after_report=5.0)
    assert (record.status, record.stopped) == (0, None)


def test_a_bare_term_means_that_the_machine_goes_down(bench: Bench) -> None:
    pid = bench.start("echo up > up; sleep 60")
    bench.wait_for("up")
    os.kill(pid, signal.SIGTERM)
    assert bench.finish().stopped == "shutdown"


def test_waiting_costs_next_to_nothing(bench: Bench) -> None:
    pid = bench.start("echo up > up; sleep 60", stall=60.0)
    bench.wait_for("up")

    def used() -> float:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    before = used()
    time.sleep(2)
    assert used() - before < 0.15
