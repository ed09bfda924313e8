"""Links, tests, settings, examples: what a document points to exists, and what it shows is accepted."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from recall.bootstrap import with_presets
from recall.config.load import load_settings
from recall.config.schema import SECTIONS
from recall.tasklist import parse
from tests.docs.markdown import DOCUMENTS, ROOT, Shown, anchors, blocks, links, spans

APP = ROOT / "app" / "recall"
SECURITY = ROOT / "docs" / "SECURITY.md"
_TEST = re.compile(r"`(tests/[\w/.]+\.py)::(\w+)`")
_SETTING = re.compile(rf"({'|'.join(section.name for section in SECTIONS)})\.(\w+)")


def test_every_document_is_reached_from_the_readme() -> None:
    seen, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        document = waiting.pop()
        seen.add(document)
        targets = {
            (start.parent / target.partition("#")[0]).resolve() for start, target in links() if start == document
        }
        waiting += [target for target in targets if target in DOCUMENTS and target not in seen]
    assert [document.name for document in DOCUMENTS if document not in seen] == []


@pytest.mark.parametrize(("document", "target"), [pytest.param(*link, id=link[1]) for link in links()])
def test_a_link_leads_somewhere(document: Path, target: str) -> None:
    if "://" in target:
        return
    name, _, anchor = target.partition("#")
    place = document.parent / name if name else document
    assert place.exists()
    assert not anchor or anchor in anchors(place)


@pytest.mark.parametrize("named", sorted(set(_TEST.findall(SECURITY.read_text("utf-8")))), ids="::".join)
def test_a_named_test_exists(named: tuple[str, str]) -> None:
    file, function = named
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    assert function in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_defence_names_a_test() -> None:
    text = SECURITY.read_text("utf-8")
    defended = text.partition("## What is defended")[2].partition("\n## ")[0]
    items = re.split(r"^- ", defended, flags=re.MULTILINE)[1:]
    assert len(items) > 20
    assert [item for item in items if not _TEST.search(item)] == []


def test_named_settings_exist() -> None:
    known = {f"{section.name}.{key.name}" for section in SECTIONS for key in section.keys}
    named = {found[0] for shown in spans() if (found := _SETTING.fullmatch(shown.text))}
    assert len(named) > 10
    assert sorted(name for name in named - known if not _is_something_else(name)) == []


def _is_something_else(name: str) -> bool:
    """A file, a module of ours, or the kind of an event."""
    if name.endswith((".py", ".json")) or (APP / f"{name.replace('.', '/')}.py").exists():
        return True
    return any(f'"{name}"' in file.read_text("utf-8") for file in APP.rglob("*.py"))


@pytest.mark.parametrize("example", [pytest.param(each, id=str(each)) for each in blocks("toml")])
def test_a_shown_configuration_is_accepted(example: Shown, tmp_path: Path) -> None:
    file = tmp_path / "recall.toml"
    verify = "" if re.search(r"^verify =", example.text, re.MULTILINE) else 'verify = "none"\n'
    file.write_text(verify + example.text, "utf-8")
    assert all(agent.command for agent in with_presets(load_settings(file)).agents)


def test_the_task_list_in_the_readme_is_one() -> None:
    (example,) = (each for each in blocks("markdown") if each.document.name == "README.md")
    parsed = parse(example.text.encode(), region="main", source="TASKS.md", agents=())
    assert parsed.ok, parsed.problems
    assert [task.id for task in parsed.tasks] == ["T-1", "T-2"]
