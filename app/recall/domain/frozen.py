"""Frozen dataclasses with slots that cost next to nothing until one is made.

`dataclass` compiles six methods for a class while its module is imported, half a millisecond for each class, and a
command imports far more classes than it uses. Here the class is there at once; `dataclass` writes its methods when
one of them is first looked for: what makes a value, and apart from it what compares and prints values.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")

_MAKING = (
    "__init__", "__setattr__", "__delattr__", "__replace__",
    "__dataclass_fields__", "__dataclass_params__", "__match_args__",
)  # fmt: skip
_LOOKING = ("__repr__", "__eq__", "__hash__")
_writing = threading.RLock()


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(plan: type[T]) -> type[T]:
    """What `dataclass(frozen=True, slots=True)` does, later. The class must not name itself by `super()`."""
    names = tuple(plan.__annotations__)
    members = {name: member for name, member in vars(plan).items() if name not in ("__dict__", "__weakref__")}

    def written(making: bool) -> type:
        fresh = type(plan)(plan.__name__, plan.__bases__, dict(members))
        return dataclass(frozen=True, init=making, repr=not making, eq=not making)(fresh)

    making, looking = _taking(_MAKING, lambda: written(True)), _taking(_LOOKING, lambda: written(False))
    late = {name: _Late(name, making) for name in _MAKING} | {name: _Late(name, looking) for name in _LOOKING}
    kept = {name: member for name, member in members.items() if name not in names}
    return type(plan)(plan.__name__, plan.__bases__, late | kept | {"__slots__": names})


class _Late:
    """Stands where a method will be, and has it written when somebody looks for it."""

    def __init__(self, name: str, take: Callable[[type], None]) -> None:
        self._name = name
        self._take = take

    def __set_name__(self, owner: type, _: str) -> None:
        self._owner = owner

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        self._take(self._owner)
        return getattr(owner if instance is None else instance, self._name)


def _taking(methods: tuple[str, ...], write: Callable[[], type]) -> Callable[[type], None]:
    """Give what puts the methods that `write` has written, once, in the places of those that are late."""
    taken = False

    def take(into: type) -> None:
        nonlocal taken
        with _writing:
            if taken:
                return
            written = vars(write())
            for name in methods:
                if not isinstance(vars(into).get(name), _Late):
                    continue
                if name in written:
                    setattr(into, name, written[name])
                else:
                    delattr(into, name)
            taken = True

    return take
