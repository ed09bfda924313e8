"""Themes: shown while they are looked at, kept when chosen, else as recall.toml says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from recall.config.settings import UiSettings
from recall.domain.errors import ConfigError
from recall.ui.app import RecallApp
from recall.ui.layout import load_layout
from recall.ui.session import open_session
from tests.support.builders import spec
from tests.support.driver import Shop, driving, shop_in


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Iterator[Shop]:
    with shop_in(tmp_path, spec("T-1")) as made:
        yield made


def test_a_theme_is_shown_at_once_and_taken_back_by_escape(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        recall.press("theme")
        recall.screen.shows("recall-light", "enter keeps it")
        recall.keys("j").wait(lambda: recall.app.theme == "recall-light")
        recall.keys("j").wait(lambda: recall.app.theme not in ("recall-dark", "recall-light"))
        recall.keys("k", "escape").wait(lambda: recall.app.theme == "recall-dark")
        recall.press("view").press("view")
    assert load_layout(shop.session.state).theme == ""


def test_a_chosen_theme_is_there_at_the_next_start(shop: Shop) -> None:
    with driving(shop.session) as recall:
        recall.board.shows("T-1")
        recall.press("theme")
        recall.screen.shows("enter keeps it")
        recall.keys("down", "enter").wait(lambda: load_layout(shop.session.state).theme == "recall-light")
    with driving(shop.session) as recall:
        assert recall.app.theme == "recall-light"


def test_recall_toml_s_theme_counts_until_another_is_chosen(shop: Shop) -> None:
    settings = shop.session.settings
    session = replace(shop.session, settings=replace(settings, ui=UiSettings(theme="nord")))
    with driving(session) as recall:
        recall.board.shows("T-1")
        assert recall.app.theme == "nord"


@pytest.mark.parametrize("theme", ["recall-dark", "recall-light", "nord"])
def test_the_first_frame_wears_the_theme_whole(shop: Shop, theme: str) -> None:
    settings = shop.session.settings
    session = replace(shop.session, settings=replace(settings, ui=UiSettings(theme=theme)))
    with driving(session) as recall:
        recall.board.shows("T-1")
        worn = _worn(recall.app)
        recall.app.theme = "textual-dark"
        recall.wait(lambda: _worn(recall.app) != worn)
        recall.app.theme = theme
        recall.wait(lambda: _worn(recall.app) == worn)


def _worn(app: RecallApp) -> tuple[object, ...]:
    """What the sheets made of the theme, and what a red of sixteen colours in a log is drawn as."""
    styles = app.main.query_one("#board").styles
    red = Strip([Segment("red", Style(color="red"))])
    for each in app.get_line_filters():
        red = red.apply_filter(each, app.main.styles.background)
    return (app.main.styles.background, styles.scrollbar_color, styles.border_top, app.classes, str(red))


def test_an_unknown_theme_is_named_with_its_line_and_the_nearest_one(shop: Shop) -> None:
    file = shop.repo.path / "recall.toml"
    file.write_text(file.read_text() + '[ui]\ntheme = "recal-light"\n')
    with (
        pytest.raises(
            ConfigError, match=r"recall.toml:\d+: ui.theme 'recal-light' is no theme; did you mean recall-"
        ),
        open_session(shop.repo.path),
    ):
        pass
