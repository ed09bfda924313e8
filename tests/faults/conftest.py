"""Tests that mount run once more in a namespace of their own where the user may not mount here."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.disks import may_mount, namespace


@pytest.fixture
def mounts() -> None:
    """Asked for by every test that mounts something."""


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
