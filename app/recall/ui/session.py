"""Everything that the app is handed at its start: the repository, its settings, its store."""

from __future__ import annotations

import difflib
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from textual.theme import BUILTIN_THEMES

from recall.bootstrap import (
    dispatcher_runs,
    git_at,
    ground_at,
    open_engine,
    open_store_at,
    settings_at,
    state_dir,
    with_presets,
)
from recall.config.document import Document, read_document
from recall.config.settings import Settings
from recall.domain.clock import Clock
from recall.domain.errors import ConfigError
from recall.domain.frozen import frozen
from recall.domain.text import clean
from recall.engine.ports import Store
from recall.engine.resolve import Resolver
from recall.gitops.locate import Location, locate
from recall.system import SystemClock
from recall.ui.bridge import OpenEngine
from recall.ui.keymap import TABLE_KEYS, Keymap, keymap_of
from recall.ui.terminal import symbols_here
from recall_styles import THEMES
from recall_widgets.glyphs import UNICODE, Symbols


@frozen
class Session:
    """`start` is the folder that the program was called in; `state` holds the database and the run folders;
    `symbols` is what the terminal can draw, `keys` which keys the commands have."""

    start: Path
    location: Location
    settings: Settings
    store: Store
    clock: Clock
    state: Path
    open_engine: OpenEngine
    symbols: Symbols = UNICODE
    keys: Keymap = TABLE_KEYS

    @property
    def name(self) -> str:
        return (self.location.checkout or self.location.common_dir).name

    @property
    def workspaces(self) -> Path:
        return self.location.workspaces_root(self.settings.workspaces.root) / "ws"

    def run_folder(self, run_id: int) -> Path:
        return self.state / "runs" / str(run_id)

    def shortage(self) -> str:
        """Say which disk has too little room for new work, or ""."""
        return ground_at(self.location, self.settings).shortage()

    def dispatcher_runs(self) -> bool:
        return dispatcher_runs(self.state)

    def desk(self, actor: str) -> Resolver:
        """Give what settles conflicts. Checks the integration repository first: not for the screen's thread."""
        git = git_at(self.location, self.settings)
        return Resolver(self.store, git, actor, unattended=not self.dispatcher_runs())


def _check_theme(name: str, document: Document) -> None:
    names = [*(theme.name for theme in THEMES), *sorted(BUILTIN_THEMES)]
    if name and name not in names:
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]}?" if near else f"the themes are {', '.join(names)}"
        raise ConfigError(f"{document.where(('ui', 'theme'))}: ui.theme {clean(name)!r} is no theme; {hint}")


@contextmanager
def open_session(start: Path, *, allow_root: bool = False) -> Generator[Session]:
    """Read settings and open the store at `start`; `allow_root` is for the engine. Raises ConfigError or
    EnvironmentFailure in words."""
    location = locate(start)
    settings = with_presets(settings_at(location))
    document = read_document(settings.file)
    keys = keymap_of(settings.ui.keys, document)
    _check_theme(settings.ui.theme, document)
    symbols = symbols_here(settings.ui.glyphs)
    store = open_store_at(location, settings)
    state = state_dir(location, settings)
    try:
        opener = partial(open_engine, allow_root=allow_root)
        yield Session(start, location, settings, store, SystemClock(), state, opener, symbols, keys)
    finally:
        store.close()
