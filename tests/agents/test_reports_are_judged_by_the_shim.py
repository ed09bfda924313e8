"""A report counts when it is this run's, small, and a plain file; the agent is told, and all are recorded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recall.agents import shim
from recall.agents.mailbox import Accepted, Declined, Stored, open_reports, write_report
from recall.agents.shim import depth
from tests.agents.bench import REPORTS, TOKEN, Bench, wait_until

GOOD = {"token": TOKEN, "task": "T-1", "agent": "fake", "result": "success", "summary": "s", "question": ""}
WAITING = "while [ ! -e go ]; do sleep 0.02; done"


def answer(bench: Bench, name: str) -> dict[str, Any]:
    path = bench.slot / f"answer-{name}"
    wait_until(path.exists, f"the answer to {name}")
    return json.loads(path.read_text())


def drop(bench: Bench, data: bytes, name: str = "report-1-x.json") -> dict[str, Any]:
    folder = bench.tree / ".recall-run"
    (folder / "new").write_bytes(data)
    (folder / "new").rename(folder / name)
    return answer(bench, name)


def end(bench: Bench) -> Any:
    (bench.tree / "go").touch()
    return bench.finish()


def test_an_accepted_report_is_answered_and_recorded(bench: Bench) -> None:
    bench.start(WAITING)
    assert write_report(bench.box(), "success", summary="did it") == Accepted()
    record = end(bench)
    assert record.report is not None
    assert (record.report.result, record.report.summary) == ("success", "did it")
    assert record.refused_reports == ()


def test_a_report_in_the_first_moment_counts(bench: Bench) -> None:
    good = json.dumps(GOOD)
    record = bench.run(f"printf '%s' '{good}' > .recall-run/report-1-a.json")
    assert record.report is not None


def test_of_several_valid_reports_the_last_counts_and_all_are_kept(bench: Bench) -> None:
    bench.start(WAITING)
    box = bench.box()
    for result, text in (("failure", "no"), ("question", "which?"), ("success", "yes")):
        assert write_report(box, result, summary=text, question=text) == Accepted()
    refused = write_report(box, "success", task="T-2")
    assert isinstance(refused, Declined)
    assert not refused.over
    record = end(bench)
    assert record.report is not None
    assert (record.report.result, record.report.summary) == ("success", "yes")
    raw = json.loads((bench.folder / "exit.json").read_text())
    assert [one["result"] for one in raw["accepted"]] == ["failure", "question", "success"]
    assert len(record.refused_reports) == 1


def test_reports_of_one_look_count_in_their_order(bench: Bench) -> None:
    lines = [
        f"printf '%s' '{json.dumps({**GOOD, 'summary': str(number)})}' > .recall-run/report-{number}-{rest}.json"
        for number, rest in ((10, "a"), (9, "z"), (2, "q"))
    ]
    record = bench.run("; ".join(["kill -STOP $PPID", *lines, "kill -CONT $PPID"]))  # the shim looks once, afterwards
    assert record.report is not None
    assert record.report.summary == "10"


def test_a_report_written_bit_by_bit_counts_once_it_is_whole(bench: Bench) -> None:
    bench.start(WAITING)
    good = json.dumps(GOOD).encode()
    assert drop(bench, good[:20])["accepted"] is False
    (bench.tree / ".recall-run" / "report-1-x.json").write_bytes(good)
    wait_until(lambda: answer(bench, "report-1-x.json")["accepted"], "acceptance")
    assert end(bench).report is not None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[]", "not a JSON object"),
        (b"[" * 5000, "nested deeper"),
        (json.dumps({**GOOD, "summary": [[[[[[[[[]]]]]]]]]}).encode(), "nested deeper"),
        (json.dumps({**GOOD, "summary": "x" * 70_000}).encode(), "bytes; at most"),
        (json.dumps({**GOOD, "token": "another"}).encode(), "token"),
        (json.dumps({**GOOD, "token": "\ud800"}).encode(), "token"),
        (json.dumps({**GOOD, "token": 5}).encode(), "token"),
        (json.dumps({**GOOD, "task": "T-2"}).encode(), "another task"),
        (json.dumps({**GOOD, "task": None}).encode(), "another task"),
        (json.dumps({**GOOD, "result": "done"}).encode(), "result must be"),
        (json.dumps({**GOOD, "result": ["success"]}).encode(), "result must be"),
        (json.dumps({**GOOD, "summary": 5}).encode(), "must be text"),
        (json.dumps({**GOOD, "summary": None}).encode(), "must be text"),
        (b'{"token": ' + b"9" * 5000 + b"}", ""),
    ],
)
def test_hostile_reports_are_refused_with_the_reason(bench: Bench, data: bytes, reason: str) -> None:
    bench.start(WAITING)
    said = drop(bench, data)
    assert said["accepted"] is False
    assert reason in said["reason"]
    record = end(bench)
    assert record.report is None
    assert reason in record.refused_reports[0]


def link(folder: Path) -> None:
    target = folder.parent / "elsewhere.json"
    target.write_text(json.dumps(GOOD))
    (folder / "report-1-x.json").symlink_to(target)


def fifty_megabytes(folder: Path) -> None:
    with (folder / "new").open("wb") as file:
        file.truncate(50_000_000)
    (folder / "new").rename(folder / "report-1-x.json")


def pipe(folder: Path) -> None:
    os.mkfifo(folder / "report-1-x.json")


def a_folder(folder: Path) -> None:
    (folder / "report-1-x.json").mkdir()


def device(folder: Path) -> None:
    (folder / "report-1-x.json").symlink_to("/dev/zero")


@pytest.mark.parametrize("plant", [link, fifty_megabytes, pipe, a_folder, device])
def test_what_is_no_small_plain_file_is_not_read(bench: Bench, plant: Callable[[Path], object]) -> None:
    bench.start(WAITING)
    plant(bench.tree / ".recall-run")
    assert answer(bench, "report-1-x.json")["accepted"] is False
    assert end(bench).report is None


def test_a_linked_report_folder_is_not_followed(bench: Bench) -> None:
    bench.start(WAITING)
    real = bench.tree / ".recall-run"
    real.rename(bench.tree / "moved")
    real.symlink_to("moved")
    (real / "report-1-x.json").write_text(json.dumps(GOOD))
    assert end(bench).report is None


def test_a_flood_of_reports_is_bounded(bench: Bench) -> None:
    loop = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo x > .recall-run/report-$i-x.json; done"
    record = bench.run(loop)
    assert len(record.refused_reports) == 50
    assert (bench.folder / "exit.json").stat().st_size < 64_000


def test_long_texts_are_cut_not_refused(bench: Bench) -> None:
    bench.start(WAITING)
    assert write_report(bench.box(), "success", summary="\x01é\U0001f600\ud800" * 30_000) == Accepted()
    record = end(bench)
    assert 3000 < len(record.report.summary) <= 4096


def test_what_a_terminal_would_obey_is_dropped_from_the_record(bench: Bench) -> None:
    bench.start(WAITING)
    drop(bench, b"{", "report-1-\x1b[2J.json")
    assert write_report(bench.box(), "question", question="a\x1b]52;c;AAAA\x07b\x00c") == Accepted()
    record = end(bench)
    assert record.report.question == "abc"
    assert "\x1b" not in record.refused_reports[0]


def test_after_the_end_a_report_is_refused(bench: Bench) -> None:
    bench.run("true")
    said = write_report(bench.box(), "success")
    assert isinstance(said, Declined)
    assert said.over
    assert "has ended" in said.reason


def test_a_report_that_nobody_judges_is_stored(bench: Bench) -> None:
    pid = bench.start(WAITING)
    os.kill(pid, 19)
    said = write_report(bench.box(), "success", wait=0.2)
    assert isinstance(said, Stored)
    os.kill(pid, 18)
    assert end(bench).report is not None


def test_answers_and_reports_of_an_earlier_run_do_not_count(bench: Bench) -> None:
    bench.run(f"{bench.report} --summary old")
    bench.start(WAITING, token="another token")
    assert not (bench.slot / "closed.json").exists()
    assert write_report(bench.box(), "success", summary="new") == Accepted()
    record = end(bench)
    assert record.report.summary == "new"
    assert any("token" in reason for reason in record.refused_reports)


@pytest.mark.parametrize("planted", ["link", "file", "gone"])
def test_the_report_folder_is_made_anew_whatever_took_its_place(bench: Bench, planted: str) -> None:
    bench.start(WAITING)
    folder = bench.tree / ".recall-run"
    (folder / ".gitignore").unlink()
    folder.rmdir()
    if planted == "link":
        folder.symlink_to(bench.home)
    elif planted == "file":
        folder.write_text("in the way")
    assert write_report(bench.box(), "success") == Accepted()
    assert (folder / ".gitignore").read_text() == "*\n"
    assert not (bench.home / ".gitignore").exists()
    end(bench)


def test_the_report_folder_hides_itself_from_git(bench: Bench) -> None:
    subprocess.run(["git", "init", "-q", bench.tree], check=True)
    open_reports(bench.tree / ".recall-run")
    status = subprocess.run(
        ["git", "status", "--porcelain", "-uall"], cwd=bench.tree, capture_output=True, check=True
    )
    assert status.stdout == b""


@pytest.mark.parametrize("cleaning", ["git clean -qffdx", "git stash -qa"])
def test_reports_survive_that_git_takes_their_folder(bench: Bench, cleaning: str) -> None:
    make = (
        "git init -q . && git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m x && export "
        "GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.c GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.c"
    )
    record = bench.run(f"{make}; {cleaning}; [ ! -e .recall-run ] && {bench.report} --summary kept", timeout=10.0)
    assert b"accepted" in bench.output(), bench.output()
    assert record.report is not None


def test_a_report_works_in_a_bare_environment_from_another_folder(bench: Bench) -> None:
    record = bench.run(f"cd / && env -i {bench.report} --summary bare")
    assert record.report is not None
    assert record.report.summary == "bare"
    assert bench.output() == b"accepted\n"


def test_the_commands_exit_codes_tell_refusal(bench: Bench) -> None:
    bench.run(f"{bench.report} --task T-9; echo $?")
    assert bench.output() == b"refused: for another task; this run works on T-1\n1\n"


@pytest.mark.parametrize(
    ("text", "levels"),
    [("1", 0), ("[]", 1), ('{"a": [1, {"b": 2}]}', 3), ('"[[[["', 0), (r'["\"[[", "\\"]', 1), ("]]]][", 0)],
)
def test_depth_counts_brackets_outside_of_strings(text: str, levels: int) -> None:
    assert depth(text) == levels


#: In a process of its own: SIGIO goes to whichever thread lets it through.
_RING = """
import os, signal
from recall.agents.shim import Bell
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGIO])
bell = Bell()
for name in ("report-1-a.json", "report-1-b.json"):
    os.mkdir("reports")
    opened = os.open("reports", os.O_RDONLY)
    bell.hang(opened)
    bell.hang(opened)
    os.close(opened)
    open("reports/new", "w").close()
    os.rename("reports/new", f"reports/{name}")
    print(name, signal.sigtimedwait([signal.SIGIO], 5.0) is not None)
    os.rename("reports", f"old-{name}")
"""


def test_the_kernel_rings_when_a_report_comes_also_into_a_folder_made_anew(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _RING], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["report-1-a.json True", "report-1-b.json True"]


def test_the_shim_starts_with_little() -> None:
    heavy = {"pathlib", "dataclasses", "typing", "sqlite3", "ctypes", "hmac"}
    code = f"import shim; print({heavy} & set(sys.modules))"
    argv = [
        sys.executable,
        "-I",
        "-S",
        "-c",
        f"import sys; sys.path.append({str(Path(shim.__file__).parent)!r}); {code}",
    ]
    assert subprocess.run(argv, capture_output=True, check=True, text=True).stdout == "set()\n"


def test_the_report_command_starts_fast_and_light() -> None:
    code = "import sys, recall.agents.mailbox; print({'sqlite3', 'subprocess', 'textual'} & set(sys.modules))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert said.stdout == "set()\n"
    assert REPORTS.exists()
