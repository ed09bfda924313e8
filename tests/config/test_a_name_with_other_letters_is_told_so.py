"""TOML takes few letters in a heading, and so does the name of an agent: the error says which name has others."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall.config.document import read_document
from recall.domain.errors import ConfigError


def _said(folder: Path, text: str) -> str:
    file = folder / "recall.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as caught:
        read_document(file)
    return str(caught.value)


@pytest.mark.parametrize(
    ("heading", "name"),
    [("[agents.tüchtig]", "tüchtig"), ("[agents.two words]  # mine", "two words"), (" [ agents.名前 ]", "名前")],
)
def test_the_name_is_shown_with_what_is_allowed(tmp_path: Path, heading: str, name: str) -> None:
    said = _said(tmp_path, f'main = "main"\n{heading}\ncommand = ["x"]\n')
    assert "recall.toml:2:" in said
    assert said.endswith(f'; name it with plain letters, digits, - and _ only, unlike "{name}"')


@pytest.mark.parametrize("text", ["[agents.ant\n", "[agents..ant]\n", "x = = 1\n", "[]\n", 'a = "\n', "a = [\n"])
def test_other_mistakes_get_no_such_hint(tmp_path: Path, text: str) -> None:
    assert "name it" not in _said(tmp_path, text)
