"""Whatever an agent starts is gone when its run is over, and the run is over when the agent is."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.agents.bench import Bench, alive

CASES: dict[str, dict[str, Any]] = {
    case["id"]: case
    for case in json.loads((Path(__file__).parent.parent / "cases" / "agent-behaviour.json").read_text())
}


def script(case: str) -> str:
    return str(CASES[case]["input"]["fake_agent_sh"])


def test_a_child_that_keeps_the_pipe_open_does_not_keep_the_run_open(bench: Bench) -> None:
    started = time.monotonic()
    record = bench.run(script("AG-001"))
    assert time.monotonic() - started < 5
    assert (record.status, record.strays) == (0, 1)
    assert bench.output() == b"finished\n"
    assert not bench.left()


def test_an_agent_that_ignores_term_is_killed_after_the_grace_and_timed_out(bench: Bench) -> None:
    record = bench.run(script("AG-003"), timeout=0.5)
    assert (record.signal, record.stopped, record.error) == (9, "timeout", "")
    assert not bench.left()


def test_a_group_is_ended_although_its_leader_died(bench: Bench) -> None:
    record = bench.run(script("AG-005"))
    assert (record.signal, record.stopped) == (9, None)
    assert record.strays >= 1
    assert not bench.left()


@pytest.mark.parametrize(
    "stray",
    [
        "setsid sleep 300 &",
        "(setsid sh -c 'sleep 300 & sleep 300' &) &",
        "setsid env -i sleep 300 &",
        "env -i sleep 300 &",
        "setsid sh -c 'trap \"\" TERM HUP; while :; do sleep 300; done' &",
        "sh -c 'kill -STOP $$' &",
    ],
)
def test_strays_are_found_wherever_they_went(bench: Bench, stray: str) -> None:
    record = bench.run(f"{stray}\nsleep 0.2; echo done")
    assert record.status == 0
    assert record.strays >= 1
    assert not bench.left()


def test_no_stray_of_an_emptied_environment_is_left(bench: Bench) -> None:
    bench.start("setsid env -i sh -c 'echo $$ > pid; exec sleep 300' & sleep 0.3; exit 0")
    stray = int(bench.wait_for("pid"))
    bench.finish()
    assert not alive(stray)


def test_processes_that_breed_are_ended_too(bench: Bench) -> None:
    record = bench.run("(trap '' TERM; while :; do (setsid sleep 300 &); sleep 0.02; done) & sleep 0.3; exit 4")
    assert record.status == 4
    assert not bench.left()


def test_a_cancelled_run_ends_at_once_with_all_it_started(bench: Bench) -> None:
    bench.start("setsid sleep 300 & sleep 300 & echo $! > pid; wait", grace=5.0)
    child = int(bench.wait_for("pid"))
    asked = time.monotonic()
    bench.runner.stop(bench.folder, "cancel")
    record = bench.finish()
    assert time.monotonic() - asked < 3
    assert (record.stopped, record.signal) == ("cancel", 15)
    assert not alive(child)
    assert not bench.left()


def test_an_agent_may_clean_up_within_the_grace(bench: Bench) -> None:
    bench.start("trap 'echo cleaned; exit 5' TERM; echo up > up; while :; do sleep 0.05; done", grace=10.0)
    bench.wait_for("up")
    bench.runner.stop(bench.folder, "cancel")
    record = bench.finish()
    assert (record.status, record.stopped) == (5, "cancel")
    assert bench.output().endswith(b"cleaned\n")


def test_a_terminal_cannot_be_reached(bench: Bench) -> None:
    record = bench.run(script("AG-015"), timeout=5.0)
    assert record.stopped is None
    assert b"/dev/tty" in bench.output()


@pytest.mark.parametrize(
    "case", ["AG-001", "AG-003", "AG-005", "AG-007", "AG-009", "AG-013", "AG-015", "AG-017", "AG-037"]
)
def test_whatever_an_agent_does_its_run_ends_with_a_record_and_nothing_is_left(bench: Bench, case: str) -> None:
    bench.run(script(case), timeout=0.8, transcript_cap=1 << 20)
    assert not bench.left()
    assert sum(path.stat().st_size for path in bench.folder.glob("transcript*")) <= 1 << 20
