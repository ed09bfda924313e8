"""Whether a token is the right one is never asked with `==`, whose time tells how much of it was right."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "app/recall"
_NAMES = {"token", "key", "pass_", "marker"}
_PLACES = (ROOT / "agents", ROOT / "serve")


def plain_comparisons(source: str) -> list[int]:
    """Give the lines in which a secret is compared by `==` or `!=`."""
    found = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Compare))
    return [node.lineno for node in found if _is_equality(node) and any(map(_is_secret, _sides(node)))]


def _is_equality(node: ast.Compare) -> bool:
    return any(isinstance(operator, ast.Eq | ast.NotEq) for operator in node.ops)


def _sides(node: ast.Compare) -> list[ast.expr]:
    return [node.left, *node.comparators]


def _is_secret(side: ast.expr) -> bool:
    match side:
        case ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
            return name in _NAMES
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(name)), *_]):
            return name in _NAMES
        case _:
            return False


def test_no_secret_is_compared_in_plain() -> None:
    modules = [module for place in _PLACES for module in place.rglob("*.py")]
    strays = {module.name: plain_comparisons(module.read_text()) for module in modules}
    assert {name: lines for name, lines in strays.items() if lines} == {}


@pytest.mark.parametrize(
    "planted", ["slot.token == given", "given != report['token']", "report.get('token') == given"]
)
def test_the_search_finds_planted_ones(planted: str) -> None:
    assert plain_comparisons(planted) == [1]
