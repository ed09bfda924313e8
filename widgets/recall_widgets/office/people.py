"""Who and what is in the office, as plain values. Texts may come from outside as they are."""

from __future__ import annotations

from enum import StrEnum

from recall.domain.frozen import frozen
from recall_widgets.glyphs import Shown


class Place(StrEnum):
    """Where an engineer has business. Where it stands is for the room to say, which may lack the space."""

    DESK = "desk"
    SOFA = "sofa"
    QUEUE = "queue"


class Pose(StrEnum):
    """What an engineer can be seen doing. `arriving` holds what it is handed, `handing-in` carries a box; `dozing` is
    `resting` with closed eyes. `walking`, `bringing` (a sheet) and `carrying` (a box) have four frames,
    `cheering` two; the hands of who is `typing` are a picture of their own."""

    TYPING = "typing"
    IDLE = "idle"
    ARRIVING = "arriving"
    HANDING_IN = "handing-in"
    RESTING = "resting"
    DOZING = "dozing"
    WAITING = "waiting"
    CHEERING = "cheering"
    WALKING = "walking"
    BRINGING = "bringing"
    CARRYING = "carrying"


@frozen
class Worker:
    """An engineer. `run` names what it works on, "" nothing; another one means that it was handed something new.
    `screen` stands on its monitor, `word` says the pose in a word, `time` is elapsed or what is left, `what` is a
    line for rooms with space to spare. `badge` counts what waits for a person because of it, `since` is when it began
    to wait, in wall seconds."""

    key: str
    name: str
    place: Place
    pose: Pose
    state: Shown
    word: str
    time: str = ""
    run: str = ""
    screen: str = ""
    what: str = ""
    badge: int = 0
    since: float = 0.0


@frozen
class Parcel:
    """Something on the belt to main, and what it is doing or waiting for. `sender` is the worker's key."""

    key: str
    id: str
    state: Shown
    doing: str
    sender: str = ""


@frozen
class Column:
    """A column of the board on the wall: how many tasks there are in a state, and the ids of the first of them."""

    title: str
    state: Shown
    count: int
    ids: tuple[str, ...] = ()


@frozen
class Office:
    """Everything in it at one moment. Parcels come in the order in which they land; `waits` is what the boss's sign
    says, `green` whether main is, None while nobody knows; `halt` is why nothing new starts, or ""."""

    workers: tuple[Worker, ...] = ()
    parcels: tuple[Parcel, ...] = ()
    board: tuple[Column, ...] = ()
    main: str = "main"
    green: bool | None = None
    waits: int = 0
    halt: str = ""
    empty: str = "no agents yet: add [agents.NAME] to recall.toml"

    def worker(self, key: str) -> Worker | None:
        return next((worker for worker in self.workers if worker.key == key), None)
