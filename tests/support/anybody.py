"""A copy of Recall that any user of this machine can run, in a folder that they can enter.

A checkout and its virtual environment often lie in a home that others may not enter, and so does what pytest makes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

ANYBODY = "nobody"
#: All that a dispatcher without a screen, and the commands of agents, import.
_PACKAGES = ("recall", "click", "git", "gitdb", "smmap", "markdown_it", "mdurl")
_NEW_ENOUGH = "import sys; sys.exit(sys.version_info < (3, 11))"


@contextmanager
def open_place() -> Generator[Path]:
    """Give a folder that everybody can enter."""
    with tempfile.TemporaryDirectory(prefix="recall-anybody-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def copy_of_recall(place: Path) -> dict[str, str]:
    """Copy what is needed into `place`; gives the variables with which a Python finds it."""
    for package in _PACKAGES:
        found = find_spec(package)
        assert found is not None
        assert found.submodule_search_locations
        source = found.submodule_search_locations[0]
        shutil.copytree(source, place / package, ignore=shutil.ignore_patterns("__pycache__"))
    return {"PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1"}


def python_for_anybody() -> str:
    """Give a Python that an ordinary user can start."""
    candidates = [str(Path(sys.executable).resolve()), shutil.which("python3", path="/usr/bin:/usr/local/bin") or ""]
    for python in filter(None, candidates):
        if _starts(python):
            return python
    words = "no Python 3.11 or newer that an ordinary user could start"
    if os.environ.get("CI") == "true":
        pytest.fail(words)
    pytest.skip(words)


def _starts(python: str) -> bool:
    user = ANYBODY if os.geteuid() == 0 else None
    try:
        return (
            subprocess.run([python, "-c", _NEW_ENOUGH], user=user, capture_output=True, check=False).returncode == 0
        )
    except PermissionError:
        return False
