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
    body = {name: member for name, member in vars(plan).items() if name not in (*names, "__dict__", "__weakref__")}
    write = _once(plan, names)
    late = {name: _Late(name, write) for name in _LATE if name not in body}
    return type(plan)(plan.__name__, plan.__bases__, {**late, **body, "__slots__": names})


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
