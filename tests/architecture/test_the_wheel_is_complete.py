"""What is installed has everything that runs need, and puts nothing into site-packages that is not its own."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {"recall": "app", "recall_widgets": "widgets", "recall_styles": "styles"}


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    folder = tmp_path_factory.mktemp("wheel")
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_only_our_packages_are_installed(members: set[str]) -> None:
    tops = {name.split("/")[0] for name in members}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_source_file_is_in_it(members: set[str], package: str) -> None:
    source = ROOT / PACKAGES[package]
    files = {
        file.relative_to(source).as_posix()
        for file in (source / package).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert files <= members
    assert f"{package}/py.typed" in members


@pytest.mark.parametrize(("folder", "ending"), [("recall/store", ".sql"), ("recall/agents/presets", ".toml")])
def test_data_that_the_code_reads_is_in_it(members: set[str], folder: str, ending: str) -> None:
    assert any(name.startswith(folder) and name.endswith(ending) for name in members)


def test_both_commands_are_declared(members: set[str]) -> None:
    assert any(name.endswith(".dist-info/entry_points.txt") for name in members)
