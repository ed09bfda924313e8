"""`recall-tui` typed into a shell in tmux, on a real repository with real agents: at the smallest size that people
have, and its main story also at a usual one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall.domain.run import RunResult
from tests.e2e.test_conflicts_are_settled_by_a_person import MEET, PERSON
from tests.support.tmux import Tmux, tmux
from tests.support.workshop import Workshop, eventually

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


@pytest.fixture
def busy(tmp_path: Path, home: Path) -> Workshop:
    """A project whose agent works until a file `go` appears beside it."""
    shop = Workshop.create(tmp_path)
    go = tmp_path / "go"
    shop.agent("ant", f'echo started; while [ ! -e {go} ]; do sleep 0.1; done; echo "$TASK" > "$TASK.txt"; success')
    shop.tasks("## T-1 First", "## T-2 Second\n- after: T-1")
    shop.settle()
    return shop


@pytest.fixture
def met(tmp_path: Path, home: Path) -> Workshop:
    """T-1 has landed, T-2 waits in conflict with it, nobody dispatches."""
    shop = Workshop.create(tmp_path, verify="grep -q hello README.md")
    shop.extra = PERSON
    names = f'GATE="{tmp_path / "gate"}"; ROOT="{shop.repo.path}"; BASE=$(git rev-parse HEAD)\n'
    for name in ("ant", "bee"):
        shop.agent(name, names + MEET)
    shop.tasks("## T-1 Parse the config", "## T-2 Validate input")
    shop.settle()
    assert shop.dispatch().returncode == 1
    return shop


@pytest.fixture
def program(tmp_path: Path) -> str:
    """What a person types to start it."""
    script = tmp_path / "tui"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -c "from recall.cli.tui import main; main()"\n')
    script.chmod(0o755)
    return str(script)


@pytest.fixture
def terminal(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Tmux]:
    shop: Workshop = request.getfixturevalue("met" if "met" in request.fixturenames else "busy")
    with tmux(tmp_path, shop.repo.path, size=getattr(request, "param", (80, 24))) as started:
        yield started


def _state(shop: Workshop, id_: str) -> str:
    return shop.look()[id_].state.value


def _at_work(terminal: Tmux, program: str) -> None:
    """Start the program and wait until its screen shows an agent at work."""
    terminal.types(program, "Enter").shows("T-1", "dispatching", "Running")


def _leave(terminal: Tmux, way: str = "") -> None:
    terminal.types("q")
    if way:
        terminal.shows("Still at work").types(way)
    terminal.is_back()


@pytest.mark.parametrize("terminal", [(80, 24), (120, 40)], ids=["80x24", "120x40"], indirect=True)
def test_it_starts_and_its_agents_work_and_land(terminal: Tmux, busy: Workshop, program: str, tmp_path: Path) -> None:
    _at_work(terminal, program)
    (tmp_path / "go").touch()
    eventually(lambda: {"T-1.txt", "T-2.txt"} <= busy.on_main())
    terminal.shows("Done")
    _leave(terminal)


def test_a_pause_lets_nothing_start_until_it_is_lifted(
    terminal: Tmux, busy: Workshop, program: str, tmp_path: Path
) -> None:
    _at_work(terminal, program)
    terminal.types("P").shows("paused")
    (tmp_path / "go").touch()
    eventually(lambda: _state(busy, "T-1") == "done")
    terminal.shows("Ready")
    assert _state(busy, "T-2") == "todo"
    terminal.types("P").hides("paused")
    eventually(lambda: _state(busy, "T-2") == "done")
    _leave(terminal)


def test_a_conflict_is_decided_with_keys_verified_and_lands_on_main(
    terminal: Tmux, met: Workshop, program: str
) -> None:
    terminal.types(program, "Enter").shows("T-2", "dispatching", "conflict with T-1")
    terminal.types("n").types("c").shows("CONFLICT", "0 of 1 decided")
    terminal.types("3").shows("1 of 1 decided")
    terminal.types("a")
    eventually(lambda: _state(met, "T-2") == "done")
    assert met.repo.file("README.md").decode().splitlines() == ["T-1 hello", "T-2 hello"]
    assert [run.result for run in met.runs()] == [RunResult.LANDED, RunResult.LANDED]
    terminal.shows("Done")
    _leave(terminal)


def test_a_task_is_requeued_and_goes_out_again(terminal: Tmux, met: Workshop, program: str) -> None:
    terminal.types(program, "Enter").shows("T-2", "dispatching", "conflict with T-1")
    terminal.types("n").types("r").shows("Start T-2 again from main").types("y")
    eventually(lambda: len(met.runs()) == 3)
    eventually(lambda: _state(met, "T-2") == "done")
    assert met.runs()[-1].result is RunResult.LANDED
    terminal.hides("conflict with T-1")
    _leave(terminal)


def test_leaving_lets_runs_go_on_and_the_next_start_adopts_them(
    terminal: Tmux, busy: Workshop, program: str, tmp_path: Path
) -> None:
    _at_work(terminal, program)
    _leave(terminal, "1")
    assert _state(busy, "T-1") == "in_progress"
    assert busy.strays(), "the agent was stopped"
    terminal.types("clear", "Enter").is_back()
    _at_work(terminal, program)
    (tmp_path / "go").touch()
    eventually(lambda: _state(busy, "T-2") == "done")
    assert [(run.task, run.result) for run in busy.runs()] == [("T-1", RunResult.LANDED), ("T-2", RunResult.LANDED)]
    _leave(terminal)


def test_the_terminal_is_afterwards_as_it_was(terminal: Tmux, busy: Workshop, program: str, tmp_path: Path) -> None:
    lines, modes = terminal.lines(tmp_path / "before"), terminal.modes
    terminal.types("echo what stood there", "Enter").shows("what stood there")
    _at_work(terminal, program)
    terminal.hides("what stood there")
    assert terminal.modes != modes, "the program has the terminal"
    _leave(terminal, "3")
    terminal.shows("what stood there").hides("dispatching")
    assert (terminal.lines(tmp_path / "after"), terminal.modes) == (lines, modes)
