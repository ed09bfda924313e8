"""docs/KEYS.md: every key of the full-screen app."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from recall.ui.commands import BENCH_COMMANDS, COMMANDS, Command
from recall.ui.details.reference import AREAS, MOVING
from tools.markdown import code, page, table

_HEAD = """\
# Keys

`recall-tui` in a terminal opens the screen. `?` lists these keys there, and the palette (`ctrl+p`) finds a command by
its name. A key that makes no sense now says why. This page is made from the table of commands by `make docs`.

A command gets another key, or several, in recall.toml, by its name there:

```toml
[ui.keys]
requeue = "W"
quit = ["q", "f10"]
```

A key is a character, `ctrl` with a letter, `f1` to `f12`, or `enter`, `space`, `insert` and their like; one that some
terminals do not pass on is refused. Keys that move keep their meaning. Where two commands of a screen would have the
same key, those of them that recall.toml gave it keep theirs of this page, and the screen says so when it opens.
"""


def keys_page() -> str:
    ordered = sorted((*COMMANDS, *BENCH_COMMANDS), key=lambda one: list(AREAS).index(one.area))
    areas = groupby(ordered, key=lambda one: one.area)
    moving = table(("key", "what it does"), [(code(key), does) for key, does in MOVING])
    return page(_HEAD, "## Moving", moving, *(_area(area, list(commands)) for area, commands in areas))


def _area(area: str, commands: Sequence[Command]) -> str:
    rows = [(code(one.key_name), one.title, one.help, code(one.id)) for one in commands]
    return page(f"## {AREAS[area]}", table(("key", "name", "what it does", "in recall.toml"), rows))
