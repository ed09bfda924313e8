"""The pictures in docs/screens can be shown to anybody, by any viewer."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from textual.app import App, ComposeResult
from textual.content import Content
from textual.widgets import Static

from tools.album import ALBUM, MOST, portable, screens_page, unfit

DOCS = Path(__file__).parents[2] / "docs"
PICTURES = sorted((DOCS / "screens").iterdir())
#: Where files of a machine lie; the diff of a new file begins with /dev/null.
_PLACES = re.compile(r"(?<![\w.~])/(?:home|root|tmp|var|usr|opt|work|Users|private)/")


class _Page(App[None]):
    def compose(self) -> ComposeResult:
        yield Static(Content.assemble("a ", ("  bold & <wide> 漢字  ", "bold"), " end"))


@pytest.fixture(scope="module")
def exported() -> str:
    """A picture as Textual makes it."""

    async def take() -> str:
        app = _Page()
        async with app.run_test(size=(40, 5)):
            return app.export_screenshot(title="Recall")

    return asyncio.run(take())


def test_the_album_is_complete() -> None:
    assert [picture.name for picture in PICTURES] == sorted(f"{name}.svg" for name in ALBUM), "run `make screenshots`"
    for name, words in ALBUM.items():
        assert f"{words}\n\n![{name}](screens/{name}.svg)" in screens_page()


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_a_picture_is_fit_for_everybody(path: Path) -> None:
    picture = path.read_text("utf-8")
    assert unfit(picture) == ""
    text = "".join(ElementTree.fromstring(picture).itertext()).replace("\N{NO-BREAK SPACE}", " ")
    assert len(text.strip()) > 200, "there is nothing on it"
    assert _PLACES.search(text) is None, text
    assert not re.search(r"@font-face|@import|<image|<script|href", picture)


def test_what_textual_exports_would_fetch_a_font_and_ours_does_not(exported: str) -> None:
    assert "@font-face" in exported
    assert "https" in unfit(exported)
    assert unfit(portable(exported)) == ""
    assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", portable(exported))


def test_text_begins_where_its_first_letter_is(exported: str) -> None:
    made = {found[2]: (float(found[0]), float(found[1])) for found in _texts(portable(exported))}
    bold = "bold & <wide> 漢字".replace(" ", "\N{NO-BREAK SPACE}")
    assert made[bold] == (12.2 * 4, pytest.approx(12.2 * 18))
    assert made["end"][0] == pytest.approx(12.2 * 25, abs=0.05)
    assert not any(text != text.strip("\N{NO-BREAK SPACE}") for text in made)


def _texts(picture: str) -> list[tuple[str, str, str]]:
    nodes = ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")
    return [
        (node.get("x", ""), node.get("textLength", ""), node.text or "") for node in nodes if node.get("textLength")
    ]


def test_what_tells_of_the_machine_is_unfit() -> None:
    assert "/stage" in unfit("<svg>/stage/shop</svg>", ("/stage",))
    assert str(MOST) in unfit("x" * (MOST + 1))
