"""`frozen` gives what `dataclass(frozen=True, slots=True)` gives; only later."""

from __future__ import annotations

import dataclasses
import inspect
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, dataclass, field
from threading import Barrier
from typing import Any

import pytest

from recall.domain.frozen import frozen


@frozen
class Point:
    """Has a doc."""

    x: int
    y: int = 2
    tags: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def sum(self) -> int:
        return self.x + self.y


@frozen
class Named(Point):
    name: str = "origin"


@dataclass(frozen=True, slots=True)
class Written:
    x: int
    y: int = 2


def unused() -> type[Any]:
    @frozen
    class Fresh:
        x: int
        y: int = 2
        tags: list[str] = field(default_factory=list[str])

    return Fresh


def test_defaults_and_factories_are_filled_in() -> None:
    fresh = unused()
    assert (fresh(1).y, fresh(1).tags) == (2, [])
    assert fresh(1).tags is not fresh(1).tags


def test_what_is_missing_or_too_much_is_refused() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        unused()()
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        unused()(1, z=3)


def test_equal_values_are_equal_and_print_what_they_hold() -> None:
    assert Point(1) == Point(1, 2, {})
    assert Point(1) != Point(2)
    assert Point(1) != Named(1)
    assert repr(Named(1, name="a")) == "Named(x=1, y=2, tags={}, name='a')"


def test_values_are_hashed_by_what_they_hold() -> None:
    @frozen
    class Key:
        a: int
        b: str = ""

    assert len({Key(1), Key(1), Key(2)}) == 2


def test_nothing_in_a_value_can_be_changed() -> None:
    point, name = Point(1), "x"
    with pytest.raises(FrozenInstanceError):
        setattr(point, name, 5)
    with pytest.raises(FrozenInstanceError):
        delattr(point, name)
    assert point.x == 1


def test_there_is_no_room_for_anything_else() -> None:
    assert not hasattr(Point(1), "__dict__")
    assert not hasattr(Named(1), "__dict__")


def test_the_tools_of_dataclasses_work_before_one_was_ever_made() -> None:
    assert [one.name for one in dataclasses.fields(unused())] == ["x", "y", "tags"]
    assert dataclasses.is_dataclass(unused())
    assert list(inspect.signature(unused()).parameters) == ["x", "y", "tags"]


def test_the_tools_of_dataclasses_work_on_values() -> None:
    assert dataclasses.replace(Named(1), x=7, name="b") == Named(7, name="b")
    assert dataclasses.asdict(Named(1)) == {"x": 1, "y": 2, "tags": {}, "name": "origin"}
    assert dataclasses.replace(Written(1), y=3) == Written(1, 3)


def test_a_value_can_be_taken_apart_by_position() -> None:
    match Named(1, 5, {}, "a"):
        case Named(x, y, _, name):
            assert (x, y, name) == (1, 5, "a")


def test_own_methods_stay() -> None:
    @frozen
    class Loud:
        x: int

        def __repr__(self) -> str:
            return "loud"

    assert (Point(1).sum, Point.__doc__, repr(Loud(1))) == (3, "Has a doc.", "loud")


def test_many_threads_may_make_the_first_one_at_once() -> None:
    fresh, start = unused(), Barrier(8)

    def make(number: int) -> Any:
        start.wait()
        return fresh(number, tags=["a"])

    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(make, range(8)))
    assert [one.x for one in made] == list(range(8))
    assert all(one.y == 2 for one in made)
