"""A conflict is opened in an editor, a merge tool and a shell of the person's own, and what was made of it there
comes back to the workbench."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from recall.domain.merge import MergeState
from recall.ui.app import RecallApp
from recall.ui.external import edit_at
from recall.ui.session import open_session
from tests.cli.conflict_ground import Files, Ground, meeting
from tests.support.driver import Driver, driving
from tests.support.kept import Kept

pytestmark = pytest.mark.timeout(120)

LINES = "".join(f"line {number}\n" for number in range(1, 31))


def edited(text: str, **lines: str) -> str:
    for name, new in lines.items():
        text = text.replace(f"line {name[1:]}\n", f"{new}\n")
    return text


BEFORE: Files = {"src/x": LINES, "pic": b"\0before"}
MAIN: Files = {"src/x": edited(LINES, l5="main 5", l20="main 20"), "pic": b"\0main"}
TASK: Files = {"src/x": edited(LINES, l5="task 5", l20="task 20"), "pic": b"\0task"}


@pytest.fixture
def met(kept: Kept, home: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    """T-2 is in conflict with T-1, which has landed: `src/x` has two hunks, `pic` none."""
    ground = meeting(kept, "two-hunks-and-a-picture", MAIN, TASK, BEFORE)
    monkeypatch.chdir(ground.repo.path)
    return ground


@pytest.fixture
def bench(met: Ground) -> Generator[Driver]:
    """The workbench on the first hunk of `src/x`."""
    with open_session(met.repo.path) as session, driving(session) as recall:
        recall.needs.shows("T-2", "conflict with T-1")
        recall.board.select("T-2").press("conflict")
        recall.screen.shows("CONFLICT")
        recall.keys("J")
        recall.screen.shows("src/x  file 2/2 · hunk 1/2 · 0 of 3 decided")
        yield recall


@pytest.fixture
def at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The screen can step aside, as it can in a real terminal."""

    def suspend(_: RecallApp) -> AbstractContextManager[None]:
        return nullcontext()

    monkeypatch.setattr(RecallApp, "suspend", suspend)


def program(folder: Path, name: str, script: str) -> Path:
    """A program that says on its standard error nothing, and notes what it was called with."""
    path = folder / name
    path.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{folder}/{name}.called"\n{script}\n')
    path.chmod(0o755)
    return path


def called(folder: Path, name: str) -> list[str]:
    return (folder / f"{name}.called").read_text().splitlines()


RESOLVE = """\
for file; do :; done
sed -e '/^<<<<<<< /,/^=======$/d' -e '/^>>>>>>> /d' "$file" > "$file.new" && mv "$file.new" "$file\""""


@pytest.mark.usefixtures("at_a_terminal")
def test_an_editor_opens_at_the_hunk_and_what_is_saved_is_the_result(
    met: Ground, bench: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", str(program(tmp_path, "vim", RESOLVE)))
    bench.keys("j", "o").says("taken over: src/x")
    assert called(tmp_path, "vim") == ["+26", "src/x"]
    bench.screen.shows("2 of 3 decided", "result: task")
    bench.keys("k").screen.shows("result: task", "task 5")
    bench.keys("K", "1", "a").says("T-2 is resolved")
    assert met.entry().state is MergeState.QUEUED
    met.step()
    assert met.repo.file("src/x", "main").decode() == TASK["src/x"]
    assert met.repo.file("pic", "main") == b"\0main"
    assert not (met.repo.path / ".recall" / "conflicts").exists() or not list(
        (met.repo.path / ".recall" / "conflicts").iterdir()
    )


@pytest.mark.usefixtures("at_a_terminal")
def test_a_marker_that_is_left_is_said_and_nothing_is_taken(
    bench: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", str(program(tmp_path, "ed", 'sed -i s/task.5/mine/ "$1"')))
    bench.keys("o").says("nothing was taken over: src/x:5: a conflict marker is left")
    bench.screen.shows("0 of 3 decided")
    assert called(tmp_path, "ed") == ["src/x"]


@pytest.mark.usefixtures("at_a_terminal")
def test_what_is_decided_is_in_the_file_and_what_was_typed_there_is_not_written_over(
    met: Ground, bench: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        "VISUAL", str(program(tmp_path, "ed", f'cp "$1" "{tmp_path}/seen"; sed -i s/task.20/mine/ "$1"'))
    )
    bench.keys("2", "o").says("a conflict marker is left")
    seen = (tmp_path / "seen").read_text()
    assert "<<<<<<< main (T-1)\nmain 20" in seen
    assert "main 5" not in seen
    bench.keys("1", "o")
    bench.wait(lambda: "task 5\n" in (tmp_path / "seen").read_text() and "mine" in (tmp_path / "seen").read_text())
    assert met.entry().state is MergeState.CONFLICT


@pytest.mark.usefixtures("at_a_terminal")
def test_a_change_beside_the_hunks_makes_it_the_whole_files_result(
    met: Ground, bench: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = f"{RESOLVE}\nsed -i 's/line 10/ten/' \"$file\""
    monkeypatch.setenv("VISUAL", str(program(tmp_path, "ed", script)))
    bench.keys("o").says("taken over: src/x")
    bench.screen.shows("edited, the whole file")
    bench.keys("K", "2", "a").says("T-2 is resolved")
    met.step()
    assert "ten\n" in met.repo.file("src/x", "main").decode()


@pytest.mark.usefixtures("at_a_terminal")
def test_a_merge_tool_is_the_one_of_the_persons_git(bench: Driver, tmp_path: Path, met: Ground) -> None:
    bench.keys("t").says("your git has no merge tool: `git config --global merge.tool")
    tool = program(tmp_path, "tool", 'cat "$1" > "$2"')
    for key, value in (("merge.tool", "mine"), ("mergetool.mine.trustExitCode", "true")):
        met.repo.git("config", "--global", key, value)
    met.repo.git("config", "--global", "mergetool.mine.cmd", f'"{tool}" "$REMOTE" "$MERGED"')
    bench.keys("t").says("taken over: src/x")
    bench.screen.shows("result: task", "2 of 3 decided")
    assert called(tmp_path, "tool")[1] == "src/x"


@pytest.mark.usefixtures("at_a_terminal")
def test_a_shell_settles_files_without_lines_and_the_whole_folder_can_be_taken(
    met: Ground, bench: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "mv pic~task pic; rm pic~main; printf 'mine\\n' > src/x; echo more > extra"
    monkeypatch.setenv("SHELL", str(program(tmp_path, "sh", script)))
    bench.keys("exclamation_mark").says("taken over: pic, src/x").says(
        "also changed: extra. c takes the whole folder"
    )
    bench.screen.shows("3 of 3 decided")
    bench.keys("c")
    bench.screen.shows("Take the folder over as it is")
    bench.keys("enter").says("T-2 is resolved")
    met.step()
    files = {path: met.repo.file(path, "main") for path in ("pic", "src/x", "extra")}
    assert files == {"pic": b"\0task", "src/x": b"mine\n", "extra": b"more\n"}


def test_where_the_screen_cannot_step_aside_it_says_what_to_run_and_reads_it_back(
    met: Ground, bench: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", "nano -w")
    bench.keys("o")
    folder = met.repo.path / ".recall" / "conflicts" / f"T-2-{met.entry().id}"
    bench.screen.shows("run this in a terminal, then r reads it back", "nano -w +5 src/x")
    assert met.repo.status() == []
    (folder / "src" / "x").write_text(edited(LINES, l5="mine", l20="mine too"))
    bench.keys("r").says("taken over: src/x")
    bench.screen.shows("2 of 3 decided", "result: edited").hides("run this in a terminal")


@pytest.mark.usefixtures("at_a_terminal")
def test_a_program_that_is_not_there_is_said(bench: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "/no/such/editor")
    bench.keys("o").says("/no/such/editor could not be started")
    bench.screen.shows("0 of 3 decided")


@pytest.mark.usefixtures("at_a_terminal")
def test_changes_that_were_not_read_back_are_left_where_they_are(
    met: Ground, bench: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", str(program(tmp_path, "sh", "true")))
    bench.keys("exclamation_mark").says("nothing was taken over")
    folder = met.repo.path / ".recall" / "conflicts" / f"T-2-{met.entry().id}"
    (folder / "later").write_text("mine\n")
    bench.keys("2", "j", "1", "K", "2", "a").says("T-2 is resolved", "is left, with changes that were not read back")
    assert (folder / "later").exists()


@pytest.mark.parametrize(
    ("editor", "wanted"),
    [
        (["vi"], ["vi", "+7", "a b.py"]),
        (["/usr/bin/nvim", "-R"], ["/usr/bin/nvim", "-R", "+7", "a b.py"]),
        (["hx"], ["hx", "a b.py:7"]),
        (["code", "--wait"], ["code", "--wait", "--goto", "a b.py:7"]),
        (["unheard-of"], ["unheard-of", "a b.py"]),
    ],
)
def test_the_line_is_given_the_way_the_editor_takes_it(editor: list[str], wanted: list[str]) -> None:
    assert edit_at(editor, "a b.py", 7) == wanted


def test_a_file_is_never_taken_for_an_option() -> None:
    assert edit_at(["vi"], "-c!sh", 1) == ["vi", "+1", "./-c!sh"]
    assert edit_at(["odd"], "+1", 1) == ["odd", "./+1"]
