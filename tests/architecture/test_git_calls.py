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
#: A person's merge tool in a person's terminal, which takes the place of the screen meanwhile.
MERGE_TOOL = ROOT / "app/recall/ui/external.py"
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


def _is_argv(node: ast.AST) -> bool:
    """`["git", ...]`, put together apart from the call that starts it."""
    first = node.elts[0] if isinstance(node, ast.List | ast.Tuple) and len(node.elts) > 1 else None
    word = first.value if isinstance(first, ast.Constant) else None
    return isinstance(word, str) and (word == "git" or word.endswith("/git"))


def stray_calls(source: str) -> list[int]:
    """Give the lines in which a process is started with git in its arguments, or could be with such an argv."""
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    found = {
        node.lineno
        for node in nodes
        if isinstance(node, ast.Call) and _starts_a_process(node) and _mentions_git(node)
    }
    if _imports(tree) & {"subprocess", "asyncio", "pty"}:
        found |= {node.lineno for node in nodes if isinstance(node, ast.expr) and _is_argv(node)}
    return sorted(found)


@pytest.mark.parametrize("module", sorted(_modules()), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_starts_git_beside_the_door(module: Path) -> None:
    source = module.read_text()
    if module == THE_DOOR:
        return
    assert len(stray_calls(source)) == (1 if module == MERGE_TOOL else 0)
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
        'import subprocess; argv = ["git", "-C", where]',
        'import subprocess; start(("/usr/bin/git", *words))',
    ],
)
def test_the_search_finds_planted_calls(planted: str) -> None:
    assert stray_calls(f"async def f():\n    {planted}\n") == [2]


def test_the_search_leaves_other_calls_alone() -> None:
    assert stray_calls('run_git(["status"])\nsubprocess.run(["claude", "github"])\nprint("git status")\n') == []
