"""What a person decides about a conflict before anything of it is stored: pure, for the workbench's screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from enum import StrEnum

from recall.domain.conflict import NEEDS_HANDS, ConflictedFile, Decision, Hunk, Side, Version, text_of
from recall.domain.frozen import frozen
from recall.domain.run import Refused
from recall.domain.text import clean_line
from recall.engine.resolve import ConflictView, FolderSeen, Resolver

EDITED = "edited"
REMEMBERED = "remembered"


class Choice(StrEnum):
    """Whose lines a hunk gets."""

    MAIN = "main"
    TASK = "task"
    BOTH = "both"


@frozen
class Chosen:
    """What is to stand in a hunk's place, and how that came about: a `Choice`, `edited` or `remembered`."""

    text: bytes
    how: str


@frozen
class Whole:
    """What is to land at a path as a whole: a content, where lines beside its hunks were changed too, else a
    version, None for nothing. `how` is as in a `Decision`."""

    how: str
    version: Version | None = None
    content: bytes | None = None


@frozen
class Bench:
    """`hunks` holds a choice for each (file, hunk) that has one, `wholes` one for each file that is decided as a
    whole; `refused` are the places whose remembered resolution is not wanted, `written` what was put into the folder
    by path. `file` and `hunk` are where the person is, from 0."""

    view: ConflictView
    hunks: Mapping[tuple[int, int], Chosen] = field(default_factory=dict[tuple[int, int], Chosen])
    wholes: Mapping[int, Whole] = field(default_factory=dict[int, Whole])
    refused: frozenset[tuple[int, int]] = frozenset()
    written: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    file: int = 0
    hunk: int = 0

    @property
    def current_file(self) -> ConflictedFile:
        return self.view.files[self.file]

    @property
    def current_hunk(self) -> Hunk | None:
        """The hunk in view; None in a file that has none."""
        hunks = self.current_file.hunks
        return hunks[self.hunk] if hunks else None

    @property
    def in_view(self) -> Hunk:
        """What is to be looked at: the hunk, or the sides of a file that has none as far as they are text."""
        file = self.current_file
        main, base, task = map(self._text_of, (file.main, file.base, file.task))
        return self.current_hunk or Hunk(main, base, task, 1, 1)

    def side_label(self, side: Side) -> str:
        """Whose side it is, and whether it has the file at all."""
        name = "main" if side is Side.MAIN else str(self.view.task.ref)
        return name if self.current_hunk or self.current_file.version(side) else f"{name}: no such file"

    def _text_of(self, version: Version | None) -> bytes:
        if version is None:
            return b""
        content = self.view.contents.get(version)
        if content is not None and b"\0" not in content:
            return content
        what = f"{len(content)} bytes" if content is not None else f"object {version.oid[:12]}"
        return f"(no text to show: {what}, mode {version.mode})\n".encode()

    @property
    def chosen(self) -> Chosen | None:
        """What was decided of the hunk in view."""
        whole = self.wholes.get(self.file)
        if whole is not None:
            text = whole.content if whole.content is not None else self._text_of(whole.version)
            return Chosen(text, f"{whole.how}, the whole file")
        return self.hunks.get((self.file, self.hunk))

    @property
    def offer(self) -> bytes | None:
        """How what is in view was resolved before: the hunk's lines, or the whole file's where more than its hunks
        was changed. None once it is decided or refused."""
        known = self.view.remembered.get(self.current_file.path)
        if known is None or self.chosen is not None or (self.file, self.hunk) in self.refused:
            return None
        return known.hunks.get(self.hunk, known.whole if not known.hunks else None)

    @property
    def open(self) -> tuple[str, ...]:
        """What is left to decide: a path, with how many hunks where it has some."""
        left: list[str] = []
        for number, file in enumerate(self.view.files):
            chosen, count = self._chosen_in(number), len(file.hunks)
            if number in self.wholes or (not chosen and file.path in self.view.record.decisions):
                continue
            if not count:
                left.append(clean_line(file.path))
            elif chosen < count:
                left.append(f"{clean_line(file.path)} ({count - chosen} of {count} hunks)")
        return tuple(left)

    @property
    def progress(self) -> tuple[int, int]:
        """How many decisions were made, of how many; a file without hunks counts as one."""
        done = every = 0
        for number, file in enumerate(self.view.files):
            count = max(1, len(file.hunks))
            every += count
            chosen = self._chosen_in(number)
            decided = number in self.wholes or (not chosen and file.path in self.view.record.decisions)
            done += count if decided else chosen
        return done, every

    @property
    def is_typed(self) -> bool:
        """Tell whether there is something that a key press alone does not bring back."""
        return any(one.how == EDITED for one in (*self.hunks.values(), *self.wholes.values()))

    def _chosen_in(self, file: int) -> int:
        return sum(number == file for number, _ in self.hunks)

    # -- moving ----------------------------------------------------------------------------------------------
    def to_hunk(self, by: int) -> Bench:
        """Go to the next or previous hunk, over the ends of files."""
        places = [(f, h) for f, file in enumerate(self.view.files) for h in range(max(1, len(file.hunks)))]
        at = min(max(places.index((self.file, self.hunk)) + by, 0), len(places) - 1)
        return replace(self, file=places[at][0], hunk=places[at][1])

    def to_file(self, by: int) -> Bench:
        return replace(self, file=min(max(self.file + by, 0), len(self.view.files) - 1), hunk=0)

    # -- deciding --------------------------------------------------------------------------------------------
    def choose(self, choice: Choice) -> Bench | str:
        """Decide what is in view; a text says why that cannot be."""
        hunk, file = self.current_hunk, self.current_file
        if hunk is not None:
            return self.put(text_of(hunk, choice), choice)
        if file.kind in NEEDS_HANDS:
            return f"no side alone settles {clean_line(file.path)}: x deletes it, ! opens a shell to give it a name"
        if choice is Choice.BOTH:
            return f"{clean_line(file.path)} ({file.kind}) is one side's or the other's"
        return self._put_whole(self.file, Whole(choice, file.version(Side(choice))))

    def delete(self) -> Bench:
        """Decide that the file in view is to go."""
        return self._put_whole(self.file, Whole("deleted"))

    def take_offer(self) -> Bench | str:
        """Resolve what is in view as it was resolved before."""
        offer = self.offer
        if offer is None:
            return "nothing is remembered of what is in view, or it is decided already"
        known = self.view.remembered[self.current_file.path]
        if known.hunks:
            return self.put(offer, REMEMBERED)
        return self._put_whole(self.file, Whole(REMEMBERED, content=offer))

    def clear(self) -> Bench:
        """Have what is in view undecided again; of what is undecided, refuse what is remembered."""
        here = (self.file, self.hunk)
        if self.chosen is None:
            return replace(self, refused=self.refused | {here}) if self.offer is not None else self
        hunks = {place: one for place, one in self.hunks.items() if place != here}
        return replace(self, hunks=hunks, wholes=_without(self.wholes, self.file))

    def put(self, text: bytes, how: str = EDITED) -> Bench:
        """Decide the hunk in view by a text."""
        hunks = {**self.hunks, (self.file, self.hunk): Chosen(text, how)}
        return replace(self, hunks=hunks, wholes=_without(self.wholes, self.file))

    def _put_whole(self, file: int, whole: Whole) -> Bench:
        hunks = {place: one for place, one in self.hunks.items() if place[0] != file}
        return replace(self, hunks=hunks, wholes={**self.wholes, file: whole})

    # -- the folder ------------------------------------------------------------------------------------------
    def is_by_lines(self, file: int) -> bool:
        """Tell whether a file is not decided by a version, or to go."""
        return file not in self.wholes or self.wholes[file].content is not None

    def so_far(self, file: int) -> bytes:
        """Give a file with what was decided of it, and conflict markers where nothing was."""
        whole = self.wholes.get(file)
        if whole is not None and whole.content is not None:
            return whole.content
        return self.view.files[file].marked(self.view.labels, self._choices(file))

    def line_so_far(self) -> int:
        """The line of the hunk in view in its file."""
        if self.file in self.wholes:
            return 1
        return self.current_file.line_of(self.hunk, self.view.labels, self._choices(self.file))

    def _choices(self, file: int) -> list[bytes | None]:
        places = [(file, hunk) for hunk in range(len(self.view.files[file].hunks))]
        return [self.hunks[place].text if place in self.hunks else None for place in places]

    def note_written(self, contents: Mapping[str, bytes]) -> Bench:
        """Remember what the folder holds: it is here as well, so it may be written over."""
        return replace(self, written={**self.written, **contents})

    def taken_from(self, seen: FolderSeen) -> tuple[Bench, tuple[str, ...]]:
        """Take over what a person made of the folder; gives the paths where that changed something."""
        after, taken = self, list[str]()
        for number, file in enumerate(self.view.files):
            if file.path not in seen.settled:
                continue
            changed = after._taken_file(number, file, seen)
            if changed is not None:
                after = changed
                taken.append(file.path)
        return after, tuple(taken)

    def _taken_file(self, number: int, file: ConflictedFile, seen: FolderSeen) -> Bench | None:
        content = seen.contents.get(file.path)
        if content is None or not file.hunks:
            whole = _whole_at(file, seen.settled[file.path])
            return self._put_whole(number, whole) if self.wholes.get(number) != whole else None
        if content == self._content_of(number):
            return None
        pieces = file.pieces(content)
        if pieces is None:
            return self._put_whole(number, Whole(EDITED, content=content)).note_written({file.path: content})
        hunks = dict(self.hunks)
        for hunk, text in enumerate(pieces):
            before = hunks.get((number, hunk))
            if before is None or before.text != text:
                hunks[number, hunk] = Chosen(text, _how(file.hunks[hunk], text))
        after = replace(self, hunks=hunks, wholes=_without(self.wholes, number))
        return after.note_written({file.path: content})

    # -- what comes of it ------------------------------------------------------------------------------------
    def contents(self) -> dict[str, bytes]:
        """Give the whole files that were decided here line by line."""
        found = {file.path: self._content_of(number) for number, file in enumerate(self.view.files)}
        return {path: content for path, content in found.items() if content is not None}

    def decisions(self) -> list[Decision]:
        """Give the files that were decided here by a version, or to go."""
        return [
            Decision(self.view.files[number].path, whole.how, whole.version)
            for number, whole in self.wholes.items()
            if whole.content is None
        ]

    def _content_of(self, file: int) -> bytes | None:
        """The content that a file gets, None where that is not decided, or decided by a version."""
        if file in self.wholes:
            return self.wholes[file].content
        places = [(file, hunk) for hunk in range(len(self.view.files[file].hunks))]
        if not places or any(place not in self.hunks for place in places):
            return None
        return self.view.files[file].chosen([self.hunks[place].text for place in places])

    def carried_to(self, view: ConflictView) -> Bench:
        """Give a bench for another look at the conflict, or for another conflict of the task, with everything that
        was decided of the same lines."""
        places = {file.path: number for number, file in enumerate(view.files)}
        hunks: dict[tuple[int, int], Chosen] = {}
        wholes: dict[int, Whole] = {}
        for (number, hunk), chosen in self.hunks.items():
            file = self.view.files[number]
            there = view.files[places[file.path]].hunks if file.path in places else ()
            same = next((at for at, one in enumerate(there) if _lines(one) == _lines(file.hunks[hunk])), None)
            if same is not None:
                hunks[places[file.path], same] = chosen
        for number, whole in self.wholes.items():
            file = self.view.files[number]
            if file.path in places and view.files[places[file.path]] == file:
                wholes[places[file.path]] = whole
        return Bench(view, hunks, wholes)

    def typed_texts(self) -> str:
        """Give everything that was typed, with where it belongs, for a file that outlives the bench."""
        parts = [
            (f"{clean_line(self.view.files[number].path)}, hunk {hunk + 1}", one.text)
            for (number, hunk), one in self.hunks.items()
            if one.how == EDITED
        ]
        parts += [
            (clean_line(self.view.files[number].path), one.content)
            for number, one in self.wholes.items()
            if one.how == EDITED and one.content is not None
        ]
        return "\n".join(f"== {where}\n{text.decode('utf-8', 'replace')}" for where, text in parts)


def _without(wholes: Mapping[int, Whole], file: int) -> dict[int, Whole]:
    return {number: one for number, one in wholes.items() if number != file}


def _lines(hunk: Hunk) -> tuple[bytes, bytes, bytes]:
    return hunk.main, hunk.base, hunk.task


def _how(hunk: Hunk, text: bytes) -> str:
    return next((choice for choice in Choice if text_of(hunk, choice) == text), EDITED)


def _whole_at(file: ConflictedFile, version: Version | None) -> Whole:
    """Say of what lies in the folder whose it is."""
    if version is None:
        return Whole("deleted")
    side = next((side for side in Side if file.version(side) == version), None)
    return Whole(side or EDITED, version)


def resolve(desk: Resolver, bench: Bench) -> str | Refused:
    """Carry out what was decided, all of it at once; what is decided last resolves the conflict."""
    if bench.open:
        return Refused(f"still open: {', '.join(bench.open)}")
    return desk.settle(bench.view.record, bench.decisions(), bench.contents())
