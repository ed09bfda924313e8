"""Which keys the commands have: the table's, but for those that recall.toml gives to a command."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import field

from recall.config.document import Document
from recall.config.keystrokes import keystroke
from recall.domain.errors import ConfigError
from recall.domain.frozen import frozen
from recall.domain.text import clean
from recall.ui.commands import BENCH_COMMANDS, COMMANDS, Command

#: Keys that have a use of their own in lists, texts and between panes; no command can be given one.
MOVING_KEYS: Mapping[str, str] = {
    **dict.fromkeys(("down", "up", "j", "k", "pagedown", "pageup", "ctrl+d", "ctrl+u"), "moves in lists"),
    **dict.fromkeys(("home", "end", "g", "G"), "goes to the first or last line"),
    **dict.fromkeys(("left", "right", "h"), "moves sideways"),
    **dict.fromkeys(("1", "2", "3", "4", "tab", "shift+tab"), "goes to a pane"),
    "space": "folds a group",
    "escape": "takes back the nearest thing",
    "ctrl+p": "opens the palette",
}
#: The same for the conflict workbench.
BENCH_MOVING_KEYS: Mapping[str, str] = {
    **dict.fromkeys(("down", "up", "left", "right", "pagedown", "pageup"), "moves in the hunk"),
    "b": "shows the base",
    "ctrl+p": "opens the palette",
}

_SCREENS = ((COMMANDS, MOVING_KEYS), (BENCH_COMMANDS, BENCH_MOVING_KEYS))
_EVERY = {command.id: command for command in (*COMMANDS, *BENCH_COMMANDS)}
_SHOWN = {"escape": "esc", "pageup": "pgup", "pagedown": "pgdn", "delete": "del"}


@frozen
class Keymap:
    """`given` holds the keys of the commands that were given others, as people write them. `clashes` says which of
    recall.toml's keys are not in force, and why."""

    given: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    clashes: tuple[str, ...] = ()

    def keys(self, id_: str) -> tuple[str, ...]:
        return self.given.get(id_) or default_keys(_EVERY[id_])

    def name(self, id_: str) -> str:
        """The key of a command as hints show it; the first where there are several."""
        first = self.keys(id_)[0]
        return _SHOWN.get(first, first)

    def names(self, id_: str) -> str:
        """All keys of a command, for tables of keys."""
        return ", ".join(_SHOWN.get(key, key) for key in self.keys(id_))

    def by_binding(self) -> dict[str, str]:
        """For `App.set_keymap`: the bindings that have other keys than the table's."""
        return {
            binding: ",".join(_spelled(key) for key in keys)
            for id_, keys in self.given.items()
            for binding in _bindings(id_)
        }


#: The table's keys.
TABLE_KEYS = Keymap()


def default_keys(command: Command) -> tuple[str, ...]:
    return (keystroke(command.key_name),)


def keymap_of(wanted: Mapping[str, tuple[str, ...]], document: Document) -> Keymap:
    """Settle which keys are in force. A command that was given a key which moves, or which another command of its
    screen has, keeps the table's. Raises ConfigError for a name that is no command's."""
    unknown = [_unknown(name, document) for name in wanted if name not in _EVERY]
    if unknown:
        raise ConfigError("\n".join(unknown))
    given, clashes = dict(wanted), list[str]()
    for commands, moving in _SCREENS:
        while clash := _first_clash(commands, moving, given):
            key, ids, use = clash
            back = [id_ for id_ in ids if id_ in given]
            for id_ in back:
                del given[id_]
            kept = " and ".join(f'{id_} keeps "{default_keys(_EVERY[id_])[0]}"' for id_ in back)
            where = document.where(("ui", "keys", back[0]))
            clashes.append(f'{where}: the key "{key}" {use}, so {kept}')
    return Keymap(given, tuple(clashes))


def _first_clash(
    commands: Iterable[Command], moving: Mapping[str, str], given: Mapping[str, tuple[str, ...]]
) -> tuple[str, list[str], str] | None:
    """Give a key, the commands that want it, and what is in the way."""
    owners: dict[str, list[str]] = {}
    for command in commands:
        for key in given.get(command.id) or default_keys(command):
            owners.setdefault(key, []).append(command.id)
    for key, ids in owners.items():
        if key in moving and any(id_ in given for id_ in ids):
            return key, ids, moving[key]
        if len(ids) > 1:
            return key, ids, f"would be that of {' and '.join(ids)}"
    return None


def _unknown(name: str, document: Document) -> str:
    near = difflib.get_close_matches(name, _EVERY, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"the commands are {', '.join(sorted(_EVERY))}"
    return f"{document.where(('ui', 'keys', name))}: ui.keys.{clean(name)} is no command; {hint}"


def _bindings(id_: str) -> tuple[str, ...]:
    """The ids of a command's bindings: lists open by themselves, and the workbench has names of its own."""
    if id_ == "open":
        return ("list.open",)
    if id_ == "quit":
        return (id_, "farewell.again")
    return (f"bench.{id_}",) if _EVERY[id_].area == "conflict" else (id_,)


def _spelled(key: str) -> str:
    """A comma separates keys in a keymap."""
    return "comma" if key == "," else key
