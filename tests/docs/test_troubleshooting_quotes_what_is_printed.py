"""docs/TROUBLESHOOTING.md is looked up by the words that a person sees, so these must be the product's own."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

import pytest

from tests.docs.markdown import ROOT

PAGE = ROOT / "docs" / "TROUBLESHOOTING.md"
APP = ROOT / "app" / "recall"
_HEADING = re.compile(r"^### (.+)$", re.MULTILINE)
_QUOTED = re.compile(r"`([^`]+)`")
#: Stands for a value in a text of the source.
_VALUE = "\0"
_LEAST = 7  # letters of a piece; less would be found anywhere

HEADINGS = _HEADING.findall(PAGE.read_text("utf-8"))
QUOTED = [quoted for heading in HEADINGS for quoted in _QUOTED.findall(heading)]


def _texts(tree: ast.AST) -> Iterator[str]:
    remarks = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in remarks:
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else _VALUE for part in node.values]
            yield "".join(str(part) for part in parts)


def is_printed(quoted: str, texts: Collection[str]) -> bool:
    """Whether the pieces of what is quoted are all found; `…` may stand for anything between them, since a message is
    often put together from several texts."""
    pieces = [piece.strip() for piece in quoted.split("…") if len(piece.strip()) >= _LEAST]
    return bool(pieces) and all(any(piece in text for text in texts) for piece in pieces)


def test_quoted_messages_are_printed_in_these_words() -> None:
    texts = {text for file in APP.rglob("*.py") for text in _texts(ast.parse(file.read_text("utf-8")))}
    assert len(QUOTED) > 50
    assert [quoted for quoted in QUOTED if not is_printed(quoted, texts)] == []


def test_many_symptoms_are_told_and_each_once() -> None:
    assert len(HEADINGS) >= 25
    assert len(set(HEADINGS)) == len(HEADINGS)


def test_each_symptom_says_what_to_do() -> None:
    told = re.findall(r"^### (.+)\n\n(?!#)\S", PAGE.read_text("utf-8"), re.MULTILINE)
    assert [heading for heading in HEADINGS if heading not in told] == []


@pytest.mark.parametrize(
    ("quoted", "found"),
    [
        ("another dispatcher … works on this repository", True),
        ("another dispatcher … works on that repository", False),
        ("… …", False),
        ("a", False),
    ],
)
def test_other_words_would_be_found(quoted: str, found: bool) -> None:
    remark, said = '"works on that repository"', 'say(f"another dispatcher {held} " f"works on this repository")'
    program = f"def tell(held):\n    {remark}\n    {said}\n"
    assert is_printed(quoted, set(_texts(ast.parse(program)))) is found
