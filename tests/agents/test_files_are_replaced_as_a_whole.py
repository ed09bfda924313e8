"""The function that replaces a file, and the shim's own: whole or not at all, durably, and never through a link."""

from __future__ import annotations

import json
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from recall.agents import shim
from recall.whole_files import replace_file, replacing
from tests.support.tools import need

Replace = Callable[[Path, str], None]


def by_the_shim(path: Path, text: str) -> None:
    shim.Draft(path).put(text, durable=True)


def by_the_package(path: Path, text: str) -> None:
    replace_file(path, json.dumps(text).encode())


#: What each of them is, as a program that writes the file of its argument twice.
_TWICE: dict[Replace, str] = {
    by_the_package: "from recall.whole_files import replace_file as put; [put(path, b'1') for _ in (1, 2)]",
    by_the_shim: "from recall.agents.shim import Draft; [Draft(path).put(1, durable=True) for _ in (1, 2)]",
}


@pytest.fixture(params=list(_TWICE), ids=["by_the_package", "by_the_shim"])
def replace(request: pytest.FixtureRequest) -> Replace:
    return request.param


def test_the_new_file_is_private_and_alone(replace: Replace, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("old")
    file.chmod(0o666)
    replace(file, "new")
    assert json.loads(file.read_text()) == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]


def test_nothing_is_written_through_a_planted_link(replace: Replace, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("kept")
    place = tmp_path / "place"
    place.mkdir()
    for name in ("file", ".file", "file.fresh", "file.tmp", ".file.tmp", "file.new", f"file.{'0' * 16}"):
        (place / name).symlink_to(mine)
    replace(place / "file", "new")
    assert mine.read_text() == "kept"
    assert not (place / "file").is_symlink()


def test_the_file_is_on_disk_before_its_name_and_the_name_before_the_end(replace: Replace, tmp_path: Path) -> None:
    told = tmp_path / "calls"
    code = f"import sys; from pathlib import Path; path = Path(sys.argv[1]); {_TWICE[replace]}"
    traced = [need("strace"), "-y", "-o", told, "-e", "trace=openat,fsync,rename,renameat,renameat2"]
    place = tmp_path / "place"
    place.mkdir()
    subprocess.run([*traced, sys.executable, "-c", code, place / "file"], check=True)
    calls = [line for line in told.read_text().splitlines() if str(place) in line and " = -1 " not in line]
    drafts = [match[1] for line in calls if (match := re.search(r'"(\.file\.[^"]+)", O_.*O_CREAT', line))]
    assert len(drafts) == 2
    assert drafts[0] != drafts[1], "the name of a draft cannot be known before"
    kinds = [_kind(line, place) for line in calls]
    assert kinds == ["open folder", "create", "sync draft", "rename", "sync folder"] * 2, calls


def _kind(call: str, place: Path) -> str:
    if "O_CREAT" in call:
        assert "O_EXCL" in call
        assert "O_NOFOLLOW" in call
        return "create"
    if call.startswith("fsync"):
        return "sync folder" if f"<{place}>)" in call else "sync draft"
    return "rename" if call.startswith("rename") else "open folder"


def test_what_fails_leaves_nothing(replace: Replace, tmp_path: Path) -> None:
    (tmp_path / "file" / "in it").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        replace(tmp_path / "file", "new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_draft_that_is_given_up_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("old")

    def fill_half() -> None:
        with replacing(file) as draft:
            draft.path.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fill_half()
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]
