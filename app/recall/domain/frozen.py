"""Frozen dataclasses with slots that cost next to nothing until one is made.

`dataclass` compiles six methods for a class while its module is imported, half a millisecond for each class, and a
command imports far more classes than it uses. Here the class is there at once; `dataclass` writes its methods when one
of them is first looked for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")

_LATE = (
    "__init__", "__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__", "__replace__",
    "__dataclass_fields__", "__dataclass_params__", "__match_args__",
)  # fmt: skip
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

    def __init__(self, name: str, write: Callable[[type], None]) -> None:
        self._name = name
        self._write = write

    def __set_name__(self, owner: type, _: str) -> None:
        self._owner = owner

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        self._write(self._owner)
        return getattr(owner if instance is None else instance, self._name)


def _once(plan: type, names: tuple[str, ...]) -> Callable[[type], None]:
    """Give what lets `dataclass` write the methods into `plan`, which has no slots, and takes them from there."""
    written = False

    def write(into: type) -> None:
        nonlocal written
        with _writing:
            if written:
                return
            dataclass(frozen=True)(plan)
            for name in _LATE:
                if name in vars(plan):
                    setattr(into, name, vars(plan)[name])
                elif isinstance(vars(into).get(name), _Late):
                    delattr(into, name)
            written = True

    return write
