"""The app of a first start: there is no recall.toml, so no store and no engine either."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType

from recall.bootstrap import preset_programs
from recall.config.first_files import FirstFiles, Found, look_around, write_first_files
from recall.domain.errors import ConfigError
from recall.domain.surroundings import failure_of
from recall.gitops.locate import Location
from recall.ui.first_run import Draft
from recall.ui.screens.set_up import FirstListScreen, SetUpScreen
from recall.ui.signals import on_hangup
from recall.ui.terminal import symbols_here
from recall_styles import CSS_PATHS, THEMES, variable_defaults
from recall_widgets.glyphs import Symbols


class SetUpApp(App[bool]):
    """Gives whether to open the board: False after a set-up that was enough for now, None when nothing was done."""

    CSS_PATH = CSS_PATHS  # pyright: ignore[reportAssignmentType] - Textual takes any list of paths
    TITLE = "Recall"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q,ctrl+c", "quit", show=False, priority=True, id="set-up.quit"),
    ]

    def __init__(self, checkout: Path, found: Found, symbols: Symbols) -> None:
        super().__init__()
        self._checkout = checkout
        self._found = found
        self._symbols = symbols
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = THEMES[0].name
        self.set_class(symbols.plain, "-ascii")

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return variable_defaults(self.current_theme)

    def on_mount(self) -> None:
        on_hangup(self.exit)
        self._ask()

    def _ask(self, draft: Draft | None = None, trouble: str = "") -> None:
        screen = SetUpScreen(self._checkout, self._found, self._symbols, draft=draft, trouble=trouble)
        self.push_screen(screen, lambda files: self._write(files, screen.draft))

    def _write(self, files: FirstFiles | None, draft: Draft) -> None:
        """Write what was decided; what cannot be written is asked for again."""
        if files is None:
            self.exit(None)
            return
        try:
            said = write_first_files(self._checkout, files)
        except ConfigError as refused:
            self._ask(draft, str(refused))
        except OSError as refused:
            self._ask(draft, str(failure_of(refused, "the files cannot be written")))
        else:
            self.push_screen(FirstListScreen(self._checkout, files.tasks, said, self._symbols), self.exit)


def set_up(location: Location, checkout: Path) -> bool | None:
    """Lead a person through the first set-up of a checkout; gives what `SetUpApp` gives."""
    found = look_around(location.common_dir, checkout, preset_programs())
    return SetUpApp(checkout, found, symbols_here("")).run()
