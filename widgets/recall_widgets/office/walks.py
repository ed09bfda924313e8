"""How engineers get from one place to another: straight, a second or so, and only when something has changed."""

from __future__ import annotations

from collections.abc import Mapping
from math import hypot
from typing import Final, NamedTuple

from recall_widgets.office.people import Office, Place, Pose, Worker
from recall_widgets.office.room import Level, Room, Spot
from recall_widgets.office.scene import Step, parcel_place, place_of_figure

#: Pictures a second while somebody moves.
RATE: Final = 8
CHEER_SECONDS: Final = 2.0
#: Pixels a second at scale 1, and how long a way takes at least and at most.
_SPEED, _SHORTEST, _LONGEST = 60.0, 0.5, 1.2

Point = tuple[int, int]


class Leg(NamedTuple):
    start: Point
    end: Point
    pose: Pose
    seconds: float


class Walk(NamedTuple):
    """`begin` is in seconds of any clock that runs evenly."""

    legs: tuple[Leg, ...]
    begin: float

    @property
    def end(self) -> float:
        return self.begin + sum(leg.seconds for leg in self.legs)

    def step(self, now: float) -> Step | None:
        """Where the engineer is; None once it has arrived."""
        since = max(now - self.begin, 0.0)
        frame = int(since * RATE) % 4
        for leg in self.legs:
            if since < leg.seconds:
                share = since / leg.seconds
                x, y = (round(a + (b - a) * share) for a, b in zip(leg.start, leg.end, strict=True))
                return Step(x, y, leg.pose, frame)
            since -= leg.seconds
        return None


def cheer(at: Point, scale: int, since: float, *, still: bool) -> Step | None:
    """Arms in the air at a place; None once it is over."""
    if since >= CHEER_SECONDS:
        return None
    frame = 0 if still else int(since * RATE / 2) % 2
    return Step(at[0], at[1] - (scale if not still and not frame else 0), Pose.CHEERING, frame)


def walks_between(
    before: Office, places: Mapping[str, Spot], after: Office, spots: Mapping[str, Spot], room: Room, now: float
) -> dict[str, Walk]:
    """Who has a way to go: to another place, from the board with something new, to the belt with what is finished;
    and what moves up on the belt. Who was or is out of sight just is where it is."""
    found = _slides(before, after, room, now) if room.level is Level.ROOM else {}
    sent = {parcel.sender for parcel in after.parcels} - {parcel.sender for parcel in before.parcels}
    for worker in after.workers:
        old, begin, end = before.worker(worker.key), places.get(worker.key), spots.get(worker.key)
        if old is None or begin is None or end is None:
            continue
        path = _path(old, begin, worker, end, room, sends=worker.key in sent)
        if path:
            found[worker.key] = Walk(path, now)
    return found


def _slides(before: Office, after: Office, room: Room, now: float) -> dict[str, Walk]:
    old = {parcel.key: parcel_place(room, number) for number, parcel in enumerate(before.parcels)}
    new = {parcel.key: parcel_place(room, number) for number, parcel in enumerate(after.parcels)}
    return {
        key: Walk((_leg(old[key], place, Pose.IDLE, 1),), now)
        for key, place in new.items()
        if key in old and place != old[key]
    }


def _path(old: Worker, begin: Spot, new: Worker, end: Spot, room: Room, *, sends: bool) -> tuple[Leg, ...]:
    start, goal = place_of_figure(begin, old, room.scale), place_of_figure(end, new, room.scale)
    whole = room.level is Level.ROOM
    if sends and whole:
        x, y = parcel_place(room, 0)
        belt = (min(max(goal[0], 1), x), 2 * y - 12 * room.scale)
        return (_leg(start, belt, Pose.CARRYING, room.scale), _leg(belt, goal, Pose.WALKING, room.scale))
    if new.run and new.run != old.run:
        door = (room.board.x + room.board.width // 2, 2 * room.boss.y) if whole else (-8 * room.scale, goal[1])
        return (_leg(door, goal, Pose.BRINGING, room.scale),)
    if begin != end and (begin.place, end.place) != (Place.DESK, Place.DESK):
        return (_leg(start, goal, Pose.WALKING, room.scale),)
    return ()


def _leg(start: Point, end: Point, pose: Pose, scale: int) -> Leg:
    way = hypot(end[0] - start[0], end[1] - start[1])
    return Leg(start, end, pose, min(max(way / (_SPEED * scale), _SHORTEST), _LONGEST))
