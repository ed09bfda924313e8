"""[ui.keys] of recall.toml: in force on the screen and in every hint; what clashes keeps the table's keys."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from string import ascii_lowercase

import pytest
from textual.binding import Binding
from textual.widget import Widget

from recall.config.document import read_document
from recall.config.keystrokes import NAMED
from recall.config.load import load_settings
from recall.domain.errors import ConfigError
from recall.ui.commands import BENCH_COMMANDS, COMMANDS
from recall.ui.details.reference import key_rows
from recall.ui.keymap import BENCH_MOVING_KEYS, MOVING_KEYS, TABLE_KEYS, Keymap, default_keys, keymap_of
from recall.ui.screens.main import MainScreen
from recall.ui.session import open_session
from recall_widgets.agent_list import AgentList
from recall_widgets.hunk_view import HunkView
from recall_widgets.log_view import LogView
from recall_widgets.needs_you import NeedsYou
from recall_widgets.office.view import OfficeView
from recall_widgets.queue_view import QueueView
from recall_widgets.task_board import TaskBoard
from tests.support.builders import spec
from tests.support.driver import driving, shop_in


def _keymap(tmp_path: Path, keys: str) -> Keymap:
    file = tmp_path / "recall.toml"
    file.write_text(f'verify = "true"\n[ui.keys]\n{keys}\n')
    return keymap_of(load_settings(file).ui.keys, read_document(file))


def _given_keys(widget: Widget) -> set[str]:
    """The keys of a widget that a person could give to a command."""
    keys = {key for key, _ in widget._bindings}  # pyright: ignore[reportPrivateUsage] - where Textual looks them up
    return {key for key in keys if key in NAMED or len(key) == 1 or key in {f"ctrl+{one}" for one in ascii_lowercase}}


def test_the_table_s_own_keys_are_such_keys_and_never_clash(tmp_path: Path) -> None:
    for commands, moving in ((COMMANDS, MOVING_KEYS), (BENCH_COMMANDS, BENCH_MOVING_KEYS)):
        keys = [key for command in commands for key in default_keys(command)]
        assert len(keys) == len(set(keys))
        assert not set(keys) & set(moving)


@pytest.mark.parametrize("pane", [TaskBoard, AgentList, QueueView, NeedsYou, LogView, OfficeView])
def test_every_key_that_a_pane_needs_is_kept_from_commands(pane: type[Widget]) -> None:
    taken = _given_keys(pane())
    first = {binding.id for binding in MainScreen.BINDINGS if isinstance(binding, Binding) and binding.priority}
    ours = {key for command in COMMANDS if command.id in {*first, "open"} for key in default_keys(command)}
    others = {"N"}  # the log's own, next to n
    assert taken - ours - others <= set(MOVING_KEYS)


def test_every_key_that_a_hunk_needs_is_kept_from_the_workbench() -> None:
    assert _given_keys(HunkView()) <= set(BENCH_MOVING_KEYS)


def test_keys_can_be_given_one_or_several_and_swapped(tmp_path: Path) -> None:
    keys = _keymap(tmp_path, 'requeue = ["W", "f5"]\nhold = "r"\nfilter = ","\nsettings = "/"\naccept = "ctrl+a"')
    assert keys.clashes == ()
    assert (keys.name("requeue"), keys.names("requeue"), keys.name("hold")) == ("W", "W, f5", "r")
    assert keys.by_binding() == {
        "requeue": "W,f5",
        "hold": "r",
        "filter": "comma",
        "settings": "/",
        "bench.accept": "ctrl+a",
    }


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ('requeue = "H"', ':3: the key "H" would be that of requeue and hold, so requeue keeps "r"'),
        ('requeue = "f5"\ndiff = "f5"', 'would be that of diff and requeue, so diff keeps "d" and requeue keeps "r"'),
        ('requeue = "j"', 'the key "j" moves in lists, so requeue keeps "r"'),
        ('accept = "1"', 'the key "1" would be that of accept and take-main, so accept keeps "a"'),
    ],
)
def test_what_clashes_keeps_the_table_s_key_and_is_told(tmp_path: Path, keys: str, said: str) -> None:
    settled = _keymap(tmp_path, keys)
    assert settled.given == {}
    assert len(settled.clashes) == 1
    assert said in settled.clashes[0]


def test_a_key_that_is_free_again_because_another_clashed_is_not_taken_twice(tmp_path: Path) -> None:
    settled = _keymap(tmp_path, 'requeue = "H"\nhold = "j"\ndiff = "r"')
    taken = [key for command in COMMANDS for key in settled.keys(command.id)]
    assert len(taken) == len(set(taken))
    assert len(settled.clashes) >= 2


def test_the_same_key_may_be_used_on_the_main_screen_and_in_the_workbench(tmp_path: Path) -> None:
    assert _keymap(tmp_path, 'requeue = "f5"\naccept = "f5"').clashes == ()


def test_an_unknown_command_is_named_with_its_line_and_the_nearest_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        _keymap(tmp_path, 'quit = "q"\nreqeue = "R"')
    assert str(refused.value) == f"{tmp_path}/recall.toml:4: ui.keys.reqeue is no command; did you mean requeue?"


def test_the_help_shows_the_keys_in_force(tmp_path: Path) -> None:
    rows = key_rows(keys=Keymap({"requeue": ("W", "f5")}))
    assert any("W, f5" in span.text for row in rows for span in row.left)
    assert TABLE_KEYS.names("requeue") == "r"


def test_given_keys_work_and_are_shown(tmp_path: Path, home: Path) -> None:
    with shop_in(tmp_path, spec("T-1")) as shop:
        keys = Keymap({"hold": ("f6", "w"), "help": ("f1",), "open": ("o",)}, ("something clashes",))
        session = replace(shop.session, keys=keys)
        with driving(session) as recall:
            recall.board.shows("T-1")
            recall.says("something clashes")
            recall.why.shows("f1 help", "o open")
            recall.keys("H", "w")
            recall.board.shows("On hold")
            recall.keys("f6")
            recall.board.shows("Ready")
            recall.keys("ctrl+p")
            recall.screen.shows("Search for commands").driver.types("hold")
            recall.screen.shows("f6  Keep the task")
            recall.keys("escape")
            recall.board.focus()
            recall.keys("enter", "o")
            recall.screen.shows("esc back")


def test_a_start_settles_the_keys_of_recall_toml(tmp_path: Path, home: Path) -> None:
    with shop_in(tmp_path, spec("T-1")) as shop:
        file = shop.repo.path / "recall.toml"
        text = file.read_text()
        file.write_text(text + '[ui]\nglyphs = "ascii"\n[ui.keys]\nrequeue = "W"\n')
        with open_session(shop.repo.path) as session:
            assert session.keys.name("requeue") == "W"
            assert session.symbols.plain
        file.write_text(text + '[ui.keys]\nrequeu = "R"\n')
        with pytest.raises(ConfigError, match="did you mean requeue"), open_session(shop.repo.path):
            pass
