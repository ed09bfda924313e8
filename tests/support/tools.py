"""Programs that a test needs beside Python and git."""

from __future__ import annotations

import os
import shutil

import pytest


def need(program: str) -> str:
    """Give the path of a program; without it the test is skipped, or fails where everything must be installed."""
    path = shutil.which(program)
    if path is None:
        words = f"{program} is not installed"
        if os.environ.get("CI") == "true":
            pytest.fail(words)
        pytest.skip(words)
    return path
