"""The pictures in the office, drawn as text: a letter is a pixel of a colour of `palette`, a dot lets through what is
behind. Hair, skin and shirt are an engineer's own.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

from recall_widgets.office.people import Pose

Pixels = tuple[str, ...]


class Dress(NamedTuple):
    """What tells engineers apart: a cut of the hair, and numbers of colours."""

    cut: int
    hair: int
    skin: int
    shirt: int


HAIRS, SKINS, SHIRTS = 5, 3, 7


def _drawn(text: str) -> Pixels:
    return tuple(text.strip("\n").split("\n"))


#: Eight wide, six high. h hair, s skin, S its shade, e eye.
_HEADS: Final = tuple(
    map(
        _drawn,
        (
            """
..hhhh..
.hhhhhh.
.hssssh.
.sesses.
.ssssss.
..sSSs..
""",
            """
..hhhh..
.hhhhhh.
.hhsshh.
.hesseh.
.hssssh.
.hsSSsh.
""",
            """
.hhhhhh.
hhhhhhhh
hhsssshh
.sesses.
.ssssss.
..sSSs..
""",
            """
...hh...
..hhhh..
.hhhhhs.
.sesses.
.ssssss.
..sSSs..
""",
            """
..ssss..
.ssssss.
.ssssss.
.sesses.
.hsssSh.
..hhhh..
""",
            """
..tttt..
.tttttt.
TTTTTTT.
.sesses.
.ssssss.
..sSSs..
""",
        ),
    )
)

#: Below the head, eight wide and six high; `cheering` and `waiting` reach up beside it.
_BODIES: Final[Mapping[Pose, tuple[Pixels, ...]]] = {
    Pose.TYPING: (
        _drawn("""
.tttttt.
tttttttt
tTttttTt
"""),
    ),
    Pose.IDLE: (
        _drawn("""
.tttttt.
tTttttTt
s.tttt.s
..pppp..
..p..p..
..b..b..
"""),
    ),
    Pose.ARRIVING: (
        _drawn("""
.tttttt.
tTrrrrTt
.srrrrs.
..rrrr..
..p..p..
..b..b..
"""),
    ),
    Pose.HANDING_IN: (
        _drawn("""
.tttttt.
sxxXXxxs
sxxXXxxs
.xxXXxx.
..p..p..
..b..b..
"""),
    ),
    Pose.WALKING: (
        _drawn("""
.tttttt.
.TttttT.
.stttts.
..pppp..
.pp..pp.
.b....b.
"""),
        _drawn("""
.tttttt.
.TttttT.
.stttts.
..pppp..
..pp.p..
..bb....
"""),
        _drawn("""
.tttttt.
.TttttT.
.stttts.
..pppp..
..p..p..
..b..b..
"""),
        _drawn("""
.tttttt.
.TttttT.
.stttts.
..pppp..
..p.pp..
....bb..
"""),
    ),
    Pose.RESTING: (
        _drawn("""
.tttttt.
tTttttTt
s.pppp.s
..p..p..
..b..b..
"""),
    ),
}
#: Whole figures, ten wide and twelve high, behind the head.
_RAISED: Final[Mapping[Pose, tuple[Pixels, ...]]] = {
    Pose.CHEERING: (
        _drawn("""
..........
..........
s........s
tt......tt
.tt....tt.
.tt....tt.
.tttttttt.
..tttttt..
...tttt...
...pppp...
..pp..pp..
..b....b..
"""),
        _drawn("""
..........
..........
..........
..........
ss......ss
.tt....tt.
.tttttttt.
..tttttt..
...tttt...
...pppp...
...p..p...
...b..b...
"""),
    ),
    Pose.WAITING: (
        _drawn("""
.......faa
.......faa
.......faa
.......f..
.......s..
.......t..
.tttttttt.
tTttttTt..
s.tttt....
..pppp....
..p..p....
..b..b....
"""),
    ),
}
_RAISED_OFFSET: Final = {Pose.CHEERING: 1, Pose.WAITING: 0}
#: Whose arms go with legs that walk.
_LADEN: Final = {Pose.BRINGING: Pose.ARRIVING, Pose.CARRYING: Pose.HANDING_IN}
_FRAMES: Final = {Pose.CHEERING: 2, Pose.WALKING: 4, Pose.BRINGING: 4, Pose.CARRYING: 4}

#: Furniture. Its front is twelve high, as engineers are.
FURNITURE: Final[Mapping[str, Pixels]] = {
    "desk": _drawn("""
...................
...................
...................
...................
...................
...................
...................
...................
...................
ddddddddddddddddddd
DDDDDDDDDDDDDDDDDDD
DD............DDDDD
"""),
    "screen-on": _drawn("""
...................
........mmmmmmmmmmm
........mnnnnnnnnnm
........mnnnnnnnnnm
........mnnnnnnnnnm
........mnnnnnnnnnm
........mmmmmmmmmmm
............mm.....
...........mmmm....
"""),
    "code": _drawn("""
.ccc.cc..
"""),
    "code-2": _drawn("""
.cc.ccc..
"""),
    "screen-off": _drawn("""
...................
........mmmmmmmmmmm
........mMMMMMMMMMm
........mMMMMMMMMMm
........mMMMMMMMMMm
........mMMMMMMMMMm
........mmmmmmmmmmm
............mm.....
...........mmmm....
"""),
    "hands": _drawn("""
.s..s...
kkkkkkkk
"""),
    "hands-2": _drawn("""
..s..s..
kkkkkkkk
"""),
    "chair": _drawn("""
..YYYY..
.YYYYYY.
.YyyyyY.
.YYYYYY.
"""),
    "sofa": _drawn("""
...................
...................
...................
..ooooooooooooooo..
..ooooooooooooooo..
..ooooooooooooooo..
oo.ooooooooooooo.oo
oooOOOOOOOOOOOOOooo
oooOOOOOOOOOOOOOooo
ooooooooooooooooooo
ooooooooooooooooooo
.k...............k.
"""),
    "lamp": _drawn("""
.lll.
lllll
lllll
..m..
..m..
..m..
..m..
..m..
..m..
..m..
..m..
.mmm.
"""),
    "plant": _drawn("""
..g..G.
g.gG.gg
.ggg.g.
..gGgg.
.gggG..
...G...
..www..
.wwwww.
..www..
"""),
    "boss": _drawn("""
........KKKKKK........
.......KKKKKKKK.......
.......KssssssK.......
........sesses........
........ssssss........
.........sSSs.........
......KKKwaawKKK......
.....KKKKKaaKKKKK.....
.....KKKKKaaKKKKK.....
dddddddddddddddddddddd
DDDDDDDDDDDDDDDDDDDDDD
DDDDDDDDDDDDDDDDDDDDDD
"""),
    "night": _drawn("""
mmmmmmmmmmmmm
mNNNNNmNNNNNm
mNiNNNmNNiiNm
mNNNNNmNNiiNm
mNNNiNmNNNNNm
mmmmmmmmmmmmm
mNNNNNmNiNNNm
mNiNNNmNNNNNm
mmmmmmmmmmmmm
"""),
    "day": _drawn("""
mmmmmmmmmmmmm
mNNNNNmNNNNNm
mNNNNNmNNjjNm
mNiiNNmNNjjNm
mNNNNNmNNNNNm
mmmmmmmmmmmmm
mNNNNNmNiiNNm
mNNNNNmiiiiNm
mmmmmmmmmmmmm
"""),
    "box": _drawn("""
xxxxxxxxxxxx
xxxxxxxxxxxx
XXXXXXXXXXXX
"""),
}


def dress_of(name: str) -> Dress:
    """The same for a name in every process, on every machine."""
    number = zlib.crc32(name.encode("utf-8", "surrogatepass"))
    number, cut = divmod(number, len(_HEADS))
    number, hair = divmod(number, HAIRS)
    number, skin = divmod(number, SKINS)
    return Dress(cut, hair, skin, number % SHIRTS)


def frames_of(pose: Pose) -> int:
    return _FRAMES.get(pose, 1)


@cache
def figure(pose: Pose, frame: int, cut: int) -> tuple[Pixels, int]:
    """The pixels of an engineer, twelve high, and how far they reach to the left of its place."""
    frame %= frames_of(pose)
    if pose in _RAISED:
        offset = _RAISED_OFFSET[pose]
        return _over(_RAISED[pose][frame], _HEADS[cut], offset), offset
    if pose in _LADEN:
        legs, arms = _BODIES[Pose.WALKING][frame], _BODIES[_LADEN[pose]][0]
        return (*_HEADS[cut], *arms[:4], *legs[4:]), 0
    if pose is Pose.DOZING:
        head = tuple(row.replace("e", "S") for row in _HEADS[cut])
        return ("." * 8, *head, *_BODIES[Pose.RESTING][0]), 0
    if pose is Pose.RESTING:
        return ("." * 8, *_HEADS[cut], *_BODIES[pose][0]), 0
    return (*_HEADS[cut], *_BODIES[pose][frame]), 0


def _over(below: Pixels, head: Pixels, x: int) -> Pixels:
    """Draw a head over the upper rows of something else."""
    rows = list(below)
    for y, line in enumerate(head):
        row = rows[y]
        middle = "".join(one if one != "." else row[x + at] for at, one in enumerate(line))
        rows[y] = row[:x] + middle + row[x + len(line) :]
    return tuple(rows)
