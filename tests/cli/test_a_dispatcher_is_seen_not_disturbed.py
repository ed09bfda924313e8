"""`recall status` tells whether a dispatcher runs by looking at the kernel's list of locks."""

from __future__ import annotations

from pathlib import Path

from recall.system import Held, hold, is_held


def test_a_held_lock_is_seen(tmp_path: Path) -> None:
    assert not is_held(tmp_path / "dispatcher.lock")
    held = hold(tmp_path / "dispatcher.lock")
    assert isinstance(held, Held)
    assert is_held(tmp_path / "dispatcher.lock")
    held.close()
    assert not is_held(tmp_path / "dispatcher.lock")


def test_a_machine_without_the_list_shows_none(tmp_path: Path) -> None:
    (tmp_path / "dispatcher.lock").touch()
    assert not is_held(tmp_path / "dispatcher.lock", tmp_path / "locks")


def test_one_that_only_waits_is_none(tmp_path: Path) -> None:
    (tmp_path / "dispatcher.lock").touch()
    inode = (tmp_path / "dispatcher.lock").stat().st_ino
    (tmp_path / "locks").write_text(f"1: -> FLOCK  ADVISORY  WRITE 708 00:13:{inode} 0 EOF\n")
    assert not is_held(tmp_path / "dispatcher.lock", tmp_path / "locks")
