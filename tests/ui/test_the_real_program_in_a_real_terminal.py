"""`recall-tui` in a pseudo-terminal: what reaches the terminal, what it costs to stay open, how it is left."""

from __future__ import annotations

import re
import sys
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from recall.bootstrap import take_dispatcher_lock
from recall.domain.run import Claim
from tests.support.builders import spec
from tests.support.driver import Shop, shop_in
from tests.support.hermetic_git import Repo
from tests.support.terminal import Terminal, terminal
from tests.support.workshop import Workshop, eventually
from tests.widgets.stage import HOSTILE

TUI = [sys.executable, "-c", "from recall.cli.tui import main; main()"]
#: Sequences that Textual itself has no use for: titles, clipboard, links, reset, reports, C1 bytes.
_OBEYED = re.compile(
    rb"\x1b\](?:0|2|8|52);|\x1bc|\x1b\[6n|\xc2[\x80-\x9f]|[^\xc2-\xf4\x80-\xbf][\x80-\x9f]|\xe2\x80[\xaa-\xae]"
)


@contextmanager
def _viewing(
    shop: Shop, *, size: tuple[int, int] = (120, 40), env: Mapping[str, str] | None = None
) -> Generator[Terminal]:
    """Open the real program where another dispatcher works."""
    lock = take_dispatcher_lock(shop.session.location, shop.session.settings)
    with closing(lock), terminal(TUI, shop.repo.path, env=env, size=size) as screen:
        yield screen


def test_no_escape_sequence_of_outside_text_reaches_the_terminal(tmp_path: Path, home: Path) -> None:
    tasks = [spec(f"H-{number}", title=f"a{text}") for number, text in enumerate(HOSTILE)]
    with shop_in(tmp_path, *tasks) as shop:
        for number, text in enumerate(HOSTILE):
            shop.store.hold(shop.task(f"H-{number}").ref, actor="cli", reason=text)
        with _viewing(shop) as screen:
            screen.shows("H-0", "On hold", "viewing")
            screen.type("\r")
            screen.shows("Events")
            screen.type("qq")
            assert screen.ends() == 0
    found = _OBEYED.search(screen.output)
    assert found is None, bytes(screen.output[max(0, found.start() - 40) : found.end() + 10])


#: What is pressed in turn, what it has to show, and the key back.
_TOUR = [
    ("\r", "Events", "\x1b"),
    ("v", "", ""),
    ("v", "prerequisite", ""),
    ("v", "", ""),
    ("2", "bee", "1"),
    ("4", "", "1"),
    ("l", "", ""),
    ("x", "", "\x1b"),
    ("d", "its branch is gone", "\x1b"),
    ("y", "History", "\x1b"),
    ("A", "Record", "\x1b"),
    ("O", "Office", "\x1b"),
    (",", "Settings", "\x1b"),
    ("/", "", ""),
    ("a", "filter", "\x1b"),
    ("X", "", "\x1b"),
    (":", "Search for commands", "\x1b"),
]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
def test_no_escape_sequence_reaches_the_terminal_from_any_screen(
    tmp_path: Path, home: Path, size: tuple[int, int]
) -> None:
    """With a task whose title, body, agent's log, branch and reason are everything at once."""
    with shop_in(tmp_path, spec("H-1", title=f"a{_EVERYTHING}", body=_EVERYTHING)) as shop:
        _everything_at_work(shop)
        with _viewing(shop, size=size) as screen:
            screen.shows("H-1", "viewing", "Running")
            for key in "1nj":
                screen.type(key)
            for key, shown, back in _TOUR:
                screen.type(key)
                screen.shows(*([shown] if shown else [])).calms()
                if back:
                    screen.type(back)
                    screen.calms()
    found = _OBEYED.search(screen.output)
    assert found is None, bytes(screen.output[max(0, found.start() - 40) : found.end() + 10])


_EVERYTHING = " | ".join(HOSTILE)


def _everything_at_work(shop: Shop) -> None:
    claim = shop.store.claim(shop.task("H-1").ref, "bee", "bee-1", 1e6, why=_EVERYTHING)
    assert isinstance(claim, Claim)
    base, branch = shop.repo.tip(), f"recall/{_EVERYTHING}"
    shop.store.start_run(claim.run_id, claim.owner, claim.version, branch=branch, base=base, slot="s1")
    shop.store.pause_agent("ant", actor="cli", reason=_EVERYTHING)
    folder = shop.session.run_folder(claim.run_id)
    folder.mkdir(parents=True)
    (folder / "transcript").write_bytes("\n".join(HOSTILE).encode("utf-8", "surrogateescape") + b"\nlast line\n")


def test_a_second_screen_views_and_can_intervene(tmp_path: Path, home: Path) -> None:
    with shop_in(tmp_path, spec("T-1")) as shop, _viewing(shop) as screen:
        screen.shows("T-1", "viewing")
        screen.type("H")
        screen.shows("put on hold by you")
        screen.type("q")
        assert screen.ends() == 0


def test_an_open_screen_costs_next_to_nothing(tmp_path: Path, home: Path) -> None:
    with shop_in(tmp_path, *(spec(f"T-{number}") for number in range(200))) as shop, _viewing(shop) as screen:
        screen.shows("T-1", "viewing")
        screen.watch(1.0)
        before = screen.cpu_seconds()
        screen.watch(4.0)
        assert screen.cpu_seconds() - before < 4.0 * 0.05


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"LC_ALL": "C"}, {"TERM": "linux"}], ids=str)
def test_poor_terminals_are_served(tmp_path: Path, home: Path, env: dict[str, str]) -> None:
    with shop_in(tmp_path, spec("T-1")) as shop, _viewing(shop, env=env) as screen:
        screen.shows("T-1", "viewing")
        screen.type("q")
        assert screen.ends() == 0
        if "NO_COLOR" in env:
            colours = {found[1] for found in re.finditer(rb"38;2;(\d+;\d+;\d+)m", screen.output)}
            assert all(len(set(colour.split(b";"))) == 1 for colour in colours), colours


@pytest.fixture
def fresh(tmp_path: Path, home: Path) -> Path:
    """A repository that Recall was never used in."""
    repo = Repo.create(tmp_path / "fresh")
    repo.commit("start", {"README.md": "hello\n"})
    return repo.path


def test_a_first_start_sets_the_repository_up_and_starts_nothing(fresh: Path) -> None:
    with terminal(TUI, fresh) as screen:
        screen.shows("Set up", "recall.toml, as it will be written")
        screen.type("none")
        screen.shows("work would land without any check")
        screen.type("\x13")
        screen.shows("wrote recall.toml", "two example tasks", "T-1")
        screen.type("\r")
        screen.shows("2 Agents", "T-1")
        screen.type("q")
        assert screen.ends() == 0
    assert 'verify = "none"' in (fresh / "recall.toml").read_text()
    assert not list((fresh / ".recall" / "ws").glob("*"))


def test_a_first_start_that_is_left_leaves_no_trace(fresh: Path) -> None:
    before = sorted(fresh.rglob("*"))
    with terminal(TUI, fresh) as screen:
        screen.shows("Set up")
        screen.type("\x1b")
        assert screen.ends() == 0
        screen.shows("nothing was written")
    assert sorted(fresh.rglob("*")) == before


def test_outside_a_repository_the_terminal_stays_plain(tmp_path: Path, home: Path) -> None:
    with terminal(TUI, tmp_path) as screen:
        assert screen.ends() == 2
        screen.shows("git repository")
    assert b"\x1b[?1049h" not in screen.output


def test_a_list_without_tasks_leads_to_some(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\nprintf "# Tasks\\n\\n## T-1 Written just now\\n" > "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    with shop_in(tmp_path) as shop, _viewing(shop) as screen:
        screen.shows("There are no tasks yet")
        screen.type("\x1b")
        screen.shows("no tasks yet: e edits the task list")
    with shop_in(tmp_path / "again") as shop, _viewing(shop) as screen:
        screen.shows("There are no tasks yet")
        screen.type("e")
        screen.shows("Written just now")
        screen.type("\r")
        screen.shows("Ready")
        screen.shows("T-1 Written just now")


# -- leaving -------------------------------------------------------------------------------------------------------
@pytest.fixture
def busy(tmp_path: Path, home: Path) -> Workshop:
    """A project whose agent works until a file `go` appears beside it."""
    shop = Workshop.create(tmp_path)
    go = tmp_path / "go"
    shop.agent("ant", f'echo started; while [ ! -e {go} ]; do sleep 0.1; done; echo "$TASK" > "$TASK.txt"; success')
    shop.tasks("## T-1 First", "## T-2 Second\n- after: T-1")
    shop.settle()
    return shop


def _state(shop: Workshop, id_: str) -> str:
    return shop.look()[id_].state.value


def _at_work(screen: Terminal, shop: Workshop) -> None:
    screen.shows("T-1", "dispatching", "started")
    assert _state(shop, "T-1") == "in_progress"


@pytest.mark.e2e
def test_work_lands_while_the_screen_is_open(tmp_path: Path, busy: Workshop) -> None:
    (tmp_path / "go").touch()
    with terminal(TUI, busy.repo.path) as screen:
        screen.shows("dispatching", "2 done")
        screen.type("q")
        assert screen.ends() == 0
    assert {"T-1.txt", "T-2.txt"} <= busy.on_main()


@pytest.mark.e2e
def test_agents_can_be_left_working_and_the_next_start_adopts_them(tmp_path: Path, busy: Workshop) -> None:
    with terminal(TUI, busy.repo.path) as screen:
        _at_work(screen, busy)
        screen.type("q")
        screen.shows("Still at work: T-1 (ant)")
        screen.type("1")
        assert screen.ends() == 0
    assert _state(busy, "T-1") == "in_progress"
    assert busy.strays(), "the agent was stopped"
    (tmp_path / "go").touch()
    assert busy.dispatch().returncode == 0
    assert [run.result for run in busy.runs()] == ["landed", "landed"]
    assert [run.task for run in busy.runs()] == ["T-1", "T-2"]


@pytest.mark.e2e
def test_it_can_finish_what_runs_and_then_leave(tmp_path: Path, busy: Workshop) -> None:
    with terminal(TUI, busy.repo.path) as screen:
        _at_work(screen, busy)
        screen.type("q")
        screen.shows("Still at work")
        screen.type("2")
        screen.shows("draining")
        (tmp_path / "go").touch()
        assert screen.ends() == 0
    assert (_state(busy, "T-1"), _state(busy, "T-2")) == ("done", "todo")


@pytest.mark.e2e
@pytest.mark.parametrize("again", ["q", "\x11"], ids=["q", "ctrl+q"])
def test_asking_twice_to_quit_leaves_at_once_and_stops_nobody(busy: Workshop, again: str) -> None:
    with terminal(TUI, busy.repo.path) as screen:
        _at_work(screen, busy)
        screen.type("q")
        screen.shows("Still at work", "q again takes the first")
        screen.type(again)
        assert screen.ends() == 0
    assert _state(busy, "T-1") == "in_progress"
    assert busy.strays(), "the agent was stopped"


@pytest.mark.e2e
def test_who_waits_for_the_end_can_still_stop_what_runs(busy: Workshop) -> None:
    with terminal(TUI, busy.repo.path) as screen:
        _at_work(screen, busy)
        screen.type("q")
        screen.shows("3  stop them")
        screen.type("2")
        screen.shows("draining")
        screen.type("q")
        screen.shows("2  stop them")
        screen.type("2")
        assert screen.ends() == 0
    assert _state(busy, "T-1") == "todo"
    eventually(lambda: not busy.strays())


@pytest.mark.e2e
def test_it_can_stop_what_runs(busy: Workshop) -> None:
    with terminal(TUI, busy.repo.path) as screen:
        _at_work(screen, busy)
        screen.type("q")
        screen.shows("Still at work")
        screen.type("3")
        assert screen.ends() == 0
    assert _state(busy, "T-1") == "todo"
    eventually(lambda: not busy.strays())


@pytest.mark.e2e
def test_the_first_screen_s_end_is_seen_by_the_second_which_can_take_over(tmp_path: Path, busy: Workshop) -> None:
    with terminal(TUI, busy.repo.path) as first:
        _at_work(first, busy)
        with terminal(TUI, busy.repo.path) as second:
            second.shows("T-1", "viewing")
            first.type("q")
            first.shows("Still at work")
            first.type("1")
            assert first.ends() == 0
            second.shows("nobody dispatches, E takes over")
            second.type("E")
            second.shows("dispatching")
            (tmp_path / "go").touch()
            second.shows("2 done")
            second.type("q")
            assert second.ends() == 0


@pytest.mark.e2e
def test_a_rehearsal_on_the_screen_ends_with_what_happened(tmp_path: Path, home: Path) -> None:
    program = [sys.executable, "-m", "recall", "rehearse", "--dir", str(tmp_path / "stage")]
    with terminal(program, tmp_path) as screen:
        screen.shows("dispatching", "running", "otter")
        screen.type("q")
        screen.shows("Still at work", "1  finish", "2  stop")
        screen.type("2")
        assert screen.ends() == 1, "not everything was seen"
        screen.shows("every task landed: not seen", "task  agent")
