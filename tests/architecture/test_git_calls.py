"""Git is started in one place. A second one would go without the hardening that the first one gives."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [ROOT / "app/recall", ROOT / "widgets/recall_widgets", ROOT / "styles/recall_styles"]
THE_DOOR = ROOT / "app/recall/gitops/command.py"
#: They play coding agents in a rehearsal, and agents run git themselves.
ACTORS = ROOT / "app/recall/rehearsal/agents"
STARTERS = {"run", "Popen", "call", "check_call", "check_output", "getoutput", "getstatusoutput", "system", "popen"}
STARTER_PREFIXES = ("exec", "spawn", "posix_spawn", "create_subprocess", "subprocess_")


def _modules() -> Iterator[Path]:
    for source in SOURCES:
        yield from (module for module in source.rglob("*.py") if not module.is_relative_to(ACTORS))


def _imports(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _starts_a_process(call: ast.Call) -> bool:
    name = _name(call.func)
    return name in STARTERS or name.startswith(STARTER_PREFIXES)


def _mentions_git(call: ast.Call) -> bool:
    """`"git"` as a word of an argv, or a command line that begins with it."""
    words = (node.value for node in ast.walk(call) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return any(word == "git" or word.startswith("git ") or word.endswith("/git") for word in words)


def stray_calls(source: str) -> list[int]:
    """Give the lines in which a process is started with git in its arguments."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return [call.lineno for call in calls if _starts_a_process(call) and _mentions_git(call)]


@pytest.mark.parametrize("module", sorted(_modules()), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_starts_git_beside_the_door(module: Path) -> None:
    source = module.read_text()
    if module == THE_DOOR:
        return
    assert stray_calls(source) == []
    if module.parent == THE_DOOR.parent:
        assert "subprocess" not in _imports(ast.parse(source)), "the git side starts processes in command.py only"


def test_gitpython_is_imported_by_the_wrapper_alone() -> None:
    importers = [module.name for module in _modules() if "git" in _imports(ast.parse(module.read_text()))]
    assert importers == ["wrapper.py"]


@pytest.mark.parametrize(
    "planted",
    [
        'subprocess.run(["git", "status"])',
        'run(("git", "-C", where, "log"), check=True)',
        'os.system("git gc")',
        'subprocess.Popen("/usr/bin/git")',
        'os.execvp("git", ["git"])',
        'await asyncio.create_subprocess_exec("git", "x")',
    ],
)
def test_the_search_finds_planted_calls(planted: str) -> None:
    assert stray_calls(f"async def f():\n    {planted}\n") == [2]


def test_the_search_leaves_other_calls_alone() -> None:
    assert stray_calls('run_git(["status"])\nsubprocess.run(["claude", "github"])\nprint("git status")\n') == []
