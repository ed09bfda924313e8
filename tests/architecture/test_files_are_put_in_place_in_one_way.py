"""A file takes the place of another in one function. A second one would forget the fsync, or write through a link."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "app/recall"
#: The shim is one file that cannot import the other.
THE_DOORS = (ROOT / "whole_files.py", ROOT / "agents/shim.py")
#: They move folders, not files, each within a folder of its own.
MOVERS = (ROOT / "gitops/integration.py", ROOT / "agents/sandbox.py", ROOT / "rehearsal/stage.py")


def stray_moves(source: str, *, folders: bool = False) -> list[int]:
    """Give the lines that put a file in place, or, but for `folders`, give something another name."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return [call.lineno for call in calls if _moves(call, folders=folders)]


def _moves(call: ast.Call, *, folders: bool) -> bool:
    if not isinstance(call.func, ast.Attribute):
        return False
    name, of_os = call.func.attr, isinstance(call.func.value, ast.Name) and call.func.value.id in ("os", "shutil")
    if name in ("rename", "renames"):
        return of_os or not folders
    if name == "replace":  # text has two arguments, a date and a dataclass have names
        return of_os or (len(call.args) == 1 and not call.keywords)
    stays = any(keyword.arg == "delete" for keyword in call.keywords)
    return (of_os and name == "move") or name == "mktemp" or (name == "NamedTemporaryFile" and stays)


def test_no_module_puts_a_file_in_place_beside_them() -> None:
    modules = [module for module in ROOT.rglob("*.py") if module not in THE_DOORS]
    assert len(modules) > 100
    strays = {module.name: stray_moves(module.read_text(), folders=module in MOVERS) for module in modules}
    assert {name: lines for name, lines in strays.items() if lines} == {}


@pytest.mark.parametrize(
    "planted",
    [
        "import os\nos.replace(draft, path)",
        "draft.replace(path)",
        "draft.rename(path)",
        "shutil.move(draft, path)",
        "with tempfile.NamedTemporaryFile(dir=folder, delete=False) as draft: pass",
    ],
)
def test_the_search_finds_planted_ones(planted: str) -> None:
    assert stray_moves(planted)


def test_the_search_leaves_texts_and_values_alone() -> None:
    assert stray_moves("from dataclasses import replace\nreplace(spec, a=1)\n'a'.replace('b', 'c')") == []
