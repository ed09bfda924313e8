"""What is made from the code says what the code says now."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall.cli.report import ExitCode
from recall.config.schema import AGENT, SECTIONS, TOP, Key
from recall.domain.merge import MERGE_MOVES
from recall.domain.run import RUN_MOVES
from recall.domain.task import TASK_MOVES
from tools.configuration import expected
from tools.generate_docs import DOCS, PARTS, documents, exit_codes, with_parts
from tools.markdown import code, table
from tools.states import states_page

APP = Path(__file__).parents[2] / "app" / "recall"
NAMES = ["AGENTS.md", "CONFIG.md", "KEYS.md", "OPERATIONS.md", "SCREENS.md", "STATES.md", "recall.schema.json"]


@pytest.mark.parametrize("name", NAMES)
def test_a_document_is_as_the_code_makes_it(name: str) -> None:
    assert (DOCS / name).read_text("utf-8") == documents()[DOCS / name], "run `make docs`"


def test_no_document_is_forgotten() -> None:
    assert sorted(path.name for path in documents()) == NAMES


def test_every_move_is_told() -> None:
    page = states_page()
    for moves in (TASK_MOVES, RUN_MOVES, MERGE_MOVES):
        for (before, after), why in moves.items():
            assert f"| {code(before)} | {code(after)} | {why} |" in page
            assert f"    {before} --> {after}: " in page


def test_every_exit_code_has_a_meaning() -> None:
    lines = exit_codes().splitlines()[2:]
    assert [int(line.split("|")[1]) for line in lines] == [each.value for each in ExitCode]
    assert all(line.split("|")[2].strip() for line in lines)


def test_every_key_says_what_it_wants() -> None:
    for key in (*TOP, *AGENT, *(key for section in SECTIONS for key in section.keys)):
        assert expected(key)


def _keys() -> Iterator[tuple[str, Key]]:
    yield from ((f"agents.{key.name}", key) for key in AGENT)
    yield from ((f"{section.name}.{key.name}", key) for section in SECTIONS for key in section.keys)


def _read_outside_of_config() -> set[str]:
    """Every attribute that is read, not called, anywhere but where settings are made."""
    found: set[str] = set()
    for file in APP.rglob("*.py"):
        if not file.is_relative_to(APP / "config"):
            tree = ast.parse(file.read_text("utf-8"))
            called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
            found |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node not in called}
    return found


def test_every_key_has_an_effect() -> None:
    read = _read_outside_of_config() | {"agents"}
    assert {path for path, _ in _keys() if not set(path.split(".")) <= read} == set()


def test_a_part_is_filled_and_its_surroundings_stay() -> None:
    text = "before\n<!-- made from the code: one -->\nold\n<!-- end -->\nafter\n"
    filled = with_parts(text, {"one": lambda: "new"})
    assert filled == "before\n<!-- made from the code: one -->\n\nnew\n\n<!-- end -->\nafter\n"
    assert with_parts(filled, {"one": lambda: "new"}) == filled
    with pytest.raises(KeyError):
        with_parts(text, PARTS)


def test_cells_hold_any_text() -> None:
    assert table(("a",), [("x|y\nz",)]).splitlines()[-1] == "| x\\|y z |"
    assert code("a`b") == "``a`b``"
    assert code("`a") == "`` `a ``"
