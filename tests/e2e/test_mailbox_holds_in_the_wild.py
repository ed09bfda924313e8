"""The ways in which agents' shells, sandboxes and git commands get between an agent and its report: with the real
program, each report counts, or is refused with the reason."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from recall.domain.run import RunResult, RunState
from recall.domain.task import TaskState
from tests.support.overheard import Overheard
from tests.support.workshop import Workshop, eventually

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

WORK = 'echo "$TASK" > "$TASK.txt"; commit "$TASK: write"; '

#: Each leaves a report that counts. `SLOT` is the folder that the prompt names.
WAYS = {
    "T-1": ("at once, before anything else", "success; echo work > $TASK.txt"),
    "T-2": ("in an empty environment, from another folder", WORK + "cd /; env -i $REPORT --result success"),
    "T-3": ("after `git clean`", WORK + "git clean -q -fdx; success"),
    "T-4": (
        "after `git stash`",
        WORK + "echo more > more.txt; git -c user.name=A -c user.email=a@b.c stash -q -a; success; git stash drop -q",
    ),
    "T-5": ("twice, the last one good", WORK + "failure no; success"),
    "T-6": ("for another task first", WORK + "$REPORT --task T-99 --result success && exit 9; success"),
    "T-7": ("with a link first", WORK + "ln -s /etc/passwd .recall-run/report-1-link.json; success"),
    "T-8": ("through a folder made anew", WORK + "rm -rf .recall-run; touch .recall-run; success"),
    "T-9": (
        "from a sandbox that may write its work tree only",
        WORK + 'bwrap --ro-bind / / --dev /dev --proc /proc --bind "$PWD" "$PWD" --chdir / $REPORT --result success',
    ),
}


def branches(scripts: dict[str, str]) -> str:
    """One script that does for each task what is said for it."""
    return "case $TASK in\n" + "\n".join(f"{task}) {script};;" for task, script in scripts.items()) + "\nesac"


def settings(shop: Workshop, **lines: str) -> None:
    """Replace lines of recall.toml, by their key."""
    file = shop.repo.path / "recall.toml"
    text = file.read_text().splitlines()
    for key, value in lines.items():
        text = [f"{key} = {value}" if line.startswith(f"{key} =") else line for line in text]
    file.write_text("\n".join(text) + "\n")


def record(shop: Workshop, run_id: int) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((shop.state / "runs" / str(run_id) / "exit.json").read_text("utf-8"))
    return read


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Workshop:
    return Workshop.create(tmp_path / "shop")


def test_every_way_to_report_counts(shop: Workshop) -> None:
    ways = {task: script for task, (_, script) in WAYS.items() if task != "T-9" or may_sandbox()}
    script = branches(ways)
    for agent in ("ant", "bee", "cat"):
        shop.agent(agent, script)
    shop.tasks(*(f"## {task} {WAYS[task][0]}\n- attempts: 1" for task in ways))
    shop.settle()
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert {f"{task}.txt" for task in ways} <= shop.on_main()
    runs = {run.ref.id: run.id for run in shop.runs()}
    assert [report["result"] for report in record(shop, runs["T-5"])["accepted"]] == ["failure", "success"]
    assert any("for another task" in reason for reason in record(shop, runs["T-6"])["refused"])
    assert any("report-1-link.json: cannot be read" in reason for reason in record(shop, runs["T-7"])["refused"])


def may_sandbox() -> bool:
    """In CI a machine without bubblewrap is a fault."""
    return os.environ.get("CI") == "true" or shutil.which("bwrap") is not None


def test_a_report_without_a_dispatcher_counts_at_the_next_start(shop: Workshop) -> None:
    gate, told = shop.home / "gate", shop.home / "told"
    waits = f'touch started; until [ -e "{gate}" ]; do sleep 0.05; done; '
    shop.agent("ant", waits + WORK + f'success > "{told}" 2>&1')
    shop.tasks("## T-1 First")
    shop.settle()
    with shop.dispatching() as process:
        eventually(lambda: any((shop.repo.path / ".recall").glob("ws/*/tree/started")))
        process.kill()
        process.wait()
    gate.touch()
    eventually(lambda: told.exists() and told.read_text() == "accepted\n")
    eventually(lambda: shop.strays() == [])
    ended = shop.dispatch()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert [run.result for run in shop.runs()] == [RunResult.LANDED]


def test_a_stopped_run_that_lost_its_lease_can_write_nothing_any_more(shop: Workshop) -> None:
    """Its shim stands still until its lease is lost, is woken to be stopped, and reports while another run has the
    task."""
    told = shop.home / "told"
    reports_late = f"""trap '{{ success; echo $?; }} > "{told}" 2>&1; exit 1' TERM; while :; do sleep 0.05; done"""
    first = f'[ "$RECALL_RUN_ID" = 2 ] || {{ touch "{shop.home}/first"; {reports_late}; }}; '
    shop.agent("ant", first + WORK + "success")
    shop.tasks("## T-1 First")
    shop.settle()
    settings(shop, ttl='"1s"', heartbeat='"0.3s"', grace='"8s"')
    with shop.dispatching("--until-done") as process:
        dispatcher = Overheard(process)
        eventually((shop.home / "first").exists)
        shim = int(json.loads((shop.state / "runs" / "1" / "lock").read_text())["pid"])
        os.kill(shim, signal.SIGSTOP)
        assert dispatcher.ends() == 0
    assert shop.strays() == [], "its whole tree was stopped"
    assert told.read_text().splitlines()[-2:] == [
        "refused: the lease was lost; the task is no longer this run's",
        "11",
    ]
    lost, landed = shop.runs()
    assert (lost.state, lost.result, landed.result) == (RunState.SETTLED, RunResult.LEASE_LOST, RunResult.LANDED)
    assert lost.version < landed.version
    assert record(shop, 1)["stopped"] == "lease_lost"
    assert record(shop, 1)["accepted"] == []
    assert shop.repo.subjects("main").count("T-1: write") == 1
    assert shop.look()["T-1"].state is TaskState.DONE
