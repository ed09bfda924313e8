"""`recall init` guesses from files alone: how the project is tested, which branch is main, which agents are here."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from recall.config.detect import find_agents, guess_verify
from recall.config.main_branch import guess_main


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"Makefile": "test:\n\tpytest\n"}, "make test"),
        ({"Makefile": "check: all\n", "Cargo.toml": ""}, "make check"),
        ({"Makefile": "build:\n", "Cargo.toml": ""}, "cargo test"),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, "python3 -m pytest -q"),
        ({"pytest.ini": ""}, "python3 -m pytest -q"),
        ({"tests/conftest.py": ""}, "python3 -m pytest -q"),
        ({"dev-requirements.txt": "pytest\n"}, "python3 -m pytest -q"),
        ({"tests/test_a.py": "import unittest\n"}, "python3 -m unittest discover"),
        ({"package.json": '{"scripts": {"test": "vitest"}}'}, "npm test"),
        ({"package.json": '{"scripts": {"test": "vitest"}}', "pnpm-lock.yaml": ""}, "pnpm test"),
        ({"go.mod": "module x\n"}, "go test ./..."),
        ({"pom.xml": ""}, "mvn -q test"),
        ({"App.sln": ""}, "dotnet test"),
    ],
)
def test_how_a_project_is_tested(tmp_path: Path, files: dict[str, str], command: str) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    guess = guess_verify(tmp_path)
    assert guess is not None
    assert guess.command == command
    assert guess.because


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"README.md": "pytest"},
        {"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'},
        {"package.json": "{"},
        {"package.json": "[1]"},
        {"Makefile": "# test: none\n"},
    ],
)
def test_no_sign_of_tests_gives_no_guess(tmp_path: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert guess_verify(tmp_path) is None


def _git(folder: Path, *args: str) -> None:
    who = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *who, *args], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("branches", "packed", "expected"),
    [
        (["main", "topic"], False, "main"),
        (["master", "topic"], False, "master"),
        (["master", "topic"], True, "master"),
        (["dev/line"], False, "dev/line"),
        ([], False, "fresh"),
    ],
)
def test_which_branch_is_main(tmp_path: Path, branches: list[str], packed: bool, expected: str) -> None:
    _git(tmp_path, "init", "-q", "-b", branches[0] if branches else "fresh")
    if branches:
        _git(tmp_path, "commit", "-q", "--allow-empty", "-m", "start")
    for branch in branches[1:]:
        _git(tmp_path, "checkout", "-q", "-b", branch)
    if packed:
        _git(tmp_path, "pack-refs", "--all")
    assert guess_main(tmp_path / ".git") == expected


def test_the_remotes_head_decides_when_the_branch_is_here(tmp_path: Path) -> None:
    _git(tmp_path, "init", "-q", "-b", "main")
    _git(tmp_path, "commit", "-q", "--allow-empty", "-m", "start")
    _git(tmp_path, "branch", "develop")
    _git(tmp_path, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/develop")
    assert guess_main(tmp_path / ".git") == "develop"


def test_the_agents_on_this_machine() -> None:
    programs = {"claude": "claude", "claude-old": "claude", "cursor": "cursor-agent", "codex": "codex"}
    here = {"claude": "/bin/claude", "cursor-agent": "/bin/cursor-agent"}
    assert find_agents(programs, here.get) == ["claude", "cursor"]
