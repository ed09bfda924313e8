"""Sandbox level `user` around real processes: they work, report and end, and what they made is ours again."""

from __future__ import annotations

import os
import pwd
import shlex
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall.agents.other_user import account_of, open_way, seen_by
from recall.domain.launch import Fence, RunSpec
from recall.ownership import give_away, take_back
from tests.agents.bench import REPORTS, Bench
from tests.support.anybody import ANYBODY, copy_of_recall, open_place, python_for_anybody

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
NOBODY = pwd.getpwnam(ANYBODY)


class OtherBench(Bench):
    """A bench whose runs are those of another user."""

    def __init__(self, place: Path) -> None:
        super().__init__(place)
        self.program = copy_of_recall(place / "program")
        (place / "program" / REPORTS.name).write_bytes(REPORTS.read_bytes())
        words = [python_for_anybody(), place / "program" / REPORTS.name, "outcome", "--slot", self.slot]
        self.report = shlex.join(map(str, words))

    def spec(self, script: str, **more: object) -> RunSpec:
        fence = Fence("user", (), self.slot / "scratch", user=ANYBODY)
        env = {"PATH": os.environ["PATH"], "TMPDIR": str(fence.scratch), **self.program}
        return super().spec(script, **{"fence": fence, "env": env, **more})


@pytest.fixture
def bench() -> Iterator[OtherBench]:
    with open_place() as place:
        bench = OtherBench(place)
        yield bench
        bench.close()


def test_it_works_reports_and_hears_the_answer(bench: OtherBench) -> None:
    record = bench.run(f'id -un; echo kept > file; mktemp; cat ../prompt.md; {bench.report} || echo "exit $?"')
    said = bench.output().decode().splitlines()
    assert (record.report and record.report.result, record.refused_reports) == ("success", ())
    assert said[0] == ANYBODY
    assert said[1].startswith(str(bench.slot / "scratch"))
    assert said[-1] == "accepted"
    assert (bench.tree / "file").stat().st_uid == NOBODY.pw_uid


def test_its_output_can_be_opened_by_name(bench: OtherBench) -> None:
    bench.run("echo one > /dev/stdout; echo two > /dev/stderr")
    assert bench.output() == b"one\ntwo\n"


def test_it_has_none_of_our_groups_and_no_way_to_more_rights(bench: OtherBench) -> None:
    bench.run("id -G; grep NoNewPrivs /proc/self/status")
    groups, privileges = bench.output().decode().splitlines()
    assert set(map(int, groups.split())) == set(os.getgrouplist(ANYBODY, NOBODY.pw_gid))
    assert privileges.split() == ["NoNewPrivs:", "1"]


@pytest.mark.parametrize("secret", ["spec.json", "prompt.md", "fence.json", "transcript", "lock"])
def test_the_run_folder_is_not_its(bench: OtherBench, secret: str) -> None:
    bench.run(f"cat {bench.folder}/{secret} || echo closed")
    assert b"closed" in bench.output()


@pytest.mark.parametrize("name", ["run.json", "prompt.md", "new"])
def test_of_its_slot_it_writes_the_tree_alone(bench: OtherBench, name: str) -> None:
    bench.run("true")
    bench.run(
        f"echo forged > ../{name} || mv ../{name} ../away || echo refused", prompt="Do it.", prompt_mode="stdin"
    )
    assert b"refused" in bench.output()


@pytest.mark.parametrize(
    "stray", ["setsid sleep 300 &", "setsid env -i sleep 300 &", "(trap '' TERM; setsid sh -c 'sleep 300') &"]
)
def test_whatever_it_starts_ends_with_its_run(bench: OtherBench, stray: str) -> None:
    record = bench.run(f"{stray}\nsleep 0.2")
    assert record.strays >= 1
    assert record.error == ""
    assert bench.left() == []


def test_it_is_stopped_though_it_ignores_that(bench: OtherBench) -> None:
    bench.start("trap '' TERM; echo up > ready; while :; do sleep 60; done")
    bench.wait_for("ready")
    assert bench.runner.stop_and_wait(bench.folder, "cancel", 15)
    assert (bench.finish().stopped, bench.left()) == ("cancel", [])


def test_what_a_killed_shim_leaves_is_swept(bench: OtherBench) -> None:
    pid = bench.start("echo up > ready; sleep 300")
    bench.wait_for("ready")
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    assert bench.runner.sweep(bench.folder) >= 1
    assert bench.left() == []


def test_its_environment_is_that_of_its_user() -> None:
    mine = {"HOME": "/root", "USER": "root", "XDG_RUNTIME_DIR": "/run/user/0", "PATH": "/bin"}
    seen = seen_by(account_of(ANYBODY), mine)
    assert seen == {
        "PATH": "/bin", "HOME": NOBODY.pw_dir, "USER": ANYBODY, "LOGNAME": ANYBODY, "SHELL": NOBODY.pw_shell,
    }  # fmt: skip


def test_the_way_to_the_workspaces_is_opened_to_its_group_alone(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir(mode=0o700)
    open_way(account_of(ANYBODY), root)
    for folder in (root, root / "ws", root / "verify"):
        assert (folder.stat().st_gid, stat.S_IMODE(folder.stat().st_mode)) == (NOBODY.pw_gid, 0o710)
    root.chmod(0o755)
    open_way(account_of(ANYBODY), root)
    assert stat.S_IMODE(root.stat().st_mode) == 0o755


# -- giving and taking back ----------------------------------------------------------------------------------


def test_a_tree_is_given_whole_and_taken_back_whole(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "a/b").mkdir(parents=True)
    (tree / "a/b/file").write_text("x")
    (tree / "link").symlink_to("a")
    (tree / "a").chmod(0o777)
    give_away(tree, NOBODY.pw_uid, NOBODY.pw_gid)
    everything = [tree, *tree.rglob("*")]
    assert {path.lstat().st_uid for path in everything} == {NOBODY.pw_uid}
    take_back(tree, NOBODY.pw_uid)
    assert {(path.lstat().st_uid, path.lstat().st_gid) for path in everything} == {(os.geteuid(), os.getegid())}
    assert stat.S_IMODE((tree / "a").stat().st_mode) == 0o755, "what others may write is not ours"


def test_nothing_is_moved_through_a_link_or_another_name(tmp_path: Path) -> None:
    mine, folder, tree = tmp_path / "mine", tmp_path / "folder", tmp_path / "tree"
    folder.mkdir()
    tree.mkdir()
    for path in (mine, folder / "inner"):
        path.touch()
    (tree / "to file").symlink_to(mine)
    (tree / "to folder").symlink_to(folder)
    (tree / "same").hardlink_to(mine)
    give_away(tree, NOBODY.pw_uid, NOBODY.pw_gid)
    assert {path.stat().st_uid for path in (mine, folder, folder / "inner")} == {os.geteuid()}
    for path in (folder, folder / "inner"):
        os.chown(path, NOBODY.pw_uid, -1)
    take_back(tree, NOBODY.pw_uid)
    (tmp_path / "way").symlink_to(folder)
    take_back(tmp_path / "way", NOBODY.pw_uid)
    assert {path.stat().st_uid for path in (folder, folder / "inner")} == {NOBODY.pw_uid}


def test_a_file_that_its_user_has_under_another_name_too_is_taken_from_it(tmp_path: Path) -> None:
    tree, elsewhere = tmp_path / "tree", tmp_path / "elsewhere"
    tree.mkdir()
    elsewhere.touch()
    elsewhere.chmod(0o666)
    os.chown(elsewhere, NOBODY.pw_uid, -1)
    (tree / "same").hardlink_to(elsewhere)
    take_back(tree, NOBODY.pw_uid)
    assert (elsewhere.stat().st_uid, stat.S_IMODE(elsewhere.stat().st_mode)) == (os.geteuid(), 0o644)


def test_a_tree_of_any_depth_is_taken_back_without_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(1500):
        os.mkdir("deep")  # noqa: PTH102 - a path of that length has no name
        os.chdir("deep")
    os.chdir("/")
    try:
        take_back(tmp_path, NOBODY.pw_uid)
    finally:
        subprocess.run(["rm", "-rf", str(tmp_path / "deep")], check=True)  # too deep for pytest
