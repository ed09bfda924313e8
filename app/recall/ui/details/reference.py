"""Settings and keys as lines, with what is looked for in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recall.config.explain import Explained
from recall.ui.commands import BENCH_COMMANDS, COMMANDS
from recall.ui.details.lines import blank_row, title_row
from recall.ui.keymap import TABLE_KEYS, Keymap
from recall_widgets.listing import ListRow
from recall_widgets.spans import Span

_KEY, _SETTING = 14, 26

#: Keys that move in lists and texts, and between panes.
MOVING = (
    ("1 to 4", "go to a pane by its number"),
    ("tab", "go to the next pane; shift+tab to the one before"),
    ("j, k", "move down and up, as the arrows do"),
    ("g, G", "go to the first and the last line; in a log the last one is followed"),
    ("ctrl+d, ctrl+u", "move half a page down and up"),
    ("h, l", "move sideways in a text; so do the arrows"),
    ("J, K", "go to the next and the previous file of a diff"),
    ("[, ]", "go to the previous and the next hunk of a diff"),
    ("n, N", "go to the next and the previous match in a text"),
    ("space", "fold a group, a region or a column, or open it"),
    ("left, right", "go to the column beside, where tasks are shown as columns"),
    ("+, -", "see a shorter or a longer time of the timeline; h and l move it, n goes back to now"),
    ("left, right", "go to the run before and behind in the timeline"),
    ("arrows", "go to the nearest agent in the office, as h, j and k do; tab goes to the next one"),
    ("n, t", "go to the next run of the selected agent in the office, and to the task of its run"),
    ("b", "see what both sides of a conflict began with, or the result again"),
    ("mouse", "select, open with two clicks, press a key that is shown, drag a border"),
    ("esc", "take back the filter, then the zoom, then leave a screen or a dialog"),
)

#: What the areas of commands are called, in the order of their importance.
AREAS = {
    "look": "Looking",
    "task": "The selected task",
    "agent": "The selected agent",
    "queue": "The merge queue",
    "tools": "Programs of your own",
    "all": "Everything at once",
    "screen": "The screen",
    "conflict": "The conflict workbench",
}


def key_rows(needle: str = "", keys: Keymap = TABLE_KEYS) -> list[ListRow]:
    """Every key by area; with a needle, those whose key, title or help holds all its words."""
    groups: dict[str, list[ListRow]] = {}
    for one in (*COMMANDS, *BENCH_COMMANDS):
        name = keys.names(one.id)
        if _matches(needle, name, one.title, one.help):
            groups.setdefault(one.area, []).append(_key(f"{one.area}:{one.id}", name, one.title, one.help))
    moving = [_key(f"moving:{key}", key, "", does) for key, does in MOVING if _matches(needle, key, does)]
    titled = [(AREAS[area], rows) for area, rows in groups.items()]
    return grouped([*titled, ("Moving", moving)])


def _key(key: str, name: str, title: str, does: str) -> ListRow:
    words = (Span(f"{title:<22} "), Span(does, "muted")) if title else (Span(does),)
    return ListRow(key, (Span(f"  {name:<{_KEY}} ", "run"), *words))


def setting_rows(explained: Sequence[Explained], needle: str = "") -> list[ListRow]:
    """Every setting by section: its value, and where that comes from at the right."""
    groups: dict[str, list[ListRow]] = {}
    for key, value, source, meaning in explained:
        if _matches(needle, key, value, source, meaning):
            section = key.rpartition(".")[0] or "recall.toml"
            groups.setdefault(section, []).append(_setting(key, value, source))
    return grouped(list(groups.items()))


def _setting(key: str, value: str, source: str) -> ListRow:
    given = source != "default"
    name = key.rpartition(".")[2]
    left = (Span(f"  {name:<{_SETTING}} ", "strong" if given else ""), Span(value, "" if given else "muted"))
    return ListRow(key, left, (Span(source, "run" if given else "muted"),))


def grouped(groups: Iterable[tuple[str, Sequence[ListRow]]]) -> list[ListRow]:
    """Headings with their rows below; a heading without rows is left out."""
    rows: list[ListRow] = []
    for title, mine in groups:
        if mine:
            rows += [*([blank_row(title)] if rows else []), title_row(title, title), *mine]
    return rows or [ListRow("none", (Span("nothing matches", "muted"),))]


def _matches(needle: str, *texts: str) -> bool:
    text = " ".join(texts).casefold()
    return all(word in text for word in needle.casefold().split())
