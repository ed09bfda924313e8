"""Tests that mount run once more in a namespace of their own where the user may not mount here."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.disks import Disk, may_mount, namespace, small_disk


@pytest.fixture
def mounts() -> None:
    """Asked for by every test that mounts something."""


@pytest.fixture
def disk(tmp_path: Path, mounts: None) -> Iterator[Disk]:
    """A disk of 24 MiB; an ordinary folder around a test that runs in a namespace of its own."""
    if not may_mount():
        yield Disk(tmp_path)
        return
    with small_disk(tmp_path / "disk", "24m") as disk:
        yield disk


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if "mounts" not in pyfuncitem.fixturenames or may_mount():
        return None
    inside = namespace()
    if not inside:
        _cannot("this user may not mount, and the kernel gives no user namespace")
    command = [*inside, sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider"]
    ran = subprocess.run(
        [*command, pyfuncitem.nodeid], cwd=pyfuncitem.config.rootpath, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return True


def _cannot(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
