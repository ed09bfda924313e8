"""Trouble that stays fills no log, and room on a disk is asked of every disk that work needs."""

from __future__ import annotations

from pathlib import Path

from recall.engine.ground import Ground
from recall.engine.trouble import TroubleTeller
from tests.support.clock import FakeClock

MIB = 1024 * 1024


def test_the_same_sentence_comes_once_a_minute() -> None:
    told, clock = list[str](), FakeClock()
    tell = TroubleTeller(told.append, clock)
    for _ in range(3):
        tell("the disk is full")
        tell("git is away")
        clock.advance(25)
    assert told == ["the disk is full", "git is away"]
    clock.advance(25)
    tell("the disk is full")
    assert told == ["the disk is full", "git is away", "the disk is full"]


def test_sentences_that_never_come_back_are_forgotten() -> None:
    told = list[str]()
    tell = TroubleTeller(told.append, FakeClock())
    for number in range(1000):
        tell(f"run {number} failed")
    assert len(told) == 1000


def test_the_first_disk_with_too_little_room_is_named() -> None:
    room = {Path("/state"): 100 * MIB, Path("/work"): 64 * MIB - 1}
    ground = Ground(tuple(room), 64 * MIB, room.__getitem__)
    assert ground.shortage() == "less than 64 MiB is free on the disk of /work; free some space"
    room[Path("/work")] += 1
    assert ground.shortage() == ""


def test_nothing_is_asked_when_the_mark_is_switched_off() -> None:
    assert Ground((Path("/state"),), 0, lambda _: 0).shortage() == ""
