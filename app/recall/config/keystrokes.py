"""Keys as people write them in recall.toml: `R`, `/`, `ctrl+r`, `f5`. Only those that every terminal passes on."""

from __future__ import annotations

_PLACES = ("up", "down", "left", "right", "home", "end", "pageup", "pagedown")
_EDITING = ("enter", "escape", "tab", "shift+tab", "space", "backspace", "insert", "delete")
NAMED = frozenset({*_PLACES, *_EDITING, *(f"f{number}" for number in range(1, 13))})
_OTHER_NAMES = {
    "esc": "escape",
    "return": "enter",
    "del": "delete",
    "ins": "insert",
    "pgup": "pageup",
    "pgdn": "pagedown",
    "backtab": "shift+tab",
}
_SAME_AS = {"i": "tab", "m": "enter", "j": "enter", "h": "backspace"}
_TAKEN = {
    "c": "it always asks to quit",
    "q": "it always asks to quit",
    "z": "shells stop programs with it",
    "s": "many terminals stop their output on it",
}


def keystroke(written: str) -> str:
    """Give the one name of a key. Raises ValueError with the reason why it cannot be used."""
    if len(written) == 1:
        if written.isprintable() and not written.isspace():
            return written
        raise ValueError('is no key that can be seen: write "space", "tab" or "enter"')
    name = written.strip().lower().replace("control+", "ctrl+").replace("-", "+")
    name = _OTHER_NAMES.get(name, name)
    if name in NAMED:
        return name
    modifiers, _, key = name.rpartition("+")
    if not modifiers:
        raise ValueError(f'is no key: write a character, "ctrl+r", or one of {", ".join(sorted(NAMED))}')
    if modifiers == "ctrl":
        return _with_control(key)
    if modifiers == "shift" and len(key) == 1 and key.isalpha():
        raise ValueError(f'is written "{key.upper()}"')
    raise ValueError("is not passed on by every terminal: of keys with a modifier, those with ctrl and a letter are")


def _with_control(key: str) -> str:
    if not (len(key) == 1 and key.isascii() and key.isalpha()):
        raise ValueError("is not passed on by every terminal: of keys with ctrl, those with a letter are")
    if key in _SAME_AS:
        raise ValueError(f'is the same as "{_SAME_AS[key]}" in a terminal')
    if key in _TAKEN:
        raise ValueError(f"cannot be used: {_TAKEN[key]}")
    return f"ctrl+{key}"
