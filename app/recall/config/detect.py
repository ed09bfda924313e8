"""What `recall init` can guess from the files of a checkout and the programs on PATH. Nothing is run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from recall.config.main_branch import text_of
from recall.domain.frozen import frozen

Which = Callable[[str], str | None]


@frozen
class VerifyGuess:
    """A verify command and the sign that it was guessed from."""

    command: str
    because: str


def guess_verify(checkout: Path) -> VerifyGuess | None:
    """Guess how this project is tested. None: there is no sign of tests."""
    guessers = (_make, _python, _node, _rust, _go, _maven, _gradle, _dotnet)
    return next((guess for guess in (each(checkout) for each in guessers) if guess is not None), None)


def find_agents(programs: Mapping[str, str], which: Which = shutil.which) -> list[str]:
    """Give the presets of `programs` (preset -> program that it starts) whose program is on PATH; the first of
    those that start the same one."""
    first = {program: name for name, program in reversed(list(programs.items()))}
    return [name for name, program in programs.items() if first[program] == name and which(program) is not None]


def _make(checkout: Path) -> VerifyGuess | None:
    for name in ("GNUmakefile", "makefile", "Makefile"):
        for goal in ("check", "test"):
            if any(line.startswith(f"{goal}:") for line in text_of(checkout / name).splitlines()):
                return VerifyGuess(f"make {goal}", f"{name} has a goal {goal}")
    return None


def _python(checkout: Path) -> VerifyGuess | None:
    tests = [path.name for folder in ("tests", "test", ".") for path in checkout.glob(f"{folder}/test*.py")]
    for name, sign in (
        ("pytest.ini", ""),
        ("pyproject.toml", "pytest"),
        ("setup.cfg", "pytest"),
        ("tox.ini", "pytest"),
    ):
        if (checkout / name).is_file() and sign in text_of(checkout / name):
            return VerifyGuess("python3 -m pytest -q", f"{name} speaks of pytest")
    if (checkout / "tests" / "conftest.py").is_file() or (checkout / "conftest.py").is_file():
        return VerifyGuess("python3 -m pytest -q", "there is a conftest.py")
    if any("pytest" in text_of(checkout / file) for file in _requirements(checkout)):
        return VerifyGuess("python3 -m pytest -q", "the requirements name pytest")
    if tests:
        return VerifyGuess("python3 -m unittest discover", f"there is {tests[0]}")
    return None


def _requirements(checkout: Path) -> list[Path]:
    return sorted(checkout.glob("*requirements*.txt"))


def _node(checkout: Path) -> VerifyGuess | None:
    try:
        package: Any = json.loads(text_of(checkout / "package.json") or "{}")
    except json.JSONDecodeError:
        return None
    scripts: Any = cast("dict[str, Any]", package).get("scripts") if isinstance(package, dict) else None
    script = cast("dict[str, Any]", scripts).get("test") if isinstance(scripts, dict) else None
    if not isinstance(script, str) or "no test specified" in script:
        return None
    runners = (("pnpm-lock.yaml", "pnpm test"), ("yarn.lock", "yarn test"), ("bun.lockb", "bun run test"))
    command = next((command for lock, command in runners if (checkout / lock).is_file()), "npm test")
    return VerifyGuess(command, "package.json has a test script")


def _file_sign(name: str, command: str) -> Callable[[Path], VerifyGuess | None]:
    def guess(checkout: Path) -> VerifyGuess | None:
        return VerifyGuess(command, f"there is {name}") if (checkout / name).is_file() else None

    return guess


_rust = _file_sign("Cargo.toml", "cargo test")
_go = _file_sign("go.mod", "go test ./...")
_maven = _file_sign("pom.xml", "mvn -q test")
_gradle = _file_sign("gradlew", "./gradlew test")


def _dotnet(checkout: Path) -> VerifyGuess | None:
    solution = next(iter(sorted(checkout.glob("*.sln"))), None)
    return VerifyGuess("dotnet test", f"there is {solution.name}") if solution else None
